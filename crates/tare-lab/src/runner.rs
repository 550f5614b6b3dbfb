//! The run itself: block by block, box by box, trial by trial, each appended
//! as it ends.

mod boxes;
mod course;

use crate::looks::Looks;
use crate::plan::{PlannedTrial, Visit};
use crate::preflight::Platforms;
use crate::resume::Progress;
use crate::settle::Watch;
use crate::trial::{self, Tried};
use crate::writer::{WriteError, Writer};
use boxes::{Held, Obtain, supply};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tare_box::platforms::BoxError;
use tare_box::state::Run;
use tare_box::{host, interrupt, seat};
use tare_model::finding::{Finding, Reason};
use tare_model::looks::{LookRecord, WarmUpRecord};
use tare_model::platform::Provisioning;
use tare_model::results::{
    EndReason, EndRecord, Failure, HostReadings, Outcome, ProofRecord, Record, Session, TrialRecord,
};
use tare_model::study::{BoxKind, Study, Workload};
use tare_model::time::nanoseconds;

/// Why a run stopped before its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The results file.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The host's counters.
    #[error("cannot read the host's counters: {0}")]
    Host(#[from] std::io::Error),
    /// The binary could not be put into the run's folder.
    #[error(
        "cannot copy the tare binary into the run's folder: {0}; free space there, or name another with --state-dir"
    )]
    Copy(std::io::Error),
    /// A box could not be removed.
    #[error("box {name} could not be removed: {source}; 'tare clean' tries again")]
    Left {
        /// The box.
        name: String,
        /// The cause.
        source: BoxError,
    },
}

