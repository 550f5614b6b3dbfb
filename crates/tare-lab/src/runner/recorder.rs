//! What came of trials, into the results file; what of the plan is done by that, and how long the
//! rest takes.

use super::eta::Eta;
use super::{Event, RunError, Summary};
use crate::resume::Progress;
use crate::session::ResultsFile;
use crate::writer::Writer;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use tare_host::host;
use tare_model::finding::Finding;
use tare_model::group::GroupRecord;
use tare_model::looks::WarmUpRecord;
use tare_model::platform::PlatformPath;
use tare_model::results::{EndReason, EndRecord, HostReadings, Outcome, Record, TrialRecord};
use tare_model::study::{Cell, Study};
use tare_study::looks::{FEWEST, Looks, ahead};
use tare_study::plan::{self, Cohort, PlannedTrial};
use tare_study::shares::Shares;

/// A trial that ended, in whatever way.
pub(super) struct Ended {
    pub box_id: Option<u32>,
    /// The group in which it ran slice by slice.
    pub group: Option<u32>,
    /// When it began; `None`: as long ago as it took.
    pub begun_unix_ns: Option<u64>,
    pub findings: Vec<Finding>,
    pub host: Option<HostReadings>,
    pub outcome: Outcome,
}

impl Ended {
    /// One in this box, of which nothing else is known.
    pub fn in_box(id: u32, outcome: Outcome) -> Self {
        Self {
            box_id: Some(id),
            ..Self::without_box(outcome)
        }
    }

    /// One that never got a box.
    pub fn without_box(outcome: Outcome) -> Self {
        Self {
            box_id: None,
            group: None,
            begun_unix_ns: None,
            findings: Vec::new(),
            host: None,
            outcome,
        }
    }
}

/// Blocks after which the noise of rounds is known well enough to tell what will stay open.
const FORESEEN_AFTER: u32 = 2;
/// Part of a budget that blocks before the last leave to it: none takes just what is expected.
const KEPT: f64 = 0.05;

/// Writes records, and tells the observer.
pub(super) struct Recorder<'a> {
    study: &'a Study,
    writer: Writer,
    progress: Progress,
    observe: &'a mut dyn FnMut(Event<'_>),
    /// The state of an adaptive study.
    looks: Option<Looks>,
    /// How the time of a block is shared out among workloads, if it is not the same for each.
    shares: Option<Shares>,
    /// While blocks are not recorded: what was run of them.
    warming: Option<WarmUpRecord>,
    /// Platforms of which a trial of the first block has a result.
    succeeded: BTreeSet<PlatformPath>,
    failed: u32,
    /// Trials of the group under way that have ended and are not recorded yet.
    coming: u32,
    begun: Instant,
    eta: Eta,
    /// Blocks and trials of the whole plan; of an adaptive study those up to its next look.
    ahead: (u32, u32),
}

