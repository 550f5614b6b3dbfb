//! The built-in benchmark kernels and the proofs of a box's limits.
//!
//! A kernel runs in a process of its own, in every box the same machine code:
//!
//! - a timed region holds the work and nothing else; answers are checked
//!   outside of it;
//! - what a kernel does is fixed by its [`KernelSpec`]: the number of CPUs that
//!   it could see is never asked for, and no other instruction set is taken
//!   than the one named;
//! - in one piece ([`run`]), set-up, warm-up and work are bounded by the clock, so
//!   that a box that is a hundred times slower gives a figure from a part of the
//!   work, not a timeout;
//! - in slices ([`serve`]), work is what was ordered and nothing else: the same
//!   orders are the same work in every box, and whoever orders watches the time;
//! - no timed loop ends in the C library, where memory is concerned: a static
//!   binary's differs from what users know.
//!
//! This crate is the workspace's home of `unsafe`.

mod aim;
mod astar;
mod batch;
mod blowfish;
mod burn;
pub mod clock;
mod cryptohash;
mod disk;
mod error;
mod fault;
mod fft;
mod fibonacci;
mod futex;
pub mod gate;
mod integer;
mod isa;
mod latency;
mod linpack;
mod memory;
mod net;
mod nqueens;
mod opaque;
mod random;
mod raytrace;
mod report;
mod simplex;
mod size;
mod spawn;
mod stream;
mod switch;
mod syscall;
mod thread;
mod threads;
mod timer;
mod touch;

pub use error::KernelError;
pub use isa::{available, highest};
pub use net::serve as answer;
pub use spawn::{NOOP_ARGUMENT, NOOP_STATUS, exit_if_noop};
pub use timer::make_exact as make_timers_exact;

use gate::{Gate, Sliced};
use isa::Granted;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use std::net::SocketAddr;
use tare_wire::kernel::{BurnReport, Kernel, KernelReport, KernelSpec, ProofSpec, TouchReport};

/// Runs a kernel and checks its answer; a wrong answer is a report whose
/// [`check`](KernelReport::check) did not pass, not an error.
///
/// The calling process should be single-threaded and should do nothing else.
///
/// # Errors
/// [`KernelError`] if the run makes no sense or cannot be carried out here.
pub fn run(spec: &KernelSpec) -> Result<KernelReport, KernelError> {
    let seconds_are_sound = spec.seconds.is_finite() && spec.seconds > 0.0;
    if !seconds_are_sound {
        return Err(KernelError::Seconds(spec.seconds));
    }
    let isa = isa::require(spec.isa)?;
    match spec.kernel {
        Kernel::Stream => stream::run(spec, isa),
        Kernel::Linpack => linpack::run(spec, isa),
        Kernel::Integer => integer::run(spec),
        _ => batch::run(spec, &mut *sliced(spec, isa)?),
    }
}

/// A kernel that works by itself, ready to work: all but `stream`, which needs a scope for
/// its threads.
fn sliced(spec: &KernelSpec, isa: Granted) -> Result<Box<dyn Sliced>, KernelError> {
    Ok(match spec.kernel {
        Kernel::Stream => return Err(KernelError::Threads(spec.threads)),
        Kernel::Linpack => Box::new(linpack::Slices::new(spec, isa)?),
        Kernel::Syscall => Box::new(syscall::Slices::new()),
        Kernel::Spawn => Box::new(spawn::Slices::default()),
        Kernel::Integer => Box::new(integer::Slices::new(spec)?),
        Kernel::Blowfish => Box::new(blowfish::Slices::new(spec, isa)?),
        Kernel::Cryptohash => Box::new(cryptohash::Slices::new(spec, isa)?),
        Kernel::Fibonacci => Box::new(fibonacci::Slices::new(spec)?),
        Kernel::Nqueens => Box::new(nqueens::Slices::new(spec, isa)?),
        Kernel::Fft => Box::new(fft::Slices::new(spec, isa)?),
        Kernel::Raytrace => Box::new(raytrace::Slices::new(spec, isa)?),
        Kernel::Astar => Box::new(astar::Slices::new(spec, isa)?),
        Kernel::Simplex => Box::new(simplex::Slices::new(spec, isa)?),
        Kernel::Latency => Box::new(latency::Slices::new(spec)?),
        Kernel::Fault => Box::new(fault::Slices::default()),
        Kernel::Switch => Box::new(switch::Slices::new()?),
        Kernel::Timer => Box::new(timer::Slices::new()?),
        Kernel::Thread => Box::new(thread::Slices::new()?),
        Kernel::Futex => Box::new(futex::Slices::new()?),
        Kernel::RandomRead | Kernel::RandomWrite | Kernel::SequentialRead | Kernel::SequentialWrite => {
            Box::new(disk::queue::Slices::new(spec)?)
        }
        Kernel::Fsync => Box::new(disk::sync::Slices::new(spec)?),
        Kernel::ByteRead | Kernel::ByteWrite | Kernel::BlockRead | Kernel::BlockWrite => {
            Box::new(disk::cached::Slices::new(spec)?)
        }
        Kernel::File => Box::new(disk::small::Slices::new(spec)?),
        Kernel::TcpRr | Kernel::TcpStream | Kernel::UdpRr | Kernel::TcpConnect => {
            Box::new(net::Slices::new(spec)?)
        }
    })
}

