//! Proof of a CPU limit: burn, and note when throttling ends.
//!
//! CPU time over wall time of any fixed window misreads a quota, since the
//! window's ends fall anywhere in a period. Between two ends of throttling lie
//! whole periods: there the ratio is exact.

use crate::clock;
use crate::error::KernelError;
use crate::threads;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::thread;
use tare_wire::kernel::BurnReport;

/// A gap is so long at least. The scheduler's slices among threads are shorter,
/// and within them the process as a whole gets CPU.
const GAP_NS: u64 = 4_000_000;

/// Wall time between two readings. Reading the process's CPU time is a system
/// call that threads do at one another's expense: not too often.
const INTERVAL_NS: u64 = 20_000;

/// Both clocks, read together.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reading {
    wall_ns: u64,
    cpu_ns: u64,
}

/// A time in which a thread, and all but all of its process, stood still.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Gap {
    start_ns: u64,
    end: Reading,
}

/// Burns CPU on `threads` threads for `seconds` of wall time.
///
/// # Errors
/// [`KernelError`] if the figures make no sense, a thread cannot be started or
/// the affinity cannot be read.
pub fn run(threads: u32, seconds: f64) -> Result<BurnReport, KernelError> {
    KernelError::check_threads(threads)?;
    let seconds_are_sound = seconds.is_finite() && seconds > 0.0;
    if !seconds_are_sound {
        return Err(KernelError::Seconds(seconds));
    }
    let allowed_cpus = allowed_cpus()?;
    let first = Reading::take();
    let gaps = burn_all(threads, first.wall_ns.saturating_add(clock::nanos(seconds)))?;
    let last = Reading::take();
    let edges = edges(gaps);
    Ok(BurnReport {
        cpu_seconds: clock::seconds(last.cpu_ns - first.cpu_ns),
        wall_seconds: clock::seconds(last.wall_ns - first.wall_ns),
        edges: u32::try_from(edges.len()).unwrap_or(u32::MAX),
        cores_between_edges: cores_between(&edges),
        allowed_cpus,
    })
}

fn allowed_cpus() -> Result<Vec<u32>, KernelError> {
    let set = sched_getaffinity(None).map_err(|e| KernelError::System {
        what: "sched_getaffinity",
        source: e.into(),
    })?;
    Ok((0..)
        .take(CpuSet::MAX_CPU)
        .filter(|cpu| set.is_set(*cpu as usize))
        .collect())
}

/// Burns on all threads; the gaps that any of them saw.
fn burn_all(threads: u32, deadline_ns: u64) -> Result<Vec<Gap>, KernelError> {
    thread::scope(|scope| {
        let mut running = Vec::new();
        for number in 1..=threads {
            let thread = threads::start(scope, (number, threads), move || burn(deadline_ns))?;
            running.push(thread);
        }
        let ended = running.into_iter().filter_map(|thread| thread.join().ok());
        Ok(ended.flatten().collect())
    })
}

/// Burns until the deadline; the gaps that this thread saw.
fn burn(deadline_ns: u64) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let mut previous = Reading::take();
    while previous.wall_ns < deadline_ns {
        while clock::now_ns() - previous.wall_ns < INTERVAL_NS {}
        let end = Reading::take();
        if was_throttled(previous, end) {
            let start_ns = previous.wall_ns;
            gaps.push(Gap { start_ns, end });
        }
        previous = end;
    }
    gaps
}

/// Whether the whole process stood still between two readings: a thread that
/// merely waited for others of the process would see their CPU time.
fn was_throttled(previous: Reading, now: Reading) -> bool {
    let gap_ns = now.wall_ns - previous.wall_ns;
    gap_ns > GAP_NS && now.cpu_ns.saturating_sub(previous.cpu_ns) < gap_ns / 4
}

