//! The run itself: block by block; in each, boxes side by side; in these, groups of
//! trials, in rounds of slices or one by one in one piece, each appended as it ends.

mod arm;
mod aside;
mod baselines;
mod beside;
mod bounded;
mod boxes;
mod cold;
mod course;
mod group;
mod held;
mod idle;
mod left;
mod memory;
mod pace;
mod peak;
mod piece;
mod record;
mod rounds;
mod seen;
mod served;
mod server;
mod stand;
mod throttle;
mod turns;

use crate::kept_checks::KeptChecks;
use crate::looks::Looks;
use crate::plan::{self, PlannedTrial, Room, Stand};
use crate::preflight::Platforms;
use crate::resume::Progress;
use crate::settle::Watch;
use crate::writer::{WriteError, Writer};
use held::Held;
use left::TimeLeft;
use pace::Paces;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Instant;
use tare_host::{host, seat};
use tare_model::looks::{LookRecord, WarmUpRecord};
use tare_model::platform::PlatformPath;
use tare_model::results::{EndReason, EndRecord, ProofRecord, Record, Session, TrialRecord};
use tare_model::study::{BoxKind, Study};
use tare_platforms::BoxError;
use tare_platforms::state::Run;

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
        "cannot copy the agent into the run's folder: {0}; free disk space there, or choose another folder with --state-dir"
    )]
    Copy(std::io::Error),
    /// A box could not be removed.
    #[error("box {name} could not be removed: {source}; retry with 'tare clean'")]
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
        /// Seconds that the rest will take, as it looks now.
        remaining_seconds: f64,
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
    /// Trials begin that run side by side.
    SideBySide(&'a [PlannedTrial]),
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
    kept_checks: KeptChecks,
    boot_id: Option<String>,
    refused: BTreeSet<BoxKind>,
    /// Platforms of which a trial of the first block has a result.
    succeeded: BTreeSet<PlatformPath>,
    failed: u32,
    /// Trials of the group under way that have ended and are not recorded yet.
    coming: u32,
    begun: Instant,
    left: TimeLeft,
    /// Trials of the whole plan; of an adaptive study the most, as it looks now.
    total: u32,
    /// The stands of a block.
    plan: Box<dyn Fn(u32) -> Vec<Stand> + 'a>,
    /// How long a unit of work takes in each cell, as far as was found out.
    paces: Paces,
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
        mut progress: Progress,
        observe: &'a mut dyn FnMut(Event<'_>),
    ) -> Result<Self, RunError> {
        let home = study.instances.iter().find_map(|i| i.pinned_set.first().copied());
        if let Some(cpu) = home.or_else(|| host::pinned_set(1).first().copied()) {
            seat::take(cpu);
        }
        let facts = host::facts();
        let room = Room::of_host(facts.memory_bytes);
        let expected = plan::cost(study, room, |kind| platforms.cost(kind));
        let left = TimeLeft::of(&expected, study.box_kinds().len());
        let mut runner = Self {
            study,
            platforms,
            writer,
            run,
            binary: run.agent().map_err(RunError::Copy)?,
            looks: progress.looks.take().or_else(|| Looks::of(study)),
            plan: Box::new(move |block| plan::block(study, room, block)),
            paces: Paces::with_peaks(progress.peaks.clone()),
            warming: None,
            progress,
            observe,
            watch: Watch::new()?,
            kept: BTreeMap::new(),
            proven: BTreeSet::new(),
            boot_id: facts.boot_id,
            kept_checks: KeptChecks::of(run.state()),
            refused: BTreeSet::new(),
            succeeded: BTreeSet::new(),
            failed: 0,
            coming: 0,
            begun: Instant::now(),
            left,
            total: 0,
            renewal: None,
            alone: study.box_kinds().len() == 1,
        };
        runner.total = runner.planned();
        runner.expect_kept_checks();
        Ok(runner)
    }

    /// Makes boxes that are kept for the study anew after so many blocks.
    #[must_use]
    pub fn renewing(mut self, blocks: u32) -> Self {
        self.renewal = Some(blocks);
        self
    }

    /// Runs other stands than those that follow from the study.
    #[must_use]
    pub fn standing(mut self, plan: impl Fn(u32) -> Vec<Stand> + 'a) -> Self {
        self.plan = Box::new(plan);
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
        let session = Session {
            run: self.run.name().to_owned(),
            started_unix_ns: host::unix_ns(),
            boot_id: self.boot_id.clone(),
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

    /// Bytes by which the environment is padded: another stack position in
    /// every trial, the same when the study is repeated.
    fn padding(&self, planned: &PlannedTrial) -> u32 {
        let attempt = u32::from(self.progress.failed_once(planned.trial));
        let mut rng = ChaCha8Rng::seed_from_u64(self.study.protocol.seed);
        rng.set_stream((1 << 63) | (u64::from(attempt) << 32) | u64::from(planned.trial));
        rng.random_range(0..4096)
    }

    /// Whether boxes of this kind have the host's own files.
    fn has_host_files(&self, kind: &BoxKind) -> bool {
        self.platforms.has_host_files(&kind.platform)
    }

    /// Seconds that the rest will take, with so many trials done.
    fn remaining(&self, done: u32) -> f64 {
        let rest = self.left.seconds(self.total, done);
        let elapsed = self.begun.elapsed().as_secs_f64();
        self.study
            .protocol
            .budget_seconds
            .map_or(rest, |budget| rest.min((budget - elapsed).max(0.0)))
    }
}