/// Runs a kernel in slices, so that others can work between them.
///
/// Sets the kernel up and prints the line `ready`. Then, for every line of `orders`
/// (JSON of [`Order`](tare_wire::gate::Order)), does `lead` units of work untimed and
/// `units` units timed, and prints a line (JSON of [`Slice`](tare_wire::gate::Slice)).
/// When `orders` ends, checks the answer of all that was done. How long that takes is
/// up to the orders: `seconds` of `spec` bounds nothing here.
///
/// What a unit is, and what the work of a slice is counted in:
///
/// | kernel | unit | work |
/// |---|---|---|
/// | `stream` | each of the four loops over 4096 bytes per array and thread | bytes, by loop |
/// | `linpack` | as many whole steps of the elimination as make 2 n^2 flops | flops |
/// | `syscall` | a call | calls |
/// | `spawn` | a process | processes |
/// | `integer` | the iterations of a whole run | units |
/// | `blowfish`, `cryptohash` | a pass over the buffer | bytes of it |
/// | `fibonacci`, `nqueens`, `raytrace`, `astar`, `simplex` | the whole problem | problems |
/// | `latency` | a load | loads |
/// | `fault` | a page | pages |
/// | `switch`, `futex` | a round trip | round trips |
/// | `timer` | a wake-up | wake-ups |
/// | `thread` | a thread | threads |
/// | `tcp-rr`, `udp-rr` | a request and its response | round trips |
/// | `tcp-stream` | a message | bytes of it |
/// | `tcp-connect` | a connection | connections |
/// | `fft` | a transform and its inverse | flops |
/// | `random-read` and its like | 128 blocks of 4 KiB | operations |
/// | `fsync` | a write that is waited for | writes |
/// | `byte-read`, `byte-write` | 4 KiB | bytes |
/// | `block-read`, `block-write` | 8 KiB | bytes |
/// | `file` | a file: created, asked for, deleted | files, in each part |
///
/// The report's metrics are those of all timed slices together: work over time or
/// time over work. It has none if there was no order.
///
/// # Errors
/// [`KernelError`] if the kernel cannot be carried out here, of a line that is no
/// order, and of lines that cannot be read or written.
pub fn serve(
    spec: &KernelSpec,
    orders: &mut dyn BufRead,
    answers: &mut dyn Write,
) -> Result<KernelReport, KernelError> {
    let isa = isa::require(spec.isa)?;
    let mut gate = Gate::new(orders, answers);
    match spec.kernel {
        Kernel::Stream => stream::serve(spec, isa, &mut gate),
        _ => gate.serve_kernel(spec, &mut *sliced(spec, isa)?),
    }
}

/// As [`serve`], of a network kernel whose server is elsewhere.
///
/// # Errors
/// As [`serve`], and if there is no way to the server.
pub fn serve_to(
    spec: &KernelSpec,
    server: SocketAddr,
    orders: &mut dyn BufRead,
    answers: &mut dyn Write,
) -> Result<KernelReport, KernelError> {
    isa::require(spec.isa)?;
    Gate::new(orders, answers).serve_kernel(spec, &mut net::Slices::to(spec, server)?)
}

