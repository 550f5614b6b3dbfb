//! One thread of the loops in slices.

use super::arrays::{PAGE, ThreadShare, Values};
use super::loops::Loop;
use super::meeting::Meeting;
use super::span::Span;
use super::tally::{Stretch, Tally};
use super::track::Track;
use crate::clock;
use crate::isa::Granted;
use crate::report::worse;
use std::sync::mpsc::Receiver;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What all threads do at a time.
#[derive(Debug, Clone, Copy)]
pub enum Job {
    SetUp,
    Work { units: u64 },
    Check,
}

/// What all threads know.
pub struct Shared {
    pub isa: Granted,
    pub threads: u32,
    /// Pages that a loop goes through at most before it is the next one's turn.
    stride: usize,
    meeting: Meeting,
    tally: Mutex<Tally>,
}

impl Shared {
    pub fn new(isa: Granted, threads: u32, stride: usize) -> Self {
        Self {
            isa,
            threads,
            stride,
            meeting: Meeting::new(threads),
            tally: Mutex::new(Tally::new(threads)),
        }
    }

    pub fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One thread, its part and how far it is.
pub struct Worker<'a> {
    part: ThreadShare<'a>,
    track: Track,
    units: u64,
    shared: &'a Shared,
}

impl<'a> Worker<'a> {
    pub fn new(part: ThreadShare<'a>, shared: &'a Shared) -> Self {
        let pages = part.len() / PAGE;
        Self {
            part,
            track: Track { pages },
            units: 0,
            shared,
        }
    }

    /// Does what is ordered until nobody orders any more.
    pub fn serve(mut self, jobs: Receiver<Job>) {
        for job in jobs {
            self.carry_out(job);
        }
    }

    /// Ends when all have done it.
    pub fn carry_out(&mut self, job: Job) {
        match job {
            Job::SetUp => self.set_up(),
            Job::Work { units } => self.work(units),
            Job::Check => {
                let error = self.error();
                self.shared.tally().note(error);
            }
        }
        self.shared.meeting.wait();
    }

    /// Fills all pages as a pass would leave them, and each as far into the next one as
    /// the loops will find it: the loops themselves would take an emulated CPU seconds.
    fn set_up(&mut self) {
        self.for_pages_alike(|mut part, values| part.fill(values));
    }

    #[expect(clippy::cast_possible_truncation, reason = "no more than a stride")]
    fn work(&mut self, units: u64) {
        let end = self.units.saturating_add(units);
        while self.units < end {
            let pages = (end - self.units).min(self.shared.stride as u64) as usize;
            let stretches = Loop::ALL.map(|which| self.timed(which, pages));
            self.shared.tally().merge(stretches);
            self.units += pages as u64;
        }
    }

    fn timed(&mut self, which: Loop, pages: usize) -> Stretch {
        let start = self.track.place(which, self.units);
        self.shared.meeting.wait();
        let cpu_ns = clock::thread_cpu_ns();
        let start_ns = clock::now_ns();
        self.go_round(which, start, pages);
        let end_ns = clock::now_ns();
        Stretch {
            span: Span { start_ns, end_ns },
            cpu_ns: clock::thread_cpu_ns().saturating_sub(cpu_ns),
        }
    }

    /// So many pages from `start` on; after the last comes the first.
    fn go_round(&mut self, which: Loop, start: usize, pages: usize) {
        let end = (start + pages).min(self.track.pages);
        let rest = start + pages - end;
        self.part.pages(start..end).run(which, self.shared.isa);
        self.part.pages(0..rest).run(which, self.shared.isa);
    }

    /// The largest relative error of any element.
    fn error(&mut self) -> f64 {
        let mut error = 0.0;
        self.for_pages_alike(|part, expected| error = worse(error, part.error(expected)));
        error
    }

    /// Does something with each run of pages that have been through as many loops, and
    /// with what their elements must be.
    fn for_pages_alike(&mut self, mut act: impl FnMut(ThreadShare<'_>, &Values)) {
        let mut start = 0;
        while start < self.track.pages {
            let loops = self.loops(start);
            let alike = (start..self.track.pages).take_while(|page| self.loops(*page) == loops);
            let end = start + alike.count();
            act(
                self.part.pages(start..end),
                &Values::after_loops(loops, self.shared.isa),
            );
            start = end;
        }
    }

    /// Loops that a page has been through.
    fn loops(&self, page: usize) -> u64 {
        let set_up = Loop::ALL.len() + self.track.loops_before(page);
        set_up as u64 + self.track.loops_met(page, self.units)
    }
}

#[cfg(test)]
mod tests {
    use super::super::arrays::Arrays;
    use super::*;
    use crate::isa;

    #[test]
    fn one_wrong_element_of_any_array_is_noticed() {
        let shared = Shared::new(isa::granted()[0], 1, 4);
        let mut arrays = Arrays::new(19).unwrap();
        let mut worker = Worker::new(arrays.parts(1).remove(0), &shared);
        worker.carry_out(Job::SetUp);
        worker.carry_out(Job::Work { units: 31 });
        assert!(worker.error() <= 1e-13);
        for page in [0, 7, 11, 18] {
            for bad in [f64::NAN, f64::INFINITY, 1.0 + 1e-10] {
                for i in 0..3 {
                    let mut damaged = worker.part.pages(page..page + 1);
                    let element = &mut damaged.arrays_mut()[i][300];
                    let right = std::mem::replace(element, *element * bad);
                    let error = worker.error();
                    assert!(error.is_nan() || error > 1e-13, "{page}, {i}: {error}");
                    worker.part.pages(page..page + 1).arrays_mut()[i][300] = right;
                }
            }
        }
        assert!(worker.error() <= 1e-13);
    }

    #[test]
    fn pages_that_a_loop_left_out_are_noticed() {
        let shared = Shared::new(isa::granted()[0], 1, 4);
        let mut arrays = Arrays::new(16).unwrap();
        let mut worker = Worker::new(arrays.parts(1).remove(0), &shared);
        worker.carry_out(Job::SetUp);
        worker.carry_out(Job::Work { units: 3 });
        worker.units += 1;
        assert!(worker.error() > 1e-3);
    }
}
