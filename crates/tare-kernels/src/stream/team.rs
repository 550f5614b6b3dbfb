//! The threads and their passes.

use super::arrays::ThreadShare;
use super::loops::Loop;
use super::span::Span;
use crate::aim::Aim;
use crate::clock;
use crate::error::KernelError;
use crate::isa::Granted;
use crate::threads;
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

/// Share of the aim after which setting up stops; what was not reached by then
/// takes no part.
const SET_UP_SHARE: f64 = 1.0;

/// Share of the aim up to which set-up leaves time for a pass that is not timed.
const WARM_UP_SHARE: f64 = 0.3;

/// A timed stretch lasts about so long at least, or barriers and clocks would
/// count: over small arrays a loop is repeated within its stretch. That changes no
/// value, since no loop reads what it writes.
const STRETCH_SECONDS: f64 = 1e-3;

/// What the team did.
#[derive(Debug)]
pub struct Outcome {
    /// Time of each timed stretch, by loop.
    pub seconds: [Vec<f64>; 4],
    /// Times that a loop was repeated in each stretch.
    pub repeats: u32,
    /// Passes that the arrays went through, timed or not.
    pub passes: u64,
    /// Elements of each part that took part at most.
    pub limit: usize,
    /// From the first start of a timed stretch to the last end.
    pub wall_seconds: f64,
}

impl Outcome {
    pub fn timed_passes(&self) -> usize {
        self.seconds[0].len()
    }
}

/// Takes the parts through passes, one thread for each, until the aim is met. The caller's thread is one of them.
pub fn run(parts: Vec<ThreadShare<'_>>, isa: Granted, aim: Aim) -> Result<Outcome, KernelError> {
    let shared = Shared {
        isa,
        barrier: Barrier::new(parts.len()),
        set_up_deadline_ns: aim.deadline_ns(SET_UP_SHARE),
        passes: Mutex::new(Passes::new(aim)),
    };
    thread::scope(|scope| {
        let threads = u32::try_from(parts.len()).unwrap_or(u32::MAX);
        let mut gates = Vec::new();
        for number in 2..=threads {
            // No thread starts to work, and to wait for the others, before all exist.
            let (gate, opened) = mpsc::sync_channel(1);
            let shared = &shared;
            let wait_and_work = move || {
                if let Ok(part) = opened.recv() {
                    work(part, shared);
                }
            };
            threads::start(scope, (number, threads), wait_and_work)?;
            gates.push(gate);
        }
        let mut parts = parts.into_iter();
        let own = parts.next();
        for (gate, part) in gates.into_iter().zip(parts) {
            // Fails only if the thread is gone, which it cannot be.
            let _ = gate.send(part);
        }
        if let Some(part) = own {
            work(part, &shared);
        }
        Ok(())
    })?;
    Ok(shared
        .passes
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .outcome)
}

struct Shared {
    isa: Granted,
    barrier: Barrier,
    set_up_deadline_ns: u64,
    passes: Mutex<Passes>,
}

impl Shared {
    fn passes(&self) -> MutexGuard<'_, Passes> {
        self.passes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for all threads; one of them then does `step` while they wait.
    fn step_together(&self, step: impl FnOnce(&mut Passes)) {
        if self.barrier.wait().is_leader() {
            step(&mut self.passes());
        }
        self.barrier.wait();
    }
}

/// One thread's work.
fn work(mut part: ThreadShare<'_>, shared: &Shared) {
    let set_up = part.set_up(shared.isa, shared.set_up_deadline_ns);
    if set_up < part.len() {
        shared.passes().limit_to(set_up);
    }
    shared.step_together(Passes::begin);
    part.truncate(shared.passes().outcome.limit);
    loop {
        let Some(repeats) = shared.passes().next_repeats() else {
            return;
        };
        let spans = Loop::ALL.map(|which| timed(which, repeats, &mut part, shared));
        shared.passes().merge(spans);
        shared.step_together(Passes::end_pass);
    }
}

fn timed(which: Loop, repeats: u32, part: &mut ThreadShare<'_>, shared: &Shared) -> Span {
    shared.barrier.wait();
    let start_ns = clock::now_ns();
    for _ in 0..repeats {
        part.run(which, shared.isa);
    }
    let end_ns = clock::now_ns();
    Span { start_ns, end_ns }
}

