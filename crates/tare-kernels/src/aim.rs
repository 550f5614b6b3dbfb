//! The time that a run of a kernel is to take.

use crate::clock;

/// Share of the aim that is timed at least, whatever set-up and warm-up took.
const TIMED_SHARE: f64 = 0.5;

/// A time to be met by a whole run: set-up, warm-up and timed work.
#[derive(Debug, Clone, Copy)]
pub struct Aim {
    begun_ns: u64,
    seconds: f64,
}

impl Aim {
    /// An aim that counts from now.
    pub fn begin(seconds: f64) -> Self {
        Self {
            begun_ns: clock::now_ns(),
            seconds,
        }
    }

    /// The time at which this share of the aim will have passed.
    pub fn deadline_ns(&self, share: f64) -> u64 {
        self.begun_ns.saturating_add(clock::nanos(self.seconds * share))
    }

    /// Whether this share of the aim has passed.
    pub fn passed(&self, share: f64) -> bool {
        clock::now_ns() >= self.deadline_ns(share)
    }

    /// Whether the run may end, after so many seconds of timed work.
    pub fn is_met(&self, timed_seconds: f64) -> bool {
        timed_seconds >= self.seconds * TIMED_SHARE && self.passed(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_aim_is_met_when_its_time_has_passed_and_half_of_it_was_timed() {
        let aim = Aim::begin(1.0);
        assert!(!aim.is_met(10.0), "its time has not passed");
        let begun_ns = clock::now_ns() - 2_000_000_000;
        let late = Aim { begun_ns, ..aim };
        assert!(!late.is_met(0.4) && late.is_met(0.5));
        assert!(late.passed(2.0) && !late.passed(3.0));
    }
}