/// What happens during a run, for whoever shows it.
#[derive(Debug)]
pub enum Event<'a> {
    /// Blocks that are not recorded are run for so many seconds.
    WarmingUp(f64),
    /// A block begins.
    Block {
        /// Its number, from 0.
        block: u32,
        /// Planned blocks.
        blocks: u32,
    },
    /// A box is being made.
    Launching(&'a BoxKind),
    /// The limits of a kind of box are being proven.
    Proving(&'a BoxKind),
    /// They were, or were not.
    Proven(&'a ProofRecord),
    /// The host is being waited for before a trial.
    Settling(&'a PlannedTrial),
    /// A trial begins.
    Running(&'a PlannedTrial),
    /// A trial ended and is in the file.
    Trial {
        /// The record.
        record: &'a TrialRecord,
        /// Trials that need nothing more.
        done: u32,
        /// Trials in all.
        total: u32,
        /// Seconds that the rest will take, as it looks now.
        remaining_seconds: f64,
    },
    /// The comparisons of an adaptive study were looked at.
    Looked(&'a LookRecord),
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Why it stopped.
    pub reason: EndReason,
    /// Trials without a result after their repetition.
    pub failed: u32,
    /// Kinds of box whose limits were not proven.
    pub refused: u32,
}

/// A run under way.
pub struct Runner<'a> {
    study: &'a Study,
    platforms: &'a mut Platforms,
    writer: &'a mut Writer,
    run: &'a Run,
    binary: PathBuf,
    progress: Progress,
    observe: &'a mut dyn FnMut(Event<'_>),
    watch: Watch,
    kept: BTreeMap<BoxKind, Held>,
    proven: BTreeSet<BoxKind>,
    refused: BTreeSet<BoxKind>,
    failed: u32,
    begun: Instant,
    done_before: u32,
    /// Trials of the whole plan; of an adaptive study the most, as it looks now.
    total: u32,
    /// The state of an adaptive study.
    looks: Option<Looks>,
    /// While blocks are not recorded: what was run of them.
    warming: Option<WarmUpRecord>,
    /// Blocks after which kept boxes are made anew, in a pilot.
    renewal: Option<u32>,
    /// Whether there is only one kind of box: it has nobody to be frozen for.
    alone: bool,
}

/// Why a block was not finished.
enum Stop {
    Interrupted,
    Error(RunError),
}

impl<E: Into<RunError>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

impl<'a> Runner<'a> {
    /// Prepares a run; `progress` says what of the plan is done already.
    ///
    /// # Errors
    /// [`RunError::Host`].
    pub fn new(
        study: &'a Study,
        platforms: &'a mut Platforms,
        writer: &'a mut Writer,
        run: &'a Run,
        binary: PathBuf,
        mut progress: Progress,
        observe: &'a mut dyn FnMut(Event<'_>),
    ) -> Result<Self, RunError> {
        let home = study.instances.iter().find_map(|i| i.pinned_set.first().copied());
        if let Some(cpu) = home.or_else(|| host::pinned_set(1).first().copied()) {
            seat::take(cpu);
        }
        let mut runner = Self {
            study,
            platforms,
            writer,
            run,
            binary: run.keep(&binary).map_err(RunError::Copy)?,
            done_before: progress.n_done(),
            looks: progress.looks.take().or_else(|| Looks::of(study)),
            warming: None,
            progress,
            observe,
            watch: Watch::new()?,
            kept: BTreeMap::new(),
            proven: BTreeSet::new(),
            refused: BTreeSet::new(),
            failed: 0,
            begun: Instant::now(),
            total: 0,
            renewal: None,
            alone: study.box_kinds().len() == 1,
        };
        runner.total = runner.planned();
        Ok(runner)
    }

    /// Makes boxes that are kept for the study anew after so many blocks.
    #[must_use]
    pub fn renewing(mut self, blocks: u32) -> Self {
        self.renewal = Some(blocks);
        self
    }

    /// Takes the limits of these kinds of box as proven: an earlier run of the same
    /// process proved them, with the same platforms.
    #[must_use]
    pub fn trusting(mut self, proven: BTreeSet<BoxKind>) -> Self {
        self.proven = proven;
        self
    }

    /// Runs every block that is not done.
    ///
    /// # Errors
    /// [`RunError`]; the file is whole and boxes are gone all the same.
    pub fn run(mut self) -> Result<Summary, RunError> {
        let boot_id = tare_box::host::facts().boot_id;
        let session = Session {
            run: self.run.name().to_owned(),
            started_unix_ns: host::unix_ns(),
            boot_id,
            blocks: self.more_blocks(),
        };
        self.writer.append(&Record::Session(session))?;
        let ended = self.blocks();
        let removed = self.destroy_kept();
        let reason = match &ended {
            Ok(reason) => *reason,
            Err(_) => EndReason::Aborted,
        };
        let closed = self.writer.append(&Record::End(EndRecord {
            reason,
            ended_unix_ns: host::unix_ns(),
        }));
        let synced = self.writer.sync();
        let reason = ended?;
        removed?;
        closed?;
        synced?;
        let refused = u32::try_from(self.refused.len()).unwrap_or(u32::MAX);
        Ok(Summary {
            reason,
            failed: self.failed,
            refused,
        })
    }

    /// The visits in their order, then one repetition of what failed.
    fn block(&mut self, visits: &[Visit]) -> Result<(), Stop> {
        for visit in visits {
            self.visit(visit, 0)?;
        }
        for visit in visits {
            let failed = visit
                .trials
                .iter()
                .filter(|t| self.progress.failed_once(t.trial))
                .cloned()
                .collect();
            self.visit(
                &Visit {
                    kind: visit.kind.clone(),
                    trials: failed,
                },
                1,
            )?;
        }
        Ok(())
    }

    /// The trials of a visit, in one box as long as it lives.
    fn visit(&mut self, visit: &Visit, attempt: u32) -> Result<(), Stop> {
        let mut held = None;
        let outcome = self.trials_of(visit, attempt, &mut held);
        if let Some(held) = held {
            // Also after an interruption or an error: no box outlives its visit unless it is kept.
            self.put_away(&visit.kind, held)?;
        }
        outcome
    }

    fn trials_of(&mut self, visit: &Visit, attempt: u32, held: &mut Option<Held>) -> Result<(), Stop> {
        for planned in &visit.trials {
            if !self.is_due(planned, attempt) || self.refused.contains(&visit.kind) {
                continue;
            }
            if interrupt::requested() {
                return Err(Stop::Interrupted);
            }
            if let Some(failure) = self.cannot_run(planned) {
                self.record(
                    planned,
                    attempt,
                    None,
                    Vec::new(),
                    None,
                    Outcome::Skipped(failure),
                )?;
                continue;
            }
            if held.is_none() {
                match self.obtain(&visit.kind, planned.block) {
                    Ok(found) => *held = found,
                    Err(Obtain::Failed(failure)) => {
                        self.record(planned, attempt, None, Vec::new(), None, Outcome::Failed(failure))?;
                        continue;
                    }
                    Err(Obtain::Stop(stop)) => return Err(stop),
                }
            }
            let Some(present) = held.as_mut() else { continue };
            if !self.trial(planned, attempt, present)?
                && let Some(dead) = held.take()
            {
                self.destroy(dead)?;
            }
        }
        Ok(())
    }

    fn is_due(&self, planned: &PlannedTrial, attempt: u32) -> bool {
        let trial = planned.trial;
        let first = !self.progress.is_done(trial) && !self.progress.failed_once(trial);
        self.warming.is_some() || first || (attempt == 1 && self.progress.failed_once(trial))
    }

    fn cannot_run(&mut self, planned: &PlannedTrial) -> Option<Failure> {
        let Some(Workload::Command(command)) = self.study.workload(&planned.cell) else {
            return None;
        };
        let detail = command.host_only?;
        let has_host_files = self.platforms.get(&planned.cell.kind.platform)?.has_host_files();
        (!has_host_files).then_some(Failure {
            reason: Reason::CannotRun,
            detail,
        })
    }

    /// One trial in a living box; false if the box is dead after it.
    fn trial(&mut self, planned: &PlannedTrial, attempt: u32, held: &mut Held) -> Result<bool, Stop> {
        let Some(workload) = self.study.workload(&planned.cell) else {
            return Ok(true);
        };
        let mut waited = Duration::ZERO;
        let mut findings = Vec::new();
        let platform = self.platforms.get(&planned.cell.kind.platform);
        let has_host_files = platform.is_some_and(|p| p.has_host_files());
        if let Err(failure) = supply(held, &workload, has_host_files) {
            if interrupt::requested() {
                return Err(Stop::Interrupted);
            }
            self.record(
                planned,
                attempt,
                Some(held.id),
                findings,
                None,
                Outcome::Failed(failure),
            )?;
            return Ok(false);
        }
        if self.study.protocol.settle {
            (self.observe)(Event::Settling(planned));
            (waited, findings) = self.watch.settle()?;
        }
        self.rest()?;
        (self.observe)(Event::Running(planned));
        let padding = self.padding(planned, attempt);
        let set = self.pinned_set(&planned.cell.kind);
        let tried: Tried = trial::run(
            held.running.link(),
            &mut self.watch,
            self.study,
            &workload,
            padding,
            set,
        )?;
        if tried.interrupted {
            return Err(Stop::Interrupted);
        }
        findings.extend(tried.findings);
        let (freeze, thaw) = held.waking.take().unzip();
        let host = HostReadings {
            waited_ns: nanoseconds(waited),
            freeze_ns: freeze.map(nanoseconds),
            thaw_ns: thaw.map(nanoseconds),
            ..tried.host
        };
        self.record(
            planned,
            attempt,
            Some(held.id),
            findings,
            Some(host),
            tried.outcome,
        )?;
        Ok(tried.box_lives)
    }

    /// The pause before a trial, the same in every cell.
    fn rest(&self) -> Result<(), Stop> {
        let pause = Duration::try_from_secs_f64(self.study.protocol.pause_seconds).unwrap_or_default();
        let until = Instant::now() + pause;
        while let Ok(slice) = interrupt::next_slice(until) {
            std::thread::sleep(slice);
        }
        if interrupt::requested() {
            return Err(Stop::Interrupted);
        }
        Ok(())
    }

    /// The CPUs of a pinned box; none of one with a quota.
    fn pinned_set(&self, kind: &BoxKind) -> &'a [u32] {
        let instance = self.study.instance_of(kind);
        instance
            .filter(|_| kind.provisioning == Provisioning::Pinned)
            .map_or(&[], |i| &i.pinned_set)
    }

    /// Bytes by which the environment is padded: another stack position in
    /// every trial, the same when the study is repeated.
    fn padding(&self, planned: &PlannedTrial, attempt: u32) -> u32 {
        let mut rng = ChaCha8Rng::seed_from_u64(self.study.protocol.seed);
        rng.set_stream((1 << 63) | (u64::from(attempt) << 32) | u64::from(planned.trial));
        rng.random_range(0..4096)
    }

    fn record(
        &mut self,
        planned: &PlannedTrial,
        attempt: u32,
        box_id: Option<u32>,
        findings: Vec<Finding>,
        host: Option<HostReadings>,
        outcome: Outcome,
    ) -> Result<(), RunError> {
        if let Some(ran) = &mut self.warming {
            match outcome {
                Outcome::Ok(_) => ran.trials += 1,
                Outcome::Failed(_) => ran.failed += 1,
                Outcome::Skipped(_) => {}
            }
            return Ok(());
        }
        let order = self.progress.orders.entry(planned.block).or_default();
        let wall = host.as_ref().map_or(0, |h| h.wall_ns);
        let record = TrialRecord {
            trial: planned.trial,
            block: planned.block,
            order: *order,
            attempt,
            cell: planned.cell.clone(),
            box_id,
            group: None,
            started_unix_ns: host::unix_ns().saturating_sub(wall),
            outcome,
            findings,
            host,
        };
        *order += 1;
        let record = Record::Trial(record);
        self.writer.append(&record)?;
        let Record::Trial(record) = record else {
            return Ok(());
        };
        if let Some(looks) = &mut self.looks {
            looks.note(&record);
        }
        let failed = matches!(record.outcome, Outcome::Failed(_));
        self.progress.note(planned.trial, failed && attempt == 0);
        self.failed += u32::from(failed && attempt > 0);
        let done = self.progress.n_done();
        let remaining_seconds = self.remaining(done);
        (self.observe)(Event::Trial {
            record: &record,
            done,
            total: self.total,
            remaining_seconds,
        });
        Ok(())
    }

    fn remaining(&self, done: u32) -> f64 {
        let elapsed = self.begun.elapsed().as_secs_f64();
        let now = f64::from(done.saturating_sub(self.done_before).max(1));
        let rest = f64::from(self.total.saturating_sub(done)) * elapsed / now;
        self.study
            .protocol
            .budget_seconds
            .map_or(rest, |budget| rest.min((budget - elapsed).max(0.0)))
    }
}
