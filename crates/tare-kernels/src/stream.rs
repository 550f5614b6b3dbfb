//! `stream`: sustainable memory bandwidth, after John McCalpin's STREAM.
//!
//! Four loops over three arrays that no cache holds. Bytes are counted as
//! STREAM does: those that the loops name, not those that a cache reads before
//! it writes. Rates are all bytes over all time of the timed passes; a pass over
//! several threads lasts from the first start to the last end.

mod arrays;
mod loops;
mod meeting;
mod slices;
mod span;
mod tally;
mod team;
mod track;
mod worker;

pub use slices::serve;

use crate::aim::Aim;
use crate::error::KernelError;
use crate::isa::Granted;
use crate::report::{self, Stretches};
use arrays::{Arrays, PAGE_BYTES, Values};
use loops::Loop;
use tare_wire::kernel::{Check, Kernel, KernelReport, KernelSpec};

/// STREAM's bound on the relative error for 8-byte numbers.
const ERROR_BOUND: f64 = 1e-13;

/// Runs the kernel.
///
/// # Errors
/// [`KernelError`] for a size or a number of threads that makes no sense, and
/// if memory or threads cannot be had.
pub fn run(spec: &KernelSpec, isa: Granted) -> Result<KernelReport, KernelError> {
    let aim = Aim::begin(spec.seconds);
    let threads = KernelError::check_threads(spec.threads)?;
    let mut arrays = Arrays::new(pages(spec, threads)?)?;
    let outcome = team::run(arrays.parts(threads), isa, aim)?;
    let mut parts = arrays.parts(threads);
    let whole: usize = parts.iter().map(arrays::ThreadShare::len).sum();
    parts.iter_mut().for_each(|part| part.truncate(outcome.limit));
    let used: usize = parts.iter().map(arrays::ThreadShare::len).sum();

    let expected = Values::after(outcome.passes, isa);
    let error = parts
        .iter()
        .map(|part| part.error(&expected))
        .fold(0.0, report::worse);
    let work = used as f64 * f64::from(outcome.repeats);
    let stretches = Loop::ALL.map(|l| Stretches {
        name: l.name(),
        work: l.bytes() * work,
        seconds: outcome.seconds[l as usize].clone(),
    });
    let metrics = stretches.each_ref().map(|s| (s.name, s.rate()));
    // A unit is a pass over the whole arrays, of which a slow box does none.
    let units = if used == whole {
        outcome.timed_passes() as f64 * f64::from(outcome.repeats)
    } else {
        used as f64 / whole as f64
    };
    Ok(report::report(
        spec,
        metrics,
        stretches,
        outcome.wall_seconds,
        units,
        check(error),
    ))
}

fn check(error: f64) -> Check {
    report::check("largest relative error of an element", error, ERROR_BOUND)
}

/// Whole pages per array, at least one for each thread.
fn pages(spec: &KernelSpec, threads: u32) -> Result<usize, KernelError> {
    let least = u64::from(threads) * PAGE_BYTES;
    let most = 1 << 46;
    usize::try_from(spec.size / PAGE_BYTES)
        .ok()
        .filter(|_| (least..=most).contains(&spec.size))
        .ok_or(KernelError::Size {
            kernel: Kernel::Stream,
            size: spec.size,
            least,
            most,
            unit: "bytes per array",
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa;
    use std::time::Instant;
    use tare_wire::kernel::Isa;

    fn spec(threads: u32, size: u64, seconds: f64) -> KernelSpec {
        KernelSpec {
            kernel: Kernel::Stream,
            isa: Isa::Baseline,
            threads,
            size,
            seconds,
        }
    }

    #[test]
    fn every_level_and_number_of_threads_gives_the_known_answer() {
        for isa in isa::granted() {
            for threads in [1, 2, 5] {
                let report = run(&spec(threads, 300_000, 0.02), isa).unwrap();
                assert!(report.check.passed(), "{:?} x {threads}: {:?}", isa, report.check);
            }
        }
    }

    #[test]
    fn bytes_are_counted_as_stream_does() {
        let report = run(&spec(1, 40960, 0.01), isa::granted()[0]).unwrap();
        let work = report.work_per_stretch;
        let passes = work["copy"] / (2.0 * 40960.0);
        assert!(passes >= 1.0 && passes.fract() == 0.0, "{passes}");
        assert_eq!(work["scale"], work["copy"]);
        assert_eq!(work["add"], 1.5 * work["copy"]);
        assert_eq!(work["triad"], 1.5 * work["copy"]);
    }

    #[test]
    fn a_box_too_slow_for_the_arrays_uses_a_part_of_them() {
        // 256 MiB per array cannot even be touched in 5 ms.
        let start = Instant::now();
        let report = run(&spec(2, 256 << 20, 0.005), isa::granted()[0]).unwrap();
        assert!(
            report.units_done > 0.0 && report.units_done < 1.0,
            "{}",
            report.units_done
        );
        assert!(report.check.passed(), "{:?}", report.check);
        assert!(report.metrics["triad"] > 0.0);
        assert!(start.elapsed().as_secs_f64() < 0.5, "{:?}", start.elapsed());
    }

    #[test]
    fn senseless_sizes_are_refused() {
        for (threads, size) in [(1, 0), (2, 4096), (1, u64::MAX)] {
            let refused = run(&spec(threads, size, 0.01), isa::granted()[0]);
            assert!(matches!(refused, Err(KernelError::Size { .. })));
        }
        assert!(matches!(
            run(&spec(0, 4096, 0.01), isa::granted()[0]),
            Err(KernelError::Threads(0))
        ));
    }
}
