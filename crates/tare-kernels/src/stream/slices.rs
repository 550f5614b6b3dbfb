//! The loops in slices: threads that wait for orders, each with its part of the arrays.

use super::arrays::{Arrays, PAGE, ThreadShare};
use super::loops::Loop;
use super::track::Track;
use super::worker::{Job, Shared, Worker};
use crate::error::KernelError;
use crate::gate::{Gate, Sliced};
use crate::isa::Granted;
use crate::memory::Pages;
use crate::threads;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, Scope};
use tare_wire::gate;
use tare_wire::kernel::{Check, KernelReport, KernelSpec};

/// Serves slices, of which a unit is a page of each array and thread, in each loop.
///
/// # Errors
/// As [`run`](super::run), and those of the gate.
pub fn serve(spec: &KernelSpec, isa: Granted, gate: &mut Gate) -> Result<KernelReport, KernelError> {
    let threads = KernelError::check_threads(spec.threads)?;
    let pages = super::pages(spec, threads)?;
    let mut arrays = Arrays::new(pages)?;
    let smallest = Track {
        pages: pages / threads as usize,
    };
    let shared = Shared::new(isa, threads, smallest.stride());
    let pages = arrays.pages();
    let parts = arrays.parts(threads);
    thread::scope(|scope| {
        let mut team = Team::start(scope, (parts, pages), &shared)?;
        team.carry_out(Job::SetUp);
        gate.serve_kernel(spec, &mut team)
    })
}

/// The threads; the caller's is one of them.
struct Team<'a> {
    own: Worker<'a>,
    others: Vec<SyncSender<Job>>,
    shared: &'a Shared,
    pages: [Pages; 3],
    slices: usize,
}

/// Slices after which one of the arrays gets other pages: where a host has not backed all of its guest's memory alike, two sets
/// of huge pages differed by a third (1 of 4 processes, Linux 6.18 on Firecracker).
const RENEWED_AFTER: usize = 8;

impl<'a> Team<'a> {
    /// Starts the other threads. They wait for jobs, and end with the team.
    fn start<'scope>(
        scope: &'scope Scope<'scope, 'a>,
        (parts, pages): (Vec<ThreadShare<'a>>, [Pages; 3]),
        shared: &'a Shared,
    ) -> Result<Self, KernelError> {
        let mut workers: Vec<_> = parts.into_iter().map(|part| Worker::new(part, shared)).collect();
        let own = workers.remove(0);
        let mut others = Vec::new();
        for (number, worker) in (2..).zip(workers) {
            let (jobs, ordered) = sync_channel(1);
            threads::start(scope, (number, shared.threads), move || worker.serve(ordered))?;
            others.push(jobs);
        }
        Ok(Self {
            own,
            others,
            shared,
            pages,
            slices: 0,
        })
    }

    fn carry_out(&mut self, job: Job) {
        for other in &self.others {
            // Fails only if the thread is gone, which it cannot be.
            let _ = other.send(job);
        }
        self.own.carry_out(job);
    }
}

impl Sliced for Team<'_> {
    fn prepare(&mut self) -> Result<(), KernelError> {
        self.slices += 1;
        if self.slices.is_multiple_of(RENEWED_AFTER) {
            let times = self.slices / RENEWED_AFTER;
            // SAFETY: the arrays outlive the threads, which wait for their next job, and this one is here.
            unsafe { self.pages[times % 3].renew() }?;
        }
        Ok(())
    }

    fn work(&mut self, units: u64, parts: &mut [gate::Part]) -> Result<(), KernelError> {
        self.carry_out(Job::Work { units });
        let elements = units as f64 * PAGE as f64 * f64::from(self.shared.threads);
        let times = self.shared.tally().take_times();
        for ((which, part), (wall_ns, cpu_ns)) in Loop::ALL.into_iter().zip(parts).zip(times) {
            part.work += which.bytes() * elements;
            part.wall_ns += wall_ns;
            part.cpu_ns += cpu_ns;
        }
        Ok(())
    }

    fn check(&mut self) -> Check {
        self.carry_out(Job::Check);
        super::check(self.shared.tally().error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa;
    use tare_wire::kernel::{Isa, Kernel};

    fn spec(isa: Isa, threads: u32, pages: u64) -> KernelSpec {
        KernelSpec {
            kernel: Kernel::Stream,
            isa,
            threads,
            size: pages * 4096,
            seconds: 1.0,
        }
    }

    /// Serves orders of (lead, units); the slices and the report.
    fn served(spec: &KernelSpec, orders: &[(u64, u64)]) -> (Vec<gate::Slice>, KernelReport) {
        let line = |(lead, units): &(u64, u64)| format!("{{\"units\":{units},\"lead\":{lead}}}\n");
        let orders: String = orders.iter().map(line).collect();
        let mut answers = Vec::new();
        let report = crate::serve(spec, &mut orders.as_bytes(), &mut answers).unwrap();
        let lines = std::str::from_utf8(&answers).unwrap().lines().skip(1);
        (
            lines.map(|line| serde_json::from_str(line).unwrap()).collect(),
            report,
        )
    }

    #[test]
    fn answers_are_right_whatever_the_slices_the_level_and_the_threads() {
        let orders = [(0, 1), (1, 7), (3, 1000), (0, 2), (11, 64), (0, 16)];
        for isa in isa::granted() {
            for (threads, pages) in [(1, 1), (1, 7), (1, 64), (2, 129), (3, 3), (3, 100)] {
                let spec = spec(isa.level(), threads, pages);
                let report = served(&spec, &orders).1;
                assert!(report.check.passed(), "{spec:?}: {:?}", report.check);
                assert!(served(&spec, &orders[..1]).1.check.passed());
            }
        }
    }

    #[test]
    fn answers_stay_right_when_each_array_has_got_other_pages() {
        let orders = vec![(2, 50); 2 * 3 * RENEWED_AFTER];
        for (threads, pages) in [(1, 1), (1, 1000), (3, 100)] {
            let report = served(&spec(Isa::Baseline, threads, pages), &orders).1;
            assert!(report.check.passed(), "{threads} x {pages}: {:?}", report.check);
        }
    }

    #[test]
    fn every_loop_does_every_unit_in_every_thread() {
        for threads in [1, 2, 3] {
            let (slices, _) = served(&spec(Isa::Baseline, threads, 65), &[(5, 3), (0, 100)]);
            for (slice, units) in slices.iter().zip([3.0, 100.0]) {
                let works: Vec<_> = slice.parts.iter().map(|part| part.work).collect();
                let page = 512.0 * units * f64::from(threads);
                assert_eq!(works, [16.0, 16.0, 24.0, 24.0].map(|bytes| bytes * page));
                assert!(slice.parts.iter().all(|part| part.wall_ns > 0 && part.cpu_ns > 0));
            }
        }
    }

    #[test]
    fn senseless_sizes_and_threads_are_refused() {
        let refused = |spec| crate::serve(&spec, &mut b"".as_slice(), &mut Vec::new()).unwrap_err();
        let error = refused(spec(Isa::Baseline, 2, 1));
        assert!(matches!(error, KernelError::Size { .. }), "{error}");
        let error = refused(spec(Isa::Baseline, 0, 1));
        assert!(matches!(error, KernelError::Threads(0)), "{error}");
    }
}