/// What has been done and what comes next; everything here happens between
/// timed stretches.
struct Passes {
    aim: Aim,
    /// Of the pass under way, all threads together.
    spans: [Span; 4],
    warming_up: bool,
    over: bool,
    /// Start of the first timed stretch.
    first_ns: u64,
    outcome: Outcome,
}

impl Passes {
    fn new(aim: Aim) -> Self {
        Self {
            aim,
            spans: [Span::EMPTY; 4],
            warming_up: true,
            over: false,
            first_ns: u64::MAX,
            outcome: Outcome {
                seconds: [const { Vec::new() }; 4],
                repeats: 1,
                // Setting up is one.
                passes: 1,
                limit: usize::MAX,
                wall_seconds: 0.0,
            },
        }
    }

    /// A thread could set up only so many elements: no thread uses more.
    fn limit_to(&mut self, len: usize) {
        self.outcome.limit = self.outcome.limit.min(len);
    }

    fn begin(&mut self) {
        self.warming_up = !self.aim.passed(WARM_UP_SHARE);
    }

    /// How often a loop is repeated in the next pass; `None` after the last.
    fn next_repeats(&self) -> Option<u32> {
        (!self.over).then_some(self.outcome.repeats)
    }

    fn merge(&mut self, spans: [Span; 4]) {
        for (all, one) in self.spans.iter_mut().zip(spans) {
            *all = all.merge(one);
        }
    }

    fn end_pass(&mut self) {
        let spans = std::mem::replace(&mut self.spans, [Span::EMPTY; 4]);
        self.outcome.passes += 1;
        if self.warming_up {
            self.warming_up = false;
            self.outcome.repeats = repeats(spans);
            return;
        }
        for (all, span) in self.outcome.seconds.iter_mut().zip(spans) {
            all.push(clock::seconds(span.ns()));
        }
        let [first, .., last] = spans;
        self.first_ns = self.first_ns.min(first.start_ns);
        self.outcome.wall_seconds = clock::seconds(last.end_ns - self.first_ns);
        self.over = self.aim.is_met(self.outcome.wall_seconds);
    }
}

/// Repetitions that make the shortest stretch long enough.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number, at most 1e6"
)]
fn repeats(spans: [Span; 4]) -> u32 {
    let shortest = spans.into_iter().map(Span::ns).min().unwrap_or(0);
    (STRETCH_SECONDS / clock::seconds(shortest.max(1)))
        .ceil()
        .max(1.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start_ms: u64, end_ms: u64) -> Span {
        Span {
            start_ns: start_ms * 1_000_000,
            end_ns: end_ms * 1_000_000,
        }
    }

    #[test]
    fn a_pass_lasts_from_the_first_start_to_the_last_end() {
        let mut passes = Passes::new(Aim::begin(1.0));
        passes.warming_up = false;
        // Two threads; the second starts and ends later.
        passes.merge([span(0, 10), span(20, 30), span(40, 50), span(60, 70)]);
        passes.merge([span(5, 18), span(21, 30), span(40, 49), span(61, 75)]);
        passes.end_pass();
        let seconds = passes.outcome.seconds.clone().map(|s| (s[0] * 1e3).round());
        assert_eq!(seconds, [18.0, 10.0, 10.0, 15.0]);
        assert!((passes.outcome.wall_seconds - 0.075).abs() < 1e-9);
    }

    #[test]
    fn the_first_pass_is_not_timed_and_sets_the_repetitions() {
        let mut passes = Passes::new(Aim::begin(1.0));
        passes.begin();
        passes.merge([span(0, 1); 4]);
        passes.end_pass();
        assert_eq!(passes.outcome.timed_passes(), 0);
        assert_eq!(passes.next_repeats(), Some(1));
        assert_eq!(
            repeats(
                [Span {
                    start_ns: 0,
                    end_ns: 3000
                }; 4]
            ),
            334
        );
        assert_eq!(repeats([span(0, 0); 4]), 1_000_000);
    }

    #[test]
    fn a_slow_set_up_leaves_no_time_for_a_warm_up() {
        // An aim of which that share has passed by now.
        let mut passes = Passes::new(Aim::begin(0.0));
        passes.begin();
        assert!(!passes.warming_up);
    }
}
