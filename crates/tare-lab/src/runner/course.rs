//! The course of a run: block by block, with a warm-up before them and looks between them.

use super::{RunError, Runner, Stop};
use std::time::Instant;
use tare_model::results::EndReason;
use tare_study::plan::Cohort;

impl Runner<'_> {
    /// Runs every block that is not done.
    pub(super) fn blocks(&mut self) -> Result<EndReason, RunError> {
        // Seconds of a trial in the last two blocks.
        let mut last_two = [0.0_f64; 2];
        let mut warm = false;
        for block in 0..self.bench.study.protocol.blocks {
            let cohorts = self.due(block);
            if cohorts.is_empty() {
                self.bench.recorder.look_after(block)?;
                continue;
            }
            if !warm {
                if let Err(stop) = self.warm_up(block) {
                    return stop.into_end();
                }
                self.bench.recorder.start_clock();
                warm = true;
            }
            let due = self.bench.recorder.n_due(&cohorts);
            let expected = last_two[0].max(last_two[1]) * trials(due);
            if self.bench.recorder.is_spent(block, expected) {
                return Ok(EndReason::BudgetSpent);
            }
            if self.renewal.is_some_and(|blocks| block.is_multiple_of(blocks)) {
                self.bench.boxes.destroy_kept(&mut self.bench.recorder)?;
            }
            self.bench.recorder.begin_block(block, due);
            if let Err(stop) = self.block(&cohorts) {
                return stop.into_end();
            }
            let took = self.bench.recorder.end_block(block);
            if let Some(program) = self.programs.changed() {
                return Err(RunError::ProgramChanged {
                    program: program.to_owned(),
                    block: block + 1,
                });
            }
            // What an earlier session has of the block is not counted here.
            let is_whole = due == self.bench.study.cells().len();
            if block == 0 && is_whole && self.bench.recorder.is_fruitless() {
                return Ok(EndReason::Fruitless);
            }
            self.bench.recorder.look_after(block)?;
            self.bench.recorder.sync_if_due()?;
            // Of a block in which fewer cells run, as much less is expected.
            last_two = [last_two[1], took / trials(due)];
        }
        Ok(self.bench.recorder.end_of_blocks())
    }

    /// The cohorts of a block with the cells that still run; none if nothing of it
    /// is left to do.
    fn due(&self, block: u32) -> Vec<Cohort> {
        if self.bench.recorder.is_past(block) {
            return Vec::new();
        }
        let cohorts = self.cohorts(block, block);
        match self.bench.recorder.n_due(&cohorts) {
            0 => Vec::new(),
            _ => cohorts,
        }
    }

    /// The cohorts in the order of one block, without the cells that have left before
    /// another.
    fn cohorts(&self, order: u32, block: u32) -> Vec<Cohort> {
        let mut cohorts = (self.plan)(order);
        self.bench.recorder.retain_running(&mut cohorts, block);
        cohorts
    }

    /// Runs blocks for as long as the study says before `block` and tells of them in
    /// one record.
    fn warm_up(&mut self, block: u32) -> Result<(), Stop> {
        let seconds = self.bench.study.protocol.warm_up_seconds;
        if seconds <= 0.0 {
            return Ok(());
        }
        self.bench.recorder.begin_warm_up(seconds);
        let begun = Instant::now();
        let ended = self.unrecorded(block, || begun.elapsed().as_secs_f64() >= seconds);
        self.bench.recorder.end_warm_up(begun.elapsed().as_secs_f64())?;
        ended
    }

    fn unrecorded(&mut self, block: u32, long_enough: impl Fn() -> bool) -> Result<(), Stop> {
        for order in (block..self.bench.study.protocol.blocks).cycle() {
            let before = self.bench.recorder.warming();
            for cohort in &self.cohorts(order, block) {
                if long_enough() {
                    return Ok(());
                }
                self.cohort(cohort, 0)?;
            }
            if self.bench.recorder.warming() == before {
                // Nothing can run here: waiting would warm nothing.
                break;
            }
        }
        Ok(())
    }
}

/// A number of trials, to be divided by.
fn trials(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX)).max(1.0)
}

impl Stop {
    /// What an unfinished block means for the run.
    pub(super) fn into_end(self) -> Result<EndReason, RunError> {
        match self {
            Self::Interrupted => Ok(EndReason::Interrupted),
            Self::Error(e) => Err(e),
        }
    }
}