/// What a proof saw; its JSON is that of the report within.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ProofReport {
    /// Of [`ProofSpec::Burn`].
    Burn(BurnReport),
    /// Of [`ProofSpec::Touch`].
    Touch(TouchReport),
}

/// Carries out a proof; one that touches memory may end in the process's being
/// killed, which is an answer too.
///
/// # Errors
/// [`KernelError`] if the proof cannot be carried out here.
pub fn prove(spec: &ProofSpec) -> Result<ProofReport, KernelError> {
    match *spec {
        ProofSpec::Burn { threads, seconds } => burn::run(threads, seconds).map(ProofReport::Burn),
        ProofSpec::Touch { bytes } => touch::run(bytes).map(ProofReport::Touch),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;
    use tare_wire::kernel::Isa;

    fn spec(kernel: Kernel) -> KernelSpec {
        let size = match kernel {
            Kernel::Stream => 1 << 20,
            Kernel::Linpack => 200,
            Kernel::Integer => 1000,
            Kernel::Latency => 1 << 20,
            _ => kernel.sizes().map_or(0, |sizes| sizes.usual),
        };
        KernelSpec {
            kernel,
            isa: Isa::Baseline,
            threads: 2,
            size,
            seconds: 0.05,
        }
    }

    // `spawn` re-executes its binary, which here is the test harness: see tests/spawn.rs.
    // `integer` is not bounded by its aim.
    fn tested() -> impl Iterator<Item = Kernel> {
        let not_here = [Kernel::Spawn, Kernel::Integer];
        Kernel::ALL
            .into_iter()
            .filter(move |kernel| !not_here.contains(kernel))
    }

    #[test]
    fn every_metric_is_reported_with_the_figures_behind_it() {
        for kernel in tested() {
            let report = run(&spec(kernel)).unwrap();
            let names: Vec<_> = kernel.metrics().into_iter().map(|m| m.name).collect();
            let mut reported: Vec<_> = report.metrics.keys().cloned().collect();
            reported.sort_by_key(|name| names.iter().position(|n| n == name));
            assert_eq!(reported, names);
            assert!(report.metrics.values().all(|v| v.is_finite() && *v > 0.0));
            assert!(report.raw_seconds.keys().eq(report.work_per_stretch.keys()));
            assert!(report.check.passed(), "{:?}", report.check);
            assert!(report.units_done >= 1.0);
        }
    }

    #[test]
    fn reports_survive_json() {
        for kernel in tested() {
            let report = run(&spec(kernel)).unwrap();
            let json = serde_json::to_string(&report).unwrap();
            assert_eq!(serde_json::from_str::<KernelReport>(&json).unwrap(), report);
        }
    }

    #[test]
    fn the_aim_is_passed_but_not_by_far() {
        for kernel in tested() {
            let spec = spec(kernel);
            let begun = Instant::now();
            let report = run(&spec).unwrap();
            // Loose above: other tests use the same CPUs.
            let whole = begun.elapsed().as_secs_f64();
            assert!((spec.seconds..3.0).contains(&whole), "{kernel}: {whole} s");
            let timed = report.wall_seconds;
            assert!(
                timed >= spec.seconds / 2.0 && timed <= whole,
                "{kernel}: {timed} s"
            );
        }
    }

    #[test]
    fn senseless_aims_are_refused() {
        for seconds in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let spec = KernelSpec {
                seconds,
                ..spec(Kernel::Syscall)
            };
            assert!(matches!(run(&spec), Err(KernelError::Seconds(_))));
        }
    }

    #[test]
    fn a_proof_prints_as_the_report_within() {
        let report = ProofReport::Touch(TouchReport { touched_bytes: 4096 });
        let json = serde_json::to_string(&report).unwrap();
        assert_eq!(json, r#"{"touched_bytes":4096}"#);
        assert_eq!(serde_json::from_str::<ProofReport>(&json).unwrap(), report);
    }
}
