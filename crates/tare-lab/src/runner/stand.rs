//! A stand: boxes side by side, and the groups of trials that run in them one after
//! another.

use super::boxes::Obtain;
use super::held::Present;
use super::recorder::Ended;
use super::{Runner, Stop};
use crate::plan::{Group, PlannedTrial, Stand};
use tare_host::interrupt;
use tare_model::results::Outcome;
use tare_model::study::{BoxKind, Cell};

/// Passes over a block at most.
const PASSES: u32 = 3;

impl Runner<'_> {
    /// The stands in their order, then what failed in them once more. What was put off
    /// is first tried in the second pass, and what of it fails has the third.
    pub(super) fn block(&mut self, stands: &[Stand]) -> Result<(), Stop> {
        for pass in 0..PASSES {
            for stand in stands {
                self.stand(stand, pass)?;
            }
        }
        Ok(())
    }

    /// The groups of a stand, in boxes that live as long as it does.
    pub(super) fn stand(&mut self, stand: &Stand, pass: u32) -> Result<(), Stop> {
        let mut present = Present::new();
        let outcome = self.groups_of(stand, pass, &mut present);
        for held in present.into_values() {
            // Also after an interruption or an error: no box outlives its stand unless it is kept.
            self.boxes.put_away(held, &mut self.recorder)?;
        }
        outcome
    }

    fn groups_of(&mut self, stand: &Stand, pass: u32, present: &mut Present) -> Result<(), Stop> {
        for group in &stand.groups {
            let mut due = self.due_of(group, pass)?;
            if due.is_empty() {
                continue;
            }
            let partners = self.partners(group, &due);
            let wanted = due.iter().map(|planned| &planned.cell).chain(&partners);
            let wanted = wanted.cloned().collect();
            for kind in &stand.kinds {
                self.raise(kind, &mut due, &partners, present)?;
            }
            due.retain(|planned| present.contains_key(&planned.cell.kind));
            if self.study.protocol.slicing.is_off() || self.is_whole(&due) {
                self.find_peaks(&mut due, present)?;
                self.pieces(&due, present)?;
                continue;
            }
            self.probe_quotas(&mut due, present)?;
            if pass == 0 {
                self.put_off(&mut due, &partners, &wanted, present);
            }
            self.side_by_side(due, partners, pass, present)?;
        }
        Ok(())
    }

    /// Whether these run in one piece: what they print is read, or they are an open loop.
    fn is_whole(&self, due: &[PlannedTrial]) -> bool {
        let workload = due.first().and_then(|planned| self.study.workload(&planned.cell));
        workload.is_some_and(|workload| workload.is_read() || workload.is_open_loop())
    }

    /// The trials of a group that are to be run now; what cannot run is recorded as such.
    fn due_of(&mut self, group: &Group, pass: u32) -> Result<Vec<PlannedTrial>, Stop> {
        let mut due = Vec::new();
        for planned in &group.trials {
            if !self.recorder.is_due(planned, pass) || self.boxes.refused.contains(&planned.cell.kind) {
                continue;
            }
            if interrupt::requested() {
                return Err(Stop::Interrupted);
            }
            match self.boxes.cannot_run(planned) {
                Some(failure) => self
                    .recorder
                    .record(planned, Ended::without_box(Outcome::Skipped(failure)))?,
                None => due.push(planned.clone()),
            }
        }
        Ok(due)
    }

    /// Has a box of this kind if one is needed; where none can be made, its trials fail.
    fn raise(
        &mut self,
        kind: &BoxKind,
        due: &mut Vec<PlannedTrial>,
        partners: &[Cell],
        present: &mut Present,
    ) -> Result<(), Stop> {
        let mut own = due.iter().filter(|planned| planned.cell.kind == *kind);
        let is_needed = own.next().is_some() || partners.iter().any(|cell| cell.kind == *kind);
        if !is_needed || present.contains_key(kind) {
            return Ok(());
        }
        if interrupt::requested() {
            return Err(Stop::Interrupted);
        }
        let block = due.first().map_or(0, |planned| planned.block);
        match self.boxes.obtain(kind, block, &mut self.recorder) {
            Ok(Some(held)) => {
                present.insert(kind.clone(), held);
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(Obtain::Stop(stop)) => Err(stop),
            Err(Obtain::Failed(failure)) => {
                let (failed, others) = due.drain(..).partition(|planned| planned.cell.kind == *kind);
                *due = others;
                let failed: Vec<PlannedTrial> = failed;
                failed.iter().try_for_each(|planned| {
                    let outcome = Outcome::Failed(failure.clone());
                    Ok(self.recorder.record(planned, Ended::without_box(outcome))?)
                })
            }
        }
    }
}