/// The ends of throttling, in order. Threads see one throttle as gaps that
/// overlap; it ended when the first of them went on, the others had still to
/// wait for a CPU.
fn edges(mut gaps: Vec<Gap>) -> Vec<Reading> {
    gaps.sort_by_key(|gap| gap.start_ns);
    let mut stops: Vec<Gap> = Vec::new();
    let mut covered_ns = 0;
    for gap in gaps {
        match stops.last_mut() {
            Some(stop) if gap.start_ns < covered_ns => {
                if gap.end.wall_ns < stop.end.wall_ns {
                    stop.end = gap.end;
                }
            }
            _ => stops.push(gap),
        }
        covered_ns = covered_ns.max(gap.end.wall_ns);
    }
    let longest_ns = stops.iter().map(Gap::length_ns).max().unwrap_or(0);
    // A busy host stops a process as well, for shorter and at any time of a period.
    stops.retain(|stop| stop.length_ns() >= longest_ns / 2);
    stops.into_iter().map(|stop| stop.end).collect()
}

/// CPU time over wall time between the first edge and the last.
fn cores_between(edges: &[Reading]) -> Option<f64> {
    let [first, .., last] = edges else {
        return None;
    };
    let cpu_ns = last.cpu_ns.saturating_sub(first.cpu_ns);
    Some(cpu_ns as f64 / (last.wall_ns - first.wall_ns) as f64)
}

impl Gap {
    fn length_ns(&self) -> u64 {
        self.end.wall_ns - self.start_ns
    }
}

impl Reading {
    /// A pair read within one interval, if three attempts yield one: a thread
    /// that is stopped between the clocks would pair times that are far apart.
    fn take() -> Self {
        for _ in 0..2 {
            let reading = Self::once();
            if clock::now_ns() - reading.wall_ns < INTERVAL_NS {
                return reading;
            }
        }
        Self::once()
    }

    fn once() -> Self {
        let wall_ns = clock::now_ns();
        let cpu_ns = clock::process_cpu_ns();
        Self { wall_ns, cpu_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn at(wall_ms: u64, cpu_ms: u64) -> Reading {
        Reading {
            wall_ns: wall_ms * MS,
            cpu_ns: cpu_ms * MS,
        }
    }

    #[test]
    fn only_a_long_gap_without_cpu_is_a_throttle() {
        assert!(was_throttled(at(0, 0), at(50, 1)));
        assert!(!was_throttled(at(0, 0), at(3, 0)), "short");
        assert!(!was_throttled(at(0, 0), at(50, 40)), "others of the process ran");
    }

    #[test]
    fn gaps_that_overlap_are_one_throttle_which_ends_with_the_first() {
        let gap = |start_ms, end| Gap {
            start_ns: start_ms * MS,
            end,
        };
        let gaps = vec![
            gap(1026, at(1103, 523)),
            gap(25, at(100, 20)),
            gap(125, at(200, 70)),
            gap(24, at(103, 22)),
            gap(1025, at(1100, 520)),
            // Of a neighbour's doing.
            gap(1110, at(1120, 530)),
        ];
        let edges = edges(gaps);
        assert_eq!(edges, [at(100, 20), at(200, 70), at(1100, 520)]);
        assert_eq!(cores_between(&edges), Some(0.5));
    }

    #[test]
    fn one_edge_is_no_window() {
        assert_eq!(cores_between(&[]), None);
        assert_eq!(cores_between(&[at(100, 20)]), None);
    }

    #[test]
    fn burning_uses_cpu_and_ends_in_time() {
        let report = run(2, 0.1).unwrap();
        assert!(report.cpu_seconds > 0.01, "{report:?}");
        assert!((0.1..1.0).contains(&report.wall_seconds), "{report:?}");
        assert!(!report.allowed_cpus.is_empty());
    }

    #[test]
    fn senseless_burns_are_refused() {
        assert!(matches!(run(0, 1.0), Err(KernelError::Threads(0))));
        assert!(matches!(run(1, f64::NAN), Err(KernelError::Seconds(_))));
    }
}
