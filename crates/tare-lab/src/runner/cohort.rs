//! A cohort: boxes side by side, and the groups of trials that run in them one after
//! another.

use super::baselines::{is_spoiled, put_off, shadow_baselines};
use super::bench::Bench;
use super::boxes::Obtain;
use super::recorder::Ended;
use super::{Event, Runner, Stop, duty_cycling, peak, sliced, throttle, whole_trial};
use tare_host::interrupt;
use tare_model::results::Outcome;
use tare_model::study::{BoxKind, Cell, Study};
use tare_study::plan::{Cohort, Group, PlannedTrial};

/// Passes over a block at most.
const PASSES: u32 = 3;

impl Runner<'_> {
    /// The cohorts in their order, then what failed in them once more. What was put off
    /// is first tried in the second pass, and what of it fails has the third.
    pub(super) fn block(&mut self, cohorts: &[Cohort]) -> Result<(), Stop> {
        for pass in 0..PASSES {
            for cohort in cohorts {
                self.cohort(cohort, pass)?;
            }
        }
        Ok(())
    }

    /// The groups of a cohort, in boxes that live as long as it does.
    pub(super) fn cohort(&mut self, cohort: &Cohort, pass: u32) -> Result<(), Stop> {
        let outcome = self.groups_of(cohort, pass);
        for held in std::mem::take(&mut self.bench.live).into_values() {
            // Also after an interruption or an error: no box outlives its cohort unless it is kept.
            self.bench.boxes.put_away(held, &mut self.bench.recorder)?;
        }
        outcome
    }

    fn groups_of(&mut self, cohort: &Cohort, pass: u32) -> Result<(), Stop> {
        for group in &cohort.groups {
            let mut due = self.due_of(group, pass)?;
            if due.is_empty() {
                continue;
            }
            let mut shadow_baselines =
                shadow_baselines((self.bench.study, &self.bench.boxes.refused), group, &due);
            shadow_baselines.retain(|cell| self.bench.boxes.unpinned(&cell.kind).is_none());
            let wanted = due.iter().map(|planned| &planned.cell).chain(&shadow_baselines);
            let wanted = wanted.cloned().collect();
            for kind in &cohort.kinds {
                self.raise(kind, &mut due, &shadow_baselines)?;
            }
            due.retain(|planned| self.bench.live.contains_key(&planned.cell.kind));
            let workload = due
                .first()
                .and_then(|planned| self.bench.study.workload(&planned.cell));
            for held in self.bench.live.values_mut() {
                held.end_standing(workload.as_ref());
            }
            let bench = &mut self.bench;
            if bench.study.protocol.slicing.is_off() || is_whole(bench.study, &due) {
                peak::find_peaks(bench, &mut due)?;
                whole_trial::measure(bench, &due)?;
                continue;
            }
            throttle::probe_quotas(bench, &mut due)?;
            if pass == 0 {
                let known = (bench.study, &bench.boxes.refused);
                put_off(known, &mut due, &shadow_baselines, &wanted, &bench.live);
            }
            self.side_by_side(due, shadow_baselines, pass)?;
        }
        Ok(())
    }

    /// Runs trials side by side with these shadow baselines; those that a quota throttles
    /// follow in one piece.
    fn side_by_side(
        &mut self,
        due: Vec<PlannedTrial>,
        shadow_baselines: Vec<Cell>,
        pass: u32,
    ) -> Result<(), Stop> {
        if due.is_empty() {
            return Ok(());
        }
        let bench = &mut self.bench;
        bench.rest()?;
        bench.boxes.find_idle_use(&bench.live, &mut bench.paces.freezes)?;
        let is_throttled = |planned: &PlannedTrial| bench.paces.is_throttled(&planned.cell);
        let (whole, sliced): (Vec<_>, Vec<_>) = due.into_iter().partition(is_throttled);
        let in_turns = duty_cycling::are_taken(bench, &sliced)?;
        bench.recorder.observe(Event::SideBySide(&sliced));
        let mut arms = bench.arms(sliced, shadow_baselines);
        if arms.iter().any(|arm| !arm.is_shadow) {
            let measured = if in_turns {
                duty_cycling::measure(bench, &mut arms, pass)?
            } else {
                sliced::measure(bench, &mut arms, pass)?
            };
            bench.judge(&mut arms, &measured)?;
            let spoiled = is_spoiled(bench.study, &arms, pass);
            let (group, trials) = measured.told(&arms, bench.recorder.next_group(), spoiled);
            bench.recorder.record_group(group, trials)?;
        }
        whole_trial::measure(bench, &whole)
    }

    /// The trials of a group that are to be run now; what cannot run is recorded as such.
    fn due_of(&mut self, group: &Group, pass: u32) -> Result<Vec<PlannedTrial>, Stop> {
        let Bench { boxes, recorder, .. } = &mut self.bench;
        let mut due = Vec::new();
        for planned in &group.trials {
            if !recorder.is_due(planned, pass) || boxes.refused.contains(&planned.cell.kind) {
                continue;
            }
            if interrupt::requested() {
                return Err(Stop::Interrupted);
            }
            match boxes.cannot_run(planned) {
                Some(failure) => recorder.record(planned, Ended::without_box(Outcome::Skipped(failure)))?,
                None => due.push(planned.clone()),
            }
        }
        Ok(due)
    }

    /// Has a box of this kind if one is needed; where none can be made, its trials fail.
    pub(super) fn raise(
        &mut self,
        kind: &BoxKind,
        due: &mut Vec<PlannedTrial>,
        shadow_baselines: &[Cell],
    ) -> Result<(), Stop> {
        let mut own = due.iter().filter(|planned| planned.cell.kind == *kind);
        let is_needed = own.next().is_some() || shadow_baselines.iter().any(|cell| cell.kind == *kind);
        if !is_needed || self.bench.live.contains_key(kind) {
            return Ok(());
        }
        if interrupt::requested() {
            return Err(Stop::Interrupted);
        }
        let block = due.first().map_or(0, |planned| planned.block);
        let Bench {
            boxes,
            recorder,
            live,
            ..
        } = &mut self.bench;
        match boxes.obtain(kind, block, recorder) {
            Ok(Some(held)) => {
                live.insert(kind.clone(), held);
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(Obtain::Stop(stop)) => Err(stop),
            Err(Obtain::Failed(failure)) => {
                let mut failed = due.extract_if(.., |planned| planned.cell.kind == *kind);
                failed.try_for_each(|planned| {
                    let outcome = Outcome::Failed(failure.clone());
                    Ok(recorder.record(&planned, Ended::without_box(outcome))?)
                })
            }
        }
    }
}

/// Whether these run in one piece.
fn is_whole(study: &Study, due: &[PlannedTrial]) -> bool {
    let workload = due.first().and_then(|planned| study.workload(&planned.cell));
    workload.is_some_and(|workload| workload.is_whole())
}
