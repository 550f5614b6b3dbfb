//! The built-in kernels: names, metrics, service features and sizes, a row for each.

use crate::metric::{Direction, Metric, Unit};
use crate::suggest;
use crate::template::{Capacity, Feature, Property};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Sizes of the problem that a kernel takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// The smallest; of `stream` for each thread.
    pub least: u64,
    /// The largest.
    pub most: u64,
    /// What is taken where none is given; of `stream` where the host tells no cache.
    pub usual: u64,
    /// What it is counted in.
    pub unit: &'static str,
    /// Whether it is an amount of memory, which people give as `64M`.
    pub in_bytes: bool,
}

/// By what a kernel works beside its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By nothing: it never gives its CPU up by itself while its clock runs.
    Computing,
    /// It waits for a child, another process, a thread or a timer.
    Waiting,
    /// It has two ends that talk by a network.
    Network,
    /// It keeps many requests at a disk at once, past the page cache.
    DiskQueue,
    /// It works on files otherwise.
    Files,
}

/// The metrics of a kernel, all in one unit. Those in seconds are better if lower, all others if
/// higher.
#[derive(Debug, Clone, Copy)]
struct Figures {
    parts: &'static [&'static str],
    primary: &'static str,
    /// Metrics that are no part of a slice.
    others: &'static [&'static str],
    unit: &'static str,
}

/// The latency of one event.
const LATENCY: Figures = Figures {
    parts: &["latency"],
    primary: "latency",
    others: &[],
    unit: "s",
};

/// The time of a whole problem.
const TIME: Figures = Figures {
    parts: &["time"],
    primary: "time",
    ..LATENCY
};

const fn rate(unit: &'static str) -> Figures {
    Figures {
        parts: &["rate"],
        primary: "rate",
        others: &[],
        unit,
    }
}

/// All that is fixed of a kernel.
struct Row {
    name: &'static str,
    about: &'static str,
    feature: (Property, Capacity),
    way: Way,
    figures: Figures,
    sizes: Option<Sizes>,
}

/// What most kernels have in common.
const USUAL: Row = Row {
    name: "",
    about: "",
    feature: (Property::Computation, Capacity::Latency),
    way: Way::Computing,
    figures: LATENCY,
    sizes: None,
};

const fn number(least: u64, usual: u64, most: u64, unit: &'static str) -> Option<Sizes> {
    Some(Sizes {
        least,
        most,
        usual,
        unit,
        in_bytes: false,
    })
}

const fn bytes(least: u64, usual: u64, most: u64, unit: &'static str) -> Option<Sizes> {
    Some(Sizes {
        least,
        most,
        usual,
        unit,
        in_bytes: true,
    })
}

