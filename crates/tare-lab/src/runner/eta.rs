//! How long the rest of a run takes: the plan's estimate, corrected by what was seen.

use std::time::{Duration, Instant};
use tare_study::plan::Cost;

/// Time and trials so far, and what is expected of the rest.
#[derive(Debug)]
pub(super) struct Eta {
    /// What the plan says that one trial takes, with its share of the boxes, in seconds.
    planned: f64,
    /// What the plan says of limit checks that were not made yet, in seconds.
    checks: f64,
    /// What one of them takes by the plan.
    check: f64,
    /// Seconds and trials of the blocks that have ended, without limit checks.
    ended: (f64, f64),
    /// The block under way.
    block: Option<Block>,
}

#[derive(Debug)]
struct Block {
    begun: Instant,
    /// Trials that it has to run.
    trials: u32,
    /// Trials of the run that were done when it began.
    done_before: u32,
    /// Time that limit checks took in it.
    checks: Duration,
}

impl Eta {
    /// By the plan of a run with so many kinds of box.
    pub fn of(cost: &Cost, kinds: usize) -> Self {
        let per = |seconds: f64, of: f64| seconds / of.max(1.0);
        let kinds = f64::from(u32::try_from(kinds).unwrap_or(u32::MAX));
        Self {
            planned: per(
                cost.block_seconds * f64::from(cost.blocks),
                f64::from(cost.trials),
            ),
            checks: cost.once_seconds,
            check: per(cost.once_seconds, kinds),
            ended: (0.0, 0.0),
            block: None,
        }
    }

    /// A block with so many trials to run begins, when so many of the run are done.
    pub fn block(&mut self, trials: usize, done: u32) {
        self.block = Some(Block {
            begun: Instant::now(),
            trials: u32::try_from(trials).unwrap_or(u32::MAX),
            done_before: done,
            checks: Duration::ZERO,
        });
    }

    /// The block under way ended, when so many trials of the run are done. Seconds that it took, without limit checks.
    pub fn end_block(&mut self, done: u32) -> Option<f64> {
        let block = self.block.take()?;
        let seconds = block.seconds();
        self.ended.0 += seconds;
        self.ended.1 += block.done(done);
        Some(seconds)
    }

    /// Seconds that a block of so many trials takes by the plan.
    pub fn planned(&self, trials: u32) -> f64 {
        self.planned * f64::from(trials)
    }

    /// The limits of a kind of box are known, which took so long.
    pub fn checked(&mut self, took: Duration) {
        self.checks = (self.checks - self.check).max(0.0);
        if let Some(block) = &mut self.block {
            block.checks += took;
        }
    }

    /// Seconds that a run of so many trials will still take, of which so many are done.
    pub fn seconds(&self, total: u32, done: u32) -> f64 {
        let trials = f64::from(total.saturating_sub(done));
        let (seconds, ended) = self.ended;
        let before = if ended > 0.0 {
            seconds / ended
        } else {
            self.planned
        };
        let Some(block) = &self.block else {
            return trials * before + self.checks;
        };
        // Boxes are made at the beginning of a block: what it took so far tells nothing of one
        // trial by itself. It counts with what the rest of the block is expected to take.
        let rest = (f64::from(block.trials) - block.done(done)).clamp(0.0, trials);
        let seen = ended + block.done(done) + rest;
        let per_trial = if seen > 0.0 {
            (seconds + block.seconds() + rest * before) / seen
        } else {
            before
        };
        rest * before + (trials - rest) * per_trial + self.checks
    }
}

impl Block {
    /// Time since it began, in seconds, without limit checks.
    fn seconds(&self) -> f64 {
        self.begun.elapsed().saturating_sub(self.checks).as_secs_f64()
    }

    /// Trials of it that are done.
    fn done(&self, done: u32) -> f64 {
        f64::from(done.saturating_sub(self.done_before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 blocks of 8 trials, of 4 s each, and checks of 2 kinds that take 3 s each.
    fn planned() -> Eta {
        let cost = Cost {
            blocks: 10,
            trials: 80,
            boxes: 20,
            seconds: 46.0,
            once_seconds: 6.0,
            block_seconds: 4.0,
            least_block_seconds: 2.0,
            bytes: 0,
        };
        Eta::of(&cost, 2)
    }

    /// Lets the block under way have begun so long ago.
    fn since(eta: &mut Eta, seconds: f64) {
        let block = eta.block.as_mut().unwrap();
        block.begun = Instant::now()
            .checked_sub(Duration::from_secs_f64(seconds))
            .unwrap();
    }

    fn about(seconds: f64, expected: f64) {
        assert!((seconds - expected).abs() < 0.05, "{seconds} for {expected}");
    }

    #[test]
    fn before_anything_was_seen_the_plan_holds() {
        let mut eta = planned();
        about(eta.seconds(80, 0), 46.0);
        eta.block(8, 0);
        about(eta.seconds(80, 0), 46.0);
    }

    #[test]
    fn boxes_that_take_long_to_make_count_once_in_a_block_and_not_for_each_trial() {
        let mut eta = planned();
        eta.block(8, 0);
        // Of the block's 4 s, 3 go by before its first trial ends.
        since(&mut eta, 3.0);
        let expected = 7.0 * 0.5 + 72.0 * (3.0 + 3.5) / 8.0 + 6.0;
        about(eta.seconds(80, 1), expected);
        assert!(expected < 1.6 * 43.0);
    }

    #[test]
    fn what_whole_blocks_took_is_what_the_next_ones_take() {
        let mut eta = planned();
        eta.block(8, 0);
        eta.checked(Duration::from_secs(2));
        eta.checked(Duration::from_secs(2));
        since(&mut eta, 12.0);
        eta.end_block(8);
        about(eta.seconds(80, 8), 72.0);
        eta.block(8, 8);
        about(eta.seconds(80, 8), 72.0);
        since(&mut eta, 4.0);
        about(eta.seconds(80, 12), 68.0);
    }

    #[test]
    fn nothing_planned_takes_no_time() {
        let cost = Cost {
            blocks: 0,
            trials: 0,
            boxes: 0,
            seconds: 0.0,
            once_seconds: 0.0,
            block_seconds: 0.0,
            least_block_seconds: 0.0,
            bytes: 0,
        };
        about(Eta::of(&cost, 0).seconds(0, 0), 0.0);
    }
}
