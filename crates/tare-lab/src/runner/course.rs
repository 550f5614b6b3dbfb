//! The course of a run: which blocks and cells are left, the warm-up before them,
//! the looks between them.

use super::{Event, RunError, Runner, Stop};
use crate::plan::{self, Stand};
use std::time::{Duration, Instant};
use tare_model::looks::WarmUpRecord;
use tare_model::results::{EndReason, Record};

impl Runner<'_> {
    /// Whether what is to be compared is not: each trial that failed was tried twice.
    fn is_fruitless(&self) -> bool {
        let wanted = self.study.platforms.len().min(2);
        self.succeeded.len() < wanted
    }

    /// Runs every block that is not done.
    pub(super) fn blocks(&mut self) -> Result<EndReason, RunError> {
        let mut longest = Duration::ZERO;
        let mut warm = false;
        for block in 0..self.study.protocol.blocks {
            let stands = self.due(block);
            if stands.is_empty() {
                self.look_after(block)?;
                continue;
            }
            if !warm {
                if let Err(stop) = self.warm_up(block) {
                    return stop.into_end();
                }
                // The budget is for what counts.
                self.begun = Instant::now();
                warm = true;
            }
            if self
                .study
                .protocol
                .budget_seconds
                .is_some_and(|budget| (self.begun.elapsed() + longest).as_secs_f64() > budget)
            {
                return Ok(EndReason::BudgetSpent);
            }
            if self.renewal.is_some_and(|blocks| block.is_multiple_of(blocks)) {
                self.destroy_kept()?;
            }
            let begun = Instant::now();
            let due = stands.iter().flat_map(Stand::trials);
            let due = due.filter(|t| !self.progress.is_done(t.trial)).count();
            self.left.block(due, self.progress.n_done());
            let remaining_seconds = self.remaining(self.progress.n_done());
            (self.observe)(Event::Block {
                block,
                blocks: self.study.protocol.blocks,
                remaining_seconds,
            });
            if let Err(stop) = self.block(&stands) {
                return stop.into_end();
            }
            self.left.end_block(self.progress.n_done());
            // What an earlier session has of the block is not counted here.
            let is_whole = due == self.study.cells().len();
            if block == 0 && is_whole && self.is_fruitless() {
                return Ok(EndReason::Fruitless);
            }
            self.look_after(block)?;
            self.writer.sync_if_due()?;
            longest = longest.max(begun.elapsed());
        }
        Ok(self.end_of_blocks())
    }

    /// The stands of a block with the cells that still run; none if nothing of it
    /// is left to do.
    fn due(&self, block: u32) -> Vec<Stand> {
        if self.looks.as_ref().is_some_and(|looks| looks.is_past(block)) {
            return Vec::new();
        }
        let stands = self.stands(block, block);
        let is_done = |stand: &Stand| stand.trials().all(|t| self.progress.is_done(t.trial));
        if stands.iter().all(is_done) {
            return Vec::new();
        }
        stands
    }

    /// The stands in the order of one block, without the cells that have left before
    /// another.
    fn stands(&self, order: u32, block: u32) -> Vec<Stand> {
        let mut stands = (self.plan)(order);
        if let Some(looks) = &self.looks {
            for group in stands.iter_mut().flat_map(|stand| &mut stand.groups) {
                group.trials.retain(|t| looks.runs(&t.cell, block));
                group.partners.retain(|cell| looks.runs(cell, block));
            }
        }
        stands
    }

    /// Trials of the whole run, if no more cells leave.
    pub(super) fn planned(&self) -> u32 {
        let cells = self.study.cells();
        let Some(looks) = &self.looks else {
            return plan::trials_per_block(self.study).saturating_mul(self.study.protocol.blocks);
        };
        let of_block = |block| cells.iter().filter(|cell| looks.runs(cell, block)).count();
        let trials: usize = (0..self.study.protocol.blocks).map(of_block).sum();
        u32::try_from(trials).unwrap_or(u32::MAX)
    }

    /// Takes the look that is due when this block is done, if one is.
    fn look_after(&mut self, block: u32) -> Result<(), RunError> {
        let Some(taken) = self.looks.as_mut().and_then(|looks| looks.take(block + 1)) else {
            return Ok(());
        };
        self.total = self.planned();
        (self.observe)(Event::Looked(&taken));
        self.writer.append(&Record::Look(taken))?;
        Ok(())
    }

    fn end_of_blocks(&self) -> EndReason {
        match &self.looks {
            None => EndReason::Complete,
            Some(looks) if looks.all_settled() => EndReason::Settled,
            Some(_) => EndReason::BudgetSpent,
        }
    }

    /// Blocks of the run, where they are more than its file was to have.
    pub(super) fn more_blocks(&self) -> Option<u32> {
        let planned = self.progress.planned?;
        (self.study.protocol.blocks > planned).then_some(self.study.protocol.blocks)
    }

    /// Runs blocks for as long as the study says before `block` and tells of them in
    /// one record.
    fn warm_up(&mut self, block: u32) -> Result<(), Stop> {
        let seconds = self.study.protocol.warm_up_seconds;
        if seconds <= 0.0 {
            return Ok(());
        }
        (self.observe)(Event::WarmingUp(seconds));
        self.warming = Some(WarmUpRecord::default());
        let begun = Instant::now();
        let ended = self.unrecorded(block, || begun.elapsed().as_secs_f64() >= seconds);
        let ran = self.warming.take().unwrap_or_default();
        self.writer.append(&Record::WarmUp(WarmUpRecord {
            seconds: begun.elapsed().as_secs_f64(),
            ..ran
        }))?;
        ended
    }

    fn unrecorded(&mut self, block: u32, long_enough: impl Fn() -> bool) -> Result<(), Stop> {
        for order in (block..self.study.protocol.blocks).cycle() {
            let before = self.warming;
            for stand in &self.stands(order, block) {
                if long_enough() {
                    return Ok(());
                }
                self.stand(stand, 0)?;
            }
            if self.warming == before {
                // Nothing can run here: waiting would warm nothing.
                break;
            }
        }
        Ok(())
    }
}

impl Stop {
    /// What an unfinished block means for the run.
    fn into_end(self) -> Result<EndReason, RunError> {
        match self {
            Self::Interrupted => Ok(EndReason::Interrupted),
            Self::Error(e) => Err(e),
        }
    }
}
