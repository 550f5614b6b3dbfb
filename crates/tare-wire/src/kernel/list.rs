//! The built-in kernels: names, metrics, service features and sizes.

use crate::metric::{Direction, Metric, Unit};
use crate::suggest;
use crate::template::{Capacity, Feature, Property};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A built-in benchmark kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kernel {
    /// Memory bandwidth: copy, scale, add and triad over arrays beyond the caches.
    Stream,
    /// Floating point: LU factorisation and solution of a dense system.
    Linpack,
    /// Latency of the cheapest system call.
    Syscall,
    /// Latency of making, running and reaping a trivial process.
    Spawn,
    /// A fixed number of iterations of integer work in registers.
    Integer,
    /// Encryption of a buffer by Blowfish.
    Blowfish,
    /// MD5 and SHA-1 of a buffer.
    Cryptohash,
    /// A Fibonacci number by recursion: calls and returns.
    Fibonacci,
    /// All ways to place n queens: branches that are hard to foresee.
    Nqueens,
    /// A complex Fourier transform and its inverse.
    Fft,
    /// A picture of spheres by ray tracing.
    Raytrace,
    /// The cheapest way across a map by A*.
    Astar,
    /// A linear program by the simplex method.
    Simplex,
    /// Latency of a load from memory.
    Latency,
    /// Latency of the first touch of a page.
    Fault,
    /// Two processes that pass a byte through pipes.
    Switch,
    /// How late a sleeping thread wakes up.
    Timer,
    /// Making and joining a thread.
    Thread,
    /// Two threads that hand over to each other.
    Futex,
    /// Blocks of files read in random order, past the page cache.
    RandomRead,
    /// Blocks of files written in random order, past the page cache.
    RandomWrite,
    /// Blocks of files read one after another, past the page cache.
    SequentialRead,
    /// Blocks of files written one after another, past the page cache.
    SequentialWrite,
    /// Latency of a write that is on the disk when it returns.
    Fsync,
    /// A file read byte by byte, through a buffer.
    ByteRead,
    /// A file written byte by byte, through a buffer.
    ByteWrite,
    /// A file read block by block, through the page cache.
    BlockRead,
    /// A file written block by block, into the page cache.
    BlockWrite,
    /// Latency of creating, asking for and deleting a small file.
    File,
    /// Request and response over a TCP connection.
    TcpRr,
    /// Messages over a TCP connection, one way.
    TcpStream,
    /// Request and response by datagrams.
    UdpRr,
    /// TCP connections made and closed.
    TcpConnect,
}

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

impl Kernel {
    /// Every kernel, in the order of printing.
    pub const ALL: [Self; 33] = [
        Self::Stream,
        Self::Linpack,
        Self::Syscall,
        Self::Spawn,
        Self::Integer,
        Self::Blowfish,
        Self::Cryptohash,
        Self::Fibonacci,
        Self::Nqueens,
        Self::Fft,
        Self::Raytrace,
        Self::Astar,
        Self::Simplex,
        Self::Latency,
        Self::Fault,
        Self::Switch,
        Self::Timer,
        Self::Thread,
        Self::Futex,
        Self::RandomRead,
        Self::RandomWrite,
        Self::SequentialRead,
        Self::SequentialWrite,
        Self::Fsync,
        Self::ByteRead,
        Self::ByteWrite,
        Self::BlockRead,
        Self::BlockWrite,
        Self::File,
        Self::TcpRr,
        Self::TcpStream,
        Self::UdpRr,
        Self::TcpConnect,
    ];

    /// Those of a study that names none: the fewest that show what a box does to memory,
    /// to computation, to the way into the kernel and to making processes.
    pub const USUAL: [Self; 4] = [Self::Stream, Self::Linpack, Self::Syscall, Self::Spawn];