macro_rules! kernels {
    ($($(#[$about:meta])* $kernel:ident: $row:expr,)*) => {
        /// A built-in benchmark kernel.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Kernel {
            $($(#[$about])* $kernel,)*
        }

        impl Kernel {
            /// Every kernel, in the order of printing.
            pub const ALL: [Self; [$(Self::$kernel),*].len()] = [$(Self::$kernel),*];

            const fn row(self) -> &'static Row {
                match self {
                    $(Self::$kernel => const { &$row },)*
                }
            }
        }
    };
}

kernels! {
    /// Memory bandwidth: copy, scale, add and triad over arrays beyond the caches.
    Stream: Row {
        name: "stream",
        about: "memory bandwidth: copy, scale, add, triad (STREAM)",
        feature: (Property::Memory, Capacity::Throughput),
        figures: Figures {
            parts: &["copy", "scale", "add", "triad"],
            primary: "triad",
            ..rate("B/s")
        },
        sizes: bytes(4096, 128 << 20, 1 << 46, "bytes per array"),
        ..USUAL
    },
    /// Floating point: LU factorisation and solution of a dense system.
    Linpack: Row {
        name: "linpack",
        about: "floating point: LU with partial pivoting, dgefa/dgesl (LINPACK)",
        feature: (Property::Computation, Capacity::TransactionSpeed),
        figures: rate("flop/s"),
        sizes: number(50, 1000, 16383, "order of the matrix"),
        ..USUAL
    },
    /// Latency of the cheapest system call.
    Syscall: Row {
        name: "syscall",
        about: "latency of the cheapest system call (getppid)",
        feature: (Property::Computation, Capacity::Latency),
        figures: LATENCY,
        ..USUAL
    },
    /// Latency of making, running and reaping a trivial process.
    Spawn: Row {
        name: "spawn",
        about: "latency of fork + exec + wait of a trivial process",
        feature: (Property::Computation, Capacity::Latency),
        way: Way::Waiting,
        figures: LATENCY,
        ..USUAL
    },
    /// A fixed number of iterations of integer work in registers.
    Integer: Row {
        name: "integer",
        about: "time of a fixed number of iterations in registers, for self-tests",
        feature: (Property::Computation, Capacity::Latency),
        figures: Figures {
            others: &["cpu"],
            ..TIME
        },
        // Some 40 ms.
        sizes: number(1, 100_000, 1 << 36, "iterations"),
        ..USUAL
    },
    /// Encryption of a buffer by Blowfish.
    Blowfish: Row {
        name: "blowfish",
        about: "encryption of a buffer with Blowfish",
        feature: (Property::Computation, Capacity::Throughput),
        figures: rate("B/s"),
        // HardInfo's buffer.
        sizes: bytes(64, 64 << 10, 64 << 20, "bytes of the buffer"),
        ..USUAL
    },
    /// MD5 and SHA-1 of a buffer.
    Cryptohash: Row {
        name: "cryptohash",
        about: "MD5 and SHA-1 of a buffer",
        feature: (Property::Computation, Capacity::Throughput),
        figures: rate("B/s"),
        sizes: bytes(64, 64 << 10, 64 << 20, "bytes of the buffer"),
        ..USUAL
    },
    /// A Fibonacci number by recursion: calls and returns.
    Fibonacci: Row {
        name: "fibonacci",
        about: "time to compute a Fibonacci number recursively",
        feature: (Property::Computation, Capacity::Latency),
        figures: TIME,
        sizes: number(1, 20, 42, "which Fibonacci number"),
        ..USUAL
    },
    /// All ways to place n queens: branches that are hard to foresee.
    Nqueens: Row {
        name: "nqueens",
        about: "time to count all ways to place n queens",
        feature: (Property::Computation, Capacity::Latency),
        figures: TIME,
        sizes: number(4, 8, 14, "queens"),
        ..USUAL
    },
    /// A complex Fourier transform and its inverse.
    Fft: Row {
        name: "fft",
        about: "floating point: complex FFT and its inverse",
        feature: (Property::Computation, Capacity::TransactionSpeed),
        figures: rate("flop/s"),
        sizes: number(8, 1024, 1 << 20, "points, a power of two"),
        ..USUAL
    },
    /// A picture of spheres by ray tracing.
    Raytrace: Row {
        name: "raytrace",
        about: "time to ray-trace a small picture of spheres",
        feature: (Property::Computation, Capacity::Latency),
        figures: TIME,
        sizes: number(8, 32, 1024, "pixels on each side"),
        ..USUAL
    },
    /// The cheapest way across a map by A*.
    Astar: Row {
        name: "astar",
        about: "time to find the cheapest path across a map with A*",
        feature: (Property::Computation, Capacity::Latency),
        figures: TIME,
        sizes: number(8, 64, 1024, "fields on each side"),
        ..USUAL
    },
    /// A linear program by the simplex method.
    Simplex: Row {
        name: "simplex",
        about: "time to solve a linear program with the simplex method",
        feature: (Property::Computation, Capacity::Latency),
        figures: TIME,
        sizes: number(2, 40, 500, "unknowns, and as many bounds"),
        ..USUAL
    },
    /// Latency of a load from memory.
    Latency: Row {
        name: "latency",
        about: "latency of dependent loads in random order",
        feature: (Property::Memory, Capacity::Latency),
        figures: LATENCY,
        // Beyond the last-level cache of most hosts; lines are found by 32 bits.
        sizes: bytes(4096, 128 << 20, 16 << 30, "bytes of the buffer"),
        ..USUAL
    },
    /// Latency of the first touch of a page.
    Fault: Row {
        name: "fault",
        about: "latency of a page fault: the first touch of new memory",
        feature: (Property::Memory, Capacity::Latency),
        figures: LATENCY,
        ..USUAL
    },
    /// Two processes that pass a byte through pipes.
    Switch: Row {
        name: "switch",
        about: "latency of a round trip of a byte between two processes on one CPU",
        feature: (Property::Computation, Capacity::Latency),
        way: Way::Waiting,
        figures: LATENCY,
        ..USUAL
    },
    /// How late a sleeping thread wakes up.
    Timer: Row {
        name: "timer",
        about: "how late a thread wakes up from a sleep of 50 us",
        feature: (Property::Computation, Capacity::Latency),
        way: Way::Waiting,
        figures: LATENCY,
        ..USUAL
    },
    /// Making and joining a thread.
    Thread: Row {
        name: "thread",
        about: "latency of creating and joining a thread",
        feature: (Property::Computation, Capacity::Latency),
        way: Way::Waiting,
        figures: LATENCY,
        ..USUAL
    },
    /// Two threads that hand over to each other.
    Futex: Row {
        name: "futex",
        about: "latency of a round trip between two threads on one CPU (futex)",
        feature: (Property::Computation, Capacity::Latency),
        way: Way::Waiting,
        figures: LATENCY,
        ..USUAL
    },
    /// Blocks of files read in random order, past the page cache.
    RandomRead: Row {
        name: "random-read",
        about: "random reads of 4 KiB from disk, 128 in flight (O_DIRECT, libaio)",
        feature: (Property::Storage, Capacity::TransactionSpeed),
        way: Way::DiskQueue,
        figures: rate("op/s"),
        // Laid out in a fraction of a second on most disks, in two processes per box. Bytes per second
        // would be the same figure again: all blocks have one size.
        sizes: bytes(64 << 10, 16 << 20, 1 << 40, "bytes of each of its eight files"),
    },
    /// Blocks of files written in random order, past the page cache.
    RandomWrite: Row {
        name: "random-write",
        about: "random writes of 4 KiB to disk, 128 in flight (O_DIRECT, libaio)",
        feature: (Property::Storage, Capacity::TransactionSpeed),
        way: Way::DiskQueue,
        figures: rate("op/s"),
        sizes: bytes(64 << 10, 16 << 20, 1 << 40, "bytes of each of its eight files"),
    },
    /// Blocks of files read one after another, past the page cache.
    SequentialRead: Row {
        name: "sequential-read",
        about: "reads of 4 KiB from disk in order, 128 in flight (O_DIRECT, libaio)",
        feature: (Property::Storage, Capacity::TransactionSpeed),
        way: Way::DiskQueue,
        figures: rate("op/s"),
        sizes: bytes(64 << 10, 16 << 20, 1 << 40, "bytes of each of its eight files"),
    },
    /// Blocks of files written one after another, past the page cache.
    SequentialWrite: Row {
        name: "sequential-write",
        about: "writes of 4 KiB to disk in order, 128 in flight (O_DIRECT, libaio)",
        feature: (Property::Storage, Capacity::TransactionSpeed),
        way: Way::DiskQueue,
        figures: rate("op/s"),
        sizes: bytes(64 << 10, 16 << 20, 1 << 40, "bytes of each of its eight files"),
    },
    /// Latency of a write that is on the disk when it returns.
    Fsync: Row {
        name: "fsync",
        about: "latency of a write of 4 KiB that reaches the disk (pwrite + fdatasync)",
        feature: (Property::Storage, Capacity::Latency),
        way: Way::Files,
        figures: LATENCY,
        ..USUAL
    },
    /// A file read byte by byte, through a buffer.
    ByteRead: Row {
        name: "byte-read",
        about: "reading a file byte by byte through a buffer, as getc does",
        feature: (Property::Storage, Capacity::Throughput),
        way: Way::Files,
        figures: rate("B/s"),
        sizes: bytes(64 << 10, 16 << 20, 1 << 40, "bytes of the file"),
    },
    /// A file written byte by byte, through a buffer.
    ByteWrite: Row {
        name: "byte-write",
        about: "writing a file byte by byte through a buffer, as putc does",
        feature: (Property::Storage, Capacity::Throughput),
        way: Way::Files,
        figures: rate("B/s"),
        sizes: bytes(64 << 10, 16 << 20, 1 << 40, "bytes of the file"),
    },
    /// A file read block by block, through the page cache.
    BlockRead: Row {
        name: "block-read",
        about: "reading a file in blocks of 8 KiB through the page cache",
        feature: (Property::Storage, Capacity::Throughput),
        way: Way::Files,
        figures: rate("B/s"),
        sizes: bytes(64 << 10, 16 << 20, 1 << 40, "bytes of the file"),
    },
    /// A file written block by block, into the page cache.
    BlockWrite: Row {
        name: "block-write",
        about: "writing a file in blocks of 8 KiB into the page cache",
        feature: (Property::Storage, Capacity::Throughput),
        way: Way::Files,
        figures: rate("B/s"),
        sizes: bytes(64 << 10, 16 << 20, 1 << 40, "bytes of the file"),
    },
    /// Latency of creating, asking for and deleting a small file.
    File: Row {
        name: "file",
        about: "latency of creating, stat and deleting a small file",
        feature: (Property::Storage, Capacity::Latency),
        way: Way::Files,
        figures: Figures {
            parts: &["create", "stat", "delete"],
            primary: "create",
            ..LATENCY
        },
        sizes: bytes(0, 1 << 10, 1 << 20, "bytes of each file"),
    },
    /// Request and response over a TCP connection.
    TcpRr: Row {
        name: "tcp-rr",
        about: "latency of a request and its response over one TCP connection",
        feature: (Property::Communication, Capacity::Latency),
        way: Way::Network,
        figures: LATENCY,
        // netperf's usual question. The least has a number and a time in it.
        sizes: bytes(16, 100, 1 << 20, "bytes of a message"),
    },
    /// Messages over a TCP connection, one way.
    TcpStream: Row {
        name: "tcp-stream",
        about: "bytes per second received over one TCP connection, by message size",
        feature: (Property::Communication, Capacity::Throughput),
        way: Way::Network,
        figures: rate("B/s"),
        sizes: bytes(64, 32 << 10, 1 << 20, "bytes of a message"),
    },
    /// Request and response by datagrams.
    UdpRr: Row {
        name: "udp-rr",
        about: "latency of a request and its response by UDP datagrams",
        feature: (Property::Communication, Capacity::Latency),
        way: Way::Network,
        figures: LATENCY,
        // The most is near what UDP takes.
        sizes: bytes(16, 100, 60_000, "bytes of a message"),
    },
    /// TCP connections made and closed.
    TcpConnect: Row {
        name: "tcp-connect",
        about: "TCP connections opened, accepted and closed per second",
        feature: (Property::Communication, Capacity::TransactionSpeed),
        way: Way::Network,
        figures: rate("connections/s"),
        ..USUAL
    },
}

impl Kernel {
    /// Those of a study that names none: the fewest that show what a box does to memory,
    /// to computation, to the way into the kernel and to making processes.
    pub const USUAL: [Self; 4] = [Self::Stream, Self::Linpack, Self::Syscall, Self::Spawn];

    /// The name on the command line and in files.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Whether it never gives its CPU up by itself while its clock runs: all but those
    /// that wait for a child, another process, a thread, a timer or a disk.
    pub const fn never_waits(self) -> bool {
        matches!(self.row().way, Way::Computing)
    }

    /// Whether it works otherwise in slices of 1 to 2 ms than in those of 10: it fills a cache, a folder or
    /// a socket's buffer by what it does in one.
    pub const fn needs_long_slices(self) -> bool {
        matches!(
            self,
            Self::BlockRead | Self::File | Self::Latency | Self::TcpStream
        )
    }

    /// Whether it has two ends that talk by a network, and can be in different places.
    pub const fn has_ends(self) -> bool {
        matches!(self.row().way, Way::Network)
    }

    /// Whether it works on files, in the folder in which its process is started.
    pub const fn uses_files(self) -> bool {
        matches!(self.row().way, Way::DiskQueue | Way::Files)
    }

    /// Whether it keeps many requests at a disk at once, past the page cache.
    pub const fn keeps_a_queue(self) -> bool {
        matches!(self.row().way, Way::DiskQueue)
    }

    /// What the kernel measures, in one line.
    pub const fn about(self) -> &'static str {
        self.row().about
    }

    /// The service feature that it shows.
    pub const fn feature(self) -> Feature {
        let (property, capacity) = self.row().feature;
        Feature { property, capacity }
    }

    /// The names of the timed parts of a slice, each that of the metric that it is the
    /// figure of: its work over its time of a rate, its time over its work of a time.
    pub const fn parts(self) -> &'static [&'static str] {
        self.row().figures.parts
    }

    /// The metrics of a report, the primary one marked.
    pub fn metrics(self) -> Vec<Metric> {
        let figures = self.row().figures;
        let (unit, direction) = match figures.unit {
            "s" => (Unit::Second, Direction::Lower),
            "B/s" => (Unit::BytePerSecond, Direction::Higher),
            "flop/s" => (Unit::FlopPerSecond, Direction::Higher),
            other => (Unit::Other(other.to_owned()), Direction::Higher),
        };
        let names = figures.parts.iter().chain(figures.others).enumerate();
        names
            .map(|(i, name)| Metric {
                part: (i < figures.parts.len()).then_some(i),
                ..Metric::new(name, unit.clone(), direction, *name == figures.primary)
            })
            .collect()
    }

    /// The sizes that it takes; `None` of a kernel whose problem has no size. But for
    /// those of `stream`, `linpack` and `integer` the largest keeps a unit of work within
    /// some seconds, and the usual one well below a slice.
    pub const fn sizes(self) -> Option<Sizes> {
        self.row().sizes
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no kernel's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown workload '{name}': {}", advice(.0), name = .0)]
pub struct UnknownKernel(pub String);

/// What was meant, or what there is.
fn advice(name: &str) -> String {
    match suggest::nearest(name, &Kernel::ALL.map(Kernel::name)) {
        Some(near) => format!("did you mean '{near}'?"),
        None => "'tare workloads' lists them all, and a file of your own ends with .toml".to_owned(),
    }
}

impl FromStr for Kernel {
    type Err = UnknownKernel;

    fn from_str(text: &str) -> Result<Self, UnknownKernel> {
        Self::ALL
            .into_iter()
            .find(|k| k.name() == text)
            .ok_or_else(|| UnknownKernel(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_one_primary_metric_which_is_that_of_a_part() {
        for kernel in Kernel::ALL {
            let primary: Vec<Metric> = kernel.metrics().into_iter().filter(|m| m.primary).collect();
            assert!(primary.len() == 1 && primary[0].part.is_some(), "{kernel}");
            assert_eq!(kernel.name().parse(), Ok(kernel));
        }
    }

    #[test]
    fn usual_sizes_are_among_those_that_are_taken() {
        for (kernel, sizes) in Kernel::ALL.iter().filter_map(|k| Some((k, k.sizes()?))) {
            assert!((sizes.least..=sizes.most).contains(&sizes.usual), "{kernel}");
        }
    }
}