impl<'a> Recorder<'a> {
    pub fn new(study: &'a Study, file: ResultsFile, eta: Eta, observe: &'a mut dyn FnMut(Event<'_>)) -> Self {
        let ResultsFile {
            writer, mut progress, ..
        } = file;
        let looks = progress.looks.take().or_else(|| Looks::of(study));
        let mut shares = progress.shares.take().or_else(|| Shares::of(study));
        let of_block = eta.planned(plan::trials_per_block(study));
        shares.iter_mut().for_each(|shares| shares.took(of_block));
        Self {
            ahead: ahead(study, looks.as_ref()),
            study,
            writer,
            progress,
            observe,
            looks,
            shares,
            warming: None,
            succeeded: BTreeSet::new(),
            failed: 0,
            coming: 0,
            begun: Instant::now(),
            eta,
        }
    }

    pub fn observe(&mut self, event: Event<'_>) {
        (self.observe)(event);
    }

    /// Writes a record, also while blocks are not recorded.
    pub fn write(&mut self, record: &Record) -> Result<(), RunError> {
        Ok(self.writer.append(record)?)
    }

    /// Writes a record that belongs to recorded blocks only; looks go by it.
    pub fn append(&mut self, record: &Record) -> Result<(), RunError> {
        if self.warming.is_some() {
            return Ok(());
        }
        self.write(record)?;
        match (record, &mut self.looks) {
            (Record::Trial(trial), Some(looks)) => looks.note(trial),
            (Record::Group(group), Some(looks)) => looks.note_group(group),
            _ => {}
        }
        if let (Record::Group(group), Some(shares)) = (record, &mut self.shares) {
            shares.note(group);
        }
        Ok(())
    }

    /// Writes a trial's record and tells of it; while warming up, counts it alone.
    pub fn record(&mut self, planned: &PlannedTrial, ended: Ended) -> Result<(), RunError> {
        if let Some(ran) = &mut self.warming {
            match ended.outcome {
                Outcome::Ok(_) => ran.trials += 1,
                Outcome::Failed(_) => ran.failed += 1,
                Outcome::Skipped(_) => {}
            }
            return Ok(());
        }
        let record = self.as_record(planned, ended);
        self.append(&record)?;
        let Record::Trial(record) = record else {
            return Ok(());
        };
        if matches!(record.outcome, Outcome::Ok(_)) && record.block == 0 {
            self.succeeded.insert(record.cell.kind.platform.clone());
        }
        let failed = matches!(record.outcome, Outcome::Failed(_));
        self.progress.note(&record);
        self.failed += u32::from(failed && self.progress.is_done(planned.trial));
        let done = self.progress.n_done();
        // Those that ended at the same time count as done, or the rest would look long.
        let remaining_seconds = self.remaining(done + self.coming);
        (self.observe)(Event::Trial {
            record: &record,
            done,
            total: self.ahead.1,
            remaining_seconds,
        });
        Ok(())
    }

    fn as_record(&mut self, planned: &PlannedTrial, ended: Ended) -> Record {
        let order = self.progress.orders.entry(planned.block).or_default();
        let wall = ended.host.as_ref().map_or(0, |h| h.wall_ns);
        *order += 1;
        Record::from(TrialRecord {
            trial: planned.trial,
            block: planned.block,
            order: *order - 1,
            attempt: u32::from(self.progress.failed_once(planned.trial)),
            cell: planned.cell.clone(),
            box_id: ended.box_id,
            group: ended.group,
            started_unix_ns: ended
                .begun_unix_ns
                .unwrap_or_else(|| host::unix_ns().saturating_sub(wall)),
            outcome: ended.outcome.brief(),
            findings: ended.findings,
            host: ended.host,
        })
    }

    /// Writes the record of a group, if it has a trial, then those of its trials.
    pub fn record_group(
        &mut self,
        group: Option<GroupRecord>,
        trials: Vec<(PlannedTrial, Ended)>,
    ) -> Result<(), RunError> {
        if let Some(group) = group {
            self.progress.groups += 1;
            self.append(&Record::Group(group))?;
        }
        self.coming = u32::try_from(trials.len()).unwrap_or(u32::MAX);
        for (planned, ended) in trials {
            self.coming -= 1;
            self.record(&planned, ended)?;
        }
        Ok(())
    }

    /// The number of the next group.
    pub fn next_group(&self) -> u32 {
        self.progress.groups
    }

    /// How long a trial of a workload lasts in the block under way, over the time of a trial.
    pub fn share(&self, workload: &str) -> f64 {
        self.shares.as_ref().map_or(1.0, |shares| shares.share(workload))
    }

    /// Whether a trial's first attempt failed and its repetition is due.
    pub fn failed_once(&self, planned: &PlannedTrial) -> bool {
        self.progress.failed_once(planned.trial)
    }

    /// Whether a trial is to be run in this pass over its block.
    pub fn is_due(&self, planned: &PlannedTrial, pass: u32) -> bool {
        let again = self.failed_once(planned);
        self.warming.is_some() || pass > 0 && again || !again && !self.progress.is_done(planned.trial)
    }

    /// Trials of these cohorts that need something more.
    pub fn n_due(&self, cohorts: &[Cohort]) -> usize {
        let trials = cohorts.iter().flat_map(Cohort::trials);
        trials.filter(|t| !self.progress.is_done(t.trial)).count()
    }

    /// Whether no look leaves anything to run in a block.
    pub fn is_past(&self, block: u32) -> bool {
        self.looks.as_ref().is_some_and(|looks| looks.is_past(block))
    }

    /// Leaves out the cells that have left before a block.
    pub fn retain_running(&self, cohorts: &mut [Cohort], block: u32) {
        if let Some(looks) = &self.looks {
            for group in cohorts.iter_mut().flat_map(|cohort| &mut cohort.groups) {
                group.trials.retain(|t| looks.runs(&t.cell, block));
                group.shadow_baselines.retain(|cell| looks.runs(cell, block));
            }
        }
    }

    /// Starts the clock of the budget, which is for what counts.
    pub fn start_clock(&mut self) {
        self.begun = Instant::now();
    }

    /// Whether the budget has no time for a block that would take so many seconds as those before. Up to the first look it
    /// takes less, if need be.
    pub fn is_spent(&self, block: u32, seconds: f64) -> bool {
        let bounded = block >= self.study.protocol.blocks_before_budget;
        let least = self
            .shares
            .as_ref()
            .filter(|_| block > 0 && self.room(block).is_some());
        let seconds = least.map_or(seconds, |shares| seconds.min(shares.least_seconds()));
        bounded && self.budget_left().is_some_and(|left| seconds > left)
    }

    /// Seconds of the budget that are left, if there is one.
    fn budget_left(&self) -> Option<f64> {
        let budget = self.study.protocol.budget_seconds?;
        Some(budget - self.begun.elapsed().as_secs_f64())
    }

    /// How long a block may take for as many to fit into the budget as the first look needs, in seconds.
    fn room(&self, block: u32) -> Option<f64> {
        self.looks.as_ref()?;
        let until_look = FEWEST.checked_sub(block).filter(|blocks| *blocks > 0)?;
        let kept = if until_look > 1 { KEPT } else { 0.0 };
        Some(self.budget_left()? * (1.0 - kept) / f64::from(until_look))
    }

    /// A block begins in which so many trials are due.
    pub fn begin_block(&mut self, block: u32, due: usize) {
        let room = self.room(block);
        let looks = self.looks.as_ref();
        let runs = |cell: &Cell| looks.is_none_or(|looks| looks.runs(cell, block));
        self.shares
            .iter_mut()
            .for_each(|shares| shares.begin_block(block, room, runs));
        let done = self.progress.n_done();
        self.eta.block(due, done);
        let remaining_seconds = self.remaining(done);
        self.observe(Event::Block {
            block,
            blocks: self.ahead.0,
            remaining_seconds,
        });
    }

    /// A block has ended. Seconds that it took, without limit checks, which no later block has.
    pub fn end_block(&mut self, block: u32) -> f64 {
        let seconds = self.eta.end_block(self.progress.n_done()).unwrap_or(0.0);
        if let Some(shares) = &mut self.shares {
            shares.took(seconds);
            if block + 1 == FORESEEN_AFTER {
                self.foresee(seconds);
            }
        }
        seconds
    }

    /// Tells of workloads for which the time of the run will not do, where a block took so many seconds.
    fn foresee(&mut self, block_seconds: f64) {
        let mut noisy = self.shares.as_ref().map(Shares::noisy).unwrap_or_default();
        let before_look = f64::from(FEWEST - FORESEEN_AFTER) * block_seconds;
        let after_look = self.budget_left().map(|left| left - before_look);
        noisy.retain(|of| {
            let more = (of.blocks - f64::from(FEWEST)) * of.block_seconds;
            of.blocks > f64::from(self.study.protocol.blocks) || after_look.is_some_and(|left| more > left)
        });
        if !noisy.is_empty() {
            self.observe(Event::Noisy(&noisy));
        }
    }

    /// The limits of a kind of box are known, which took so long.
    pub fn checked_limits(&mut self, took: Duration) {
        self.eta.checked(took);
    }

    /// Seconds that the rest will take, with so many trials done.
    fn remaining(&self, done: u32) -> f64 {
        let (blocks, trials) = self.ahead;
        let rest = self.eta.seconds(trials, done);
        let bounded = blocks > self.study.protocol.blocks_before_budget;
        let left = self.budget_left().filter(|_| bounded);
        left.map_or(rest, |left| rest.min(left.max(0.0)))
    }

    /// Takes the look that is due when this block is done, if one is.
    pub fn look_after(&mut self, block: u32) -> Result<(), RunError> {
        let Some(taken) = self.looks.as_mut().and_then(|looks| looks.take(block + 1)) else {
            return Ok(());
        };
        self.ahead = ahead(self.study, self.looks.as_ref());
        self.observe(Event::Looked(&taken));
        self.write(&Record::Look(taken))
    }

    pub fn sync_if_due(&mut self) -> Result<(), RunError> {
        Ok(self.writer.sync_if_due()?)
    }

    /// Whether what is to be compared is not: each trial that failed was tried twice.
    pub fn is_fruitless(&self) -> bool {
        let wanted = self.study.platforms.len().min(2);
        self.succeeded.len() < wanted
    }

    /// Why a run ends that has no more blocks.
    pub fn end_of_blocks(&self) -> EndReason {
        match &self.looks {
            None => EndReason::Complete,
            Some(looks) if looks.all_settled() => EndReason::Settled,
            Some(_) => EndReason::BudgetSpent,
        }
    }

    /// Blocks of the run, where they are more than its file was to have.
    pub fn more_blocks(&self) -> Option<u32> {
        let planned = self.progress.planned?;
        (self.study.protocol.blocks > planned).then_some(self.study.protocol.blocks)
    }

    /// What was run so far of blocks that are not recorded, if they are not.
    pub fn warming(&self) -> Option<WarmUpRecord> {
        self.warming
    }

    /// From here on, blocks are not recorded.
    pub fn begin_warm_up(&mut self, seconds: f64) {
        self.observe(Event::WarmingUp(seconds));
        self.warming = Some(WarmUpRecord::default());
    }

    /// From here on, blocks are recorded, and before them that others were not, for so many seconds.
    pub fn end_warm_up(&mut self, seconds: f64) -> Result<(), RunError> {
        let ran = self.warming.take().unwrap_or_default();
        self.write(&Record::WarmUp(WarmUpRecord { seconds, ..ran }))
    }

    /// Whether the file has evidence of a cell.
    pub fn has_evidence(&self, cell: &Cell) -> bool {
        self.progress.has_evidence.contains(cell)
    }

    /// From here on, no trial is recorded.
    pub fn begin_evidence(&mut self) {
        self.warming = Some(WarmUpRecord::default());
    }

    /// From here on, trials would be recorded again.
    pub fn end_evidence(&mut self) {
        self.warming = None;
    }

    /// Writes how the run ended, and waits until the file is on its disk.
    pub fn close(&mut self, reason: EndReason) -> Result<(), RunError> {
        let closed = self.writer.append(&Record::End(EndRecord {
            reason,
            ended_unix_ns: host::unix_ns(),
        }));
        let synced = self.writer.sync();
        closed.and(synced).map_err(RunError::from)
    }

    pub fn summary(&self, reason: EndReason, refused: usize) -> Summary {
        Summary {
            reason,
            failed: self.failed,
            refused: u32::try_from(refused).unwrap_or(u32::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{study, with_runner};
    use super::*;
    use tare_model::finding::Reason;
    use tare_model::results::Failure;
    use tare_study::design::ProtocolOptions;

    #[test]
    fn a_trial_that_failed_is_due_once_more_and_not_a_third_time() {
        let study = study(&["fake"], &["syscall"], ProtocolOptions::default());
        let planned = plan::block(&study, plan::Room::UNBOUNDED, 0)[0].groups[0].trials[0].clone();
        let failed = || Ended::without_box(Outcome::Failed(Failure::new(Reason::Launch, "no room")));
        let results = with_runner(&study, |runner| {
            let mut recorder = runner.bench.recorder;
            recorder.begin_warm_up(1.0);
            recorder.record(&planned, failed()).unwrap();
            assert!(recorder.is_due(&planned, 0) && recorder.warming().unwrap().failed == 1);
            recorder.end_warm_up(1.0).unwrap();
            recorder.record(&planned, failed()).unwrap();
            assert!(!recorder.is_due(&planned, 0) && recorder.is_due(&planned, 1));
            recorder.record(&planned, failed()).unwrap();
            assert!(!recorder.is_due(&planned, 1));
            assert_eq!(recorder.summary(EndReason::Complete, 0).failed, 1);
        });
        let recorded: Vec<(u32, u32)> = results.trials().map(|t| (t.attempt, t.order)).collect();
        assert_eq!(recorded, [(0, 0), (1, 1)]);
    }
}
