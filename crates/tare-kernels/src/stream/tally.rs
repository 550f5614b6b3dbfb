//! What the threads of the loops in slices found, together.

use super::span::Span;
use crate::report::worse;

/// A timed stretch of one loop.
#[derive(Debug, Clone, Copy)]
pub struct Stretch {
    pub span: Span,
    /// CPU time of all its threads.
    pub cpu_ns: u64,
}

impl Stretch {
    const EMPTY: Self = Self {
        span: Span::EMPTY,
        cpu_ns: 0,
    };

    fn merge(self, other: Self) -> Self {
        Self {
            span: self.span.merge(other.span),
            cpu_ns: self.cpu_ns + other.cpu_ns,
        }
    }
}

/// What the threads found.
pub struct Tally {
    threads: u32,
    /// Of the stride under way, by loop.
    stretches: [Stretch; 4],
    /// Threads that have told theirs.
    told: u32,
    /// Wall and CPU time by loop.
    times: [(u64, u64); 4],
    error: f64,
}

impl Tally {
    pub fn new(threads: u32) -> Self {
        Self {
            threads,
            stretches: [Stretch::EMPTY; 4],
            told: 0,
            times: [(0, 0); 4],
            error: 0.0,
        }
    }

    /// Adds what one thread found in a stride. No thread has anything to tell of the
    /// next stride before all have told of this one.
    pub fn merge(&mut self, stretches: [Stretch; 4]) {
        for (all, one) in self.stretches.iter_mut().zip(stretches) {
            *all = all.merge(one);
        }
        self.told += 1;
        if self.told == self.threads {
            self.end_stride();
        }
    }

    fn end_stride(&mut self) {
        let stretches = std::mem::replace(&mut self.stretches, [Stretch::EMPTY; 4]);
        for ((wall_ns, cpu_ns), stretch) in self.times.iter_mut().zip(stretches) {
            *wall_ns += stretch.span.ns();
            *cpu_ns += stretch.cpu_ns;
        }
        self.told = 0;
    }

    /// Wall and CPU time in nanoseconds by loop, since they were last taken.
    pub fn take_times(&mut self) -> [(u64, u64); 4] {
        std::mem::take(&mut self.times)
    }

    /// Notes the largest error that a thread found.
    pub fn note(&mut self, error: f64) {
        self.error = worse(self.error, error);
    }

    pub fn error(&self) -> f64 {
        self.error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(start_ns: u64, end_ns: u64) -> Stretch {
        Stretch {
            span: Span { start_ns, end_ns },
            cpu_ns: end_ns - start_ns,
        }
    }

    #[test]
    fn a_stride_lasts_from_the_first_start_to_the_last_end_and_costs_all_cpu_time() {
        let mut tally = Tally::new(2);
        // Two threads; the second starts and ends later.
        tally.merge([stretch(0, 10), stretch(20, 30), stretch(40, 50), stretch(60, 70)]);
        assert_eq!(tally.take_times(), [(0, 0); 4], "one has not told yet");
        tally.merge([stretch(5, 18), stretch(21, 30), stretch(40, 49), stretch(61, 75)]);
        let times = [(18, 23), (10, 19), (10, 19), (15, 24)];
        assert_eq!(tally.take_times(), times);
        assert_eq!(tally.take_times(), [(0, 0); 4], "they were taken");
    }

    #[test]
    fn strides_add_up() {
        let mut tally = Tally::new(1);
        tally.merge([stretch(0, 10); 4]);
        tally.merge([stretch(100, 103); 4]);
        assert_eq!(tally.take_times(), [(13, 13); 4]);
    }
}