    /// The name on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Linpack => "linpack",
            Self::Syscall => "syscall",
            Self::Spawn => "spawn",
            Self::Integer => "integer",
            Self::Blowfish => "blowfish",
            Self::Cryptohash => "cryptohash",
            Self::Fibonacci => "fibonacci",
            Self::Nqueens => "nqueens",
            Self::Fft => "fft",
            Self::Raytrace => "raytrace",
            Self::Astar => "astar",
            Self::Simplex => "simplex",
            Self::Latency => "latency",
            Self::Fault => "fault",
            Self::Switch => "switch",
            Self::Timer => "timer",
            Self::Thread => "thread",
            Self::Futex => "futex",
            Self::RandomRead => "random-read",
            Self::RandomWrite => "random-write",
            Self::SequentialRead => "sequential-read",
            Self::SequentialWrite => "sequential-write",
            Self::Fsync => "fsync",
            Self::ByteRead => "byte-read",
            Self::ByteWrite => "byte-write",
            Self::BlockRead => "block-read",
            Self::BlockWrite => "block-write",
            Self::File => "file",
            Self::TcpRr => "tcp-rr",
            Self::TcpStream => "tcp-stream",
            Self::UdpRr => "udp-rr",
            Self::TcpConnect => "tcp-connect",
        }
    }

    /// Whether it never gives its CPU up by itself while its clock runs: all but those
    /// that wait for a child, another process, a thread, a timer or a disk.
    pub const fn never_waits(self) -> bool {
        !matches!(
            self,
            Self::Spawn | Self::Switch | Self::Timer | Self::Thread | Self::Futex
        ) && !self.has_ends()
            && !self.uses_files()
    }

    /// Whether it has two ends that talk by a network, and can be in different places.
    pub const fn has_ends(self) -> bool {
        matches!(
            self,
            Self::TcpRr | Self::TcpStream | Self::UdpRr | Self::TcpConnect
        )
    }

    /// Whether it works on files, in the folder in which its process is started.
    pub const fn uses_files(self) -> bool {
        self.keeps_a_queue()
            || matches!(
                self,
                Self::Fsync
                    | Self::ByteRead
                    | Self::ByteWrite
                    | Self::BlockRead
                    | Self::BlockWrite
                    | Self::File
            )
    }

    /// Whether it keeps many requests at a disk at once, past the page cache.
    pub const fn keeps_a_queue(self) -> bool {
        matches!(
            self,
            Self::RandomRead | Self::RandomWrite | Self::SequentialRead | Self::SequentialWrite
        )
    }

    /// What the kernel measures, in one line.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Stream => "memory bandwidth: copy, scale, add, triad (STREAM)",
            Self::Linpack => "floating point: LU with partial pivoting, dgefa/dgesl (LINPACK)",
            Self::Syscall => "latency of the cheapest system call (getppid)",
            Self::Spawn => "latency of fork + exec + wait of a trivial process",
            Self::Integer => "time of a fixed number of iterations in registers, for self-tests",
            Self::Blowfish => "encryption of a buffer with Blowfish",
            Self::Cryptohash => "MD5 and SHA-1 of a buffer",
            Self::Fibonacci => "time to compute a Fibonacci number recursively",
            Self::Nqueens => "time to count all ways to place n queens",
            Self::Fft => "floating point: complex FFT and its inverse",
            Self::Raytrace => "time to ray-trace a small picture of spheres",
            Self::Astar => "time to find the cheapest path across a map with A*",
            Self::Simplex => "time to solve a linear program with the simplex method",
            Self::Latency => "latency of dependent loads in random order",
            Self::Fault => "latency of a page fault: the first touch of new memory",
            Self::Switch => "latency of a round trip of a byte between two processes on one CPU",
            Self::Timer => "how late a thread wakes up from a sleep of 50 us",
            Self::Thread => "latency of creating and joining a thread",
            Self::Futex => "latency of a round trip between two threads on one CPU (futex)",
            Self::RandomRead => "random reads of 4 KiB from disk, 128 in flight (O_DIRECT, libaio)",
            Self::RandomWrite => "random writes of 4 KiB to disk, 128 in flight (O_DIRECT, libaio)",
            Self::SequentialRead => "reads of 4 KiB from disk in order, 128 in flight (O_DIRECT, libaio)",
            Self::SequentialWrite => "writes of 4 KiB to disk in order, 128 in flight (O_DIRECT, libaio)",
            Self::Fsync => "latency of a write of 4 KiB that reaches the disk (pwrite + fdatasync)",
            Self::ByteRead => "reading a file byte by byte through a buffer, as getc does",
            Self::ByteWrite => "writing a file byte by byte through a buffer, as putc does",
            Self::BlockRead => "reading a file in blocks of 8 KiB through the page cache",
            Self::BlockWrite => "writing a file in blocks of 8 KiB into the page cache",
            Self::File => "latency of creating, stat and deleting a small file",
            Self::TcpRr => "latency of a request and its response over one TCP connection",
            Self::TcpStream => "bytes per second received over one TCP connection, by message size",
            Self::UdpRr => "latency of a request and its response by UDP datagrams",
            Self::TcpConnect => "TCP connections opened, accepted and closed per second",
        }
    }

    /// The service feature that it shows.
    pub const fn feature(self) -> Feature {
        let (property, capacity) = match self {
            Self::Stream => (Property::Memory, Capacity::Throughput),
            Self::Linpack | Self::Fft => (Property::Computation, Capacity::TransactionSpeed),
            Self::Blowfish | Self::Cryptohash => (Property::Computation, Capacity::Throughput),
            Self::Syscall
            | Self::Spawn
            | Self::Integer
            | Self::Fibonacci
            | Self::Nqueens
            | Self::Raytrace
            | Self::Astar
            | Self::Simplex
            | Self::Switch
            | Self::Timer
            | Self::Thread
            | Self::Futex => (Property::Computation, Capacity::Latency),
            Self::Latency | Self::Fault => (Property::Memory, Capacity::Latency),
            Self::RandomRead | Self::RandomWrite | Self::SequentialRead | Self::SequentialWrite => {
                (Property::Storage, Capacity::TransactionSpeed)
            }
            Self::ByteRead | Self::ByteWrite | Self::BlockRead | Self::BlockWrite => {
                (Property::Storage, Capacity::Throughput)
            }
            Self::Fsync | Self::File => (Property::Storage, Capacity::Latency),
            Self::TcpRr | Self::UdpRr => (Property::Communication, Capacity::Latency),
            Self::TcpStream => (Property::Communication, Capacity::Throughput),
            Self::TcpConnect => (Property::Communication, Capacity::TransactionSpeed),
        };
        Feature { property, capacity }
    }

    /// The names of the timed parts of a slice, each that of the metric that it is the
    /// figure of: its work over its time of a rate, its time over its work of a time.
    pub const fn parts(self) -> &'static [&'static str] {
        match self {
            Self::Stream => &["copy", "scale", "add", "triad"],
            Self::File => &["create", "stat", "delete"],
            Self::Linpack
            | Self::Blowfish
            | Self::Cryptohash
            | Self::Fft
            | Self::RandomRead
            | Self::RandomWrite
            | Self::SequentialRead
            | Self::SequentialWrite
            | Self::ByteRead
            | Self::ByteWrite
            | Self::BlockRead
            | Self::BlockWrite
            | Self::TcpStream
            | Self::TcpConnect => &["rate"],
            Self::Syscall
            | Self::Spawn
            | Self::Latency
            | Self::Fault
            | Self::Switch
            | Self::Timer
            | Self::Thread
            | Self::Futex
            | Self::Fsync
            | Self::TcpRr
            | Self::UdpRr => &["latency"],
            Self::Integer
            | Self::Fibonacci
            | Self::Nqueens
            | Self::Raytrace
            | Self::Astar
            | Self::Simplex => &["time"],
        }
    }

    /// The metrics of a report, the primary one marked.
    pub fn metrics(self) -> Vec<Metric> {
        use Direction::{Higher, Lower};
        let mut metrics = match self {
            Self::Stream => ["copy", "scale", "add", "triad"]
                .map(|name| Metric::new(name, Unit::BytePerSecond, Higher, name == "triad"))
                .to_vec(),
            Self::Linpack | Self::Fft => vec![Metric::new("rate", Unit::FlopPerSecond, Higher, true)],
            Self::Blowfish
            | Self::Cryptohash
            | Self::ByteRead
            | Self::ByteWrite
            | Self::BlockRead
            | Self::BlockWrite
            | Self::TcpStream => {
                vec![Metric::new("rate", Unit::BytePerSecond, Higher, true)]
            }
            // Bytes per second would be the same figure again: all blocks have one size.
            Self::RandomRead | Self::RandomWrite | Self::SequentialRead | Self::SequentialWrite => {
                let operations = Unit::Other("op/s".to_owned());
                vec![Metric::new("rate", operations, Higher, true)]
            }
            Self::File => ["create", "stat", "delete"]
                .map(|name| Metric::new(name, Unit::Second, Lower, name == "create"))
                .to_vec(),
            Self::TcpConnect => {
                let unit = Unit::Other("connections/s".to_owned());
                vec![Metric::new("rate", unit, Higher, true)]
            }
            Self::Syscall
            | Self::Spawn
            | Self::Latency
            | Self::Fault
            | Self::Switch
            | Self::Timer
            | Self::Thread
            | Self::Futex
            | Self::Fsync
            | Self::TcpRr
            | Self::UdpRr => {
                vec![Metric::new("latency", Unit::Second, Lower, true)]
            }
            Self::Integer => vec![
                Metric::new("time", Unit::Second, Lower, true),
                Metric::new("cpu", Unit::Second, Lower, false),
            ],
            Self::Fibonacci | Self::Nqueens | Self::Raytrace | Self::Astar | Self::Simplex => {
                vec![Metric::new("time", Unit::Second, Lower, true)]
            }
        };
        for metric in &mut metrics {
            metric.part = self.parts().iter().position(|part| *part == metric.name);
        }
        metrics
    }

    /// The sizes that it takes; `None` of a kernel whose problem has no size. But for
    /// those of `stream`, `linpack` and `integer` the largest keeps a unit of work within
    /// some seconds, and the usual one well below a slice.
    pub const fn sizes(self) -> Option<Sizes> {
        let (least, usual, most, unit) = match self {
            Self::Stream => (4096, 128 << 20, 1 << 46, "bytes per array"),
            Self::Linpack => (50, 1000, 16383, "order of the matrix"),
            // Some 40 ms.
            Self::Integer => (1, 100_000, 1 << 36, "iterations"),
            // HardInfo's buffer.
            Self::Blowfish | Self::Cryptohash => (64, 64 << 10, 64 << 20, "bytes of the buffer"),
            Self::Fibonacci => (1, 20, 42, "which Fibonacci number"),
            Self::Nqueens => (4, 8, 14, "queens"),
            Self::Fft => (8, 1024, 1 << 20, "points, a power of two"),
            Self::Raytrace => (8, 32, 1024, "pixels on each side"),
            Self::Astar => (8, 64, 1024, "fields on each side"),
            Self::Simplex => (2, 40, 500, "unknowns, and as many bounds"),
            // Beyond the last-level cache of most hosts; lines are found by 32 bits.
            Self::Latency => (4096, 128 << 20, 16 << 30, "bytes of the buffer"),
            // Laid out in a fraction of a second on most disks, in two processes per box.
            Self::RandomRead | Self::RandomWrite | Self::SequentialRead | Self::SequentialWrite => {
                (64 << 10, 16 << 20, 1 << 40, "bytes of each of its eight files")
            }
            Self::ByteRead | Self::ByteWrite | Self::BlockRead | Self::BlockWrite => {
                (64 << 10, 16 << 20, 1 << 40, "bytes of the file")
            }
            Self::File => (0, 1 << 10, 1 << 20, "bytes of each file"),
            // netperf's usual question. The least has a number and a time in it, the most of
            // a datagram is near what UDP takes.
            Self::TcpRr => (16, 100, 1 << 20, "bytes of a message"),
            Self::UdpRr => (16, 100, 60_000, "bytes of a message"),
            Self::TcpStream => (64, 32 << 10, 1 << 20, "bytes of a message"),
            Self::Syscall
            | Self::Spawn
            | Self::Fault
            | Self::Switch
            | Self::Timer
            | Self::Thread
            | Self::Futex
            | Self::Fsync
            | Self::TcpConnect => return None,
        };
        Some(Sizes {
            least,
            most,
            usual,
            unit,
            in_bytes: matches!(
                self,
                Self::Stream
                    | Self::Blowfish
                    | Self::Cryptohash
                    | Self::Latency
                    | Self::TcpRr
                    | Self::UdpRr
                    | Self::TcpStream
            ) || self.uses_files(),
        })
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
