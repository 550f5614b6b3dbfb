//! Proof of a CPU limit: burn, and note when throttling ends.
//!
//! CPU time over wall time of any fixed window misreads a quota, since the
//! window's ends fall anywhere in a period. Between two ends of throttling lie
//! whole periods: there the ratio is exact.

use crate::clock;
use crate::error::KernelError;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::thread;
use tare_model::kernel::BurnReport;

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

/// Ends of throttled gaps.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Edges {
    first: Reading,
    last: Reading,
    count: u32,
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
    let edges = burn_all(threads, first.wall_ns.saturating_add(clock::nanos(seconds)))?;
    let last = Reading::take();
    Ok(BurnReport {
        cpu_seconds: clock::seconds(last.cpu_ns - first.cpu_ns),
        wall_seconds: clock::seconds(last.wall_ns - first.wall_ns),
        edges: edges.map_or(0, |e| e.count),
        cores_between_edges: edges.and_then(Edges::cores),
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

/// Burns on all threads; the edges of all of them together.
fn burn_all(threads: u32, deadline_ns: u64) -> Result<Option<Edges>, KernelError> {
    thread::scope(|scope| {
        let mut running = Vec::new();
        for number in 1..=threads {
            let thread = thread::Builder::new().spawn_scoped(scope, move || burn(deadline_ns));
            running.push(thread.map_err(|source| KernelError::Thread {
                number,
                threads,
                source,
            })?);
        }
        let ended = running.into_iter().filter_map(|thread| thread.join().ok());
        Ok(ended.flatten().reduce(Edges::merge))
    })
}

/// Burns until the deadline; the edges that this thread saw.
fn burn(deadline_ns: u64) -> Option<Edges> {
    let mut edges: Option<Edges> = None;
    let mut previous = Reading::take();
    while previous.wall_ns < deadline_ns {
        while clock::now_ns() - previous.wall_ns < INTERVAL_NS {}
        let now = Reading::take();
        if was_throttled(previous, now) {
            let edge = Edges::one(now);
            edges = Some(edges.map_or(edge, |e| e.merge(edge)));
        }
        previous = now;
    }
    edges
}

/// Whether the whole process stood still between two readings: a thread that
/// merely waited for others of the process would see their CPU time.
fn was_throttled(previous: Reading, now: Reading) -> bool {
    let gap_ns = now.wall_ns - previous.wall_ns;
    gap_ns > GAP_NS && now.cpu_ns.saturating_sub(previous.cpu_ns) < gap_ns / 4
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

impl Edges {
    fn one(edge: Reading) -> Self {
        Self {
            first: edge,
            last: edge,
            count: 1,
        }
    }

    fn merge(self, other: Self) -> Self {
        let earlier = |a: Reading, b: Reading| if b.wall_ns < a.wall_ns { b } else { a };
        let later = |a: Reading, b: Reading| if b.wall_ns > a.wall_ns { b } else { a };
        Self {
            first: earlier(self.first, other.first),
            last: later(self.last, other.last),
            count: self.count + other.count,
        }
    }

    /// CPU time over wall time between the first edge and the last. All threads
    /// see the end of one and the same gap: edges that lie closer together than
    /// a gap is long are one.
    fn cores(self) -> Option<f64> {
        let wall_ns = self.last.wall_ns - self.first.wall_ns;
        let cpu_ns = self.last.cpu_ns.saturating_sub(self.first.cpu_ns);
        (wall_ns > GAP_NS).then(|| cpu_ns as f64 / wall_ns as f64)
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
    fn cores_are_counted_between_edges_of_different_gaps() {
        let [a, b, c] = [at(100, 20), at(200, 70), at(1100, 520)].map(Edges::one);
        let all = b.merge(c).merge(a);
        assert_eq!((all.first, all.last, all.count), (at(100, 20), at(1100, 520), 3));
        assert!((all.cores().unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(a.cores(), None);
        assert_eq!(
            a.merge(Edges::one(at(101, 21))).cores(),
            None,
            "one gap, seen twice"
        );
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
