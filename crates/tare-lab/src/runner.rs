//! The run itself: block by block; in each, boxes side by side; in these, groups of
//! trials, in rounds of slices or one by one in one piece, each appended as it ends.

mod arm;
mod baselines;
mod bench;
mod beside;
mod bounded;
mod boxes;
mod cohort;
mod cold;
mod course;
mod duty_cycling;
mod eta;
mod evidence;
mod group;
mod hooks;
mod idle;
mod live;
mod memory;
mod observation;
mod pace;
mod peak;
mod recorder;
mod served;
mod server;
mod sliced;
#[cfg(test)]
pub(crate) mod testing;
mod throttle;
mod whole_trial;

use crate::identity::Watch;
use crate::session::{ResultsFile, Session};
use crate::writer::WriteError;
use bench::Bench;
use boxes::Boxes;
use eta::Eta;
use live::LiveBoxes;
use pace::Paces;
use recorder::Recorder;
use std::time::Duration;
use tare_host::{control_cpu, host};
use tare_model::looks::LookRecord;
use tare_model::results::{EndReason, ProofRecord, Record, Session as SessionRecord, TrialRecord};
use tare_model::study::{BoxKind, Study};
use tare_platforms::BoxError;
use tare_probes::ProbeError;
use tare_study::plan::{self, Cohort, PlannedTrial};
use tare_study::shares::Noisy;

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
    /// A program was replaced while it was measured.
    #[error(
        "{program} changed while it was measured, in block {block}: the file has the blocks up to there, the last of which may have run both; start a new run with -o"
    )]
    ProgramChanged {
        program: String,
        /// The block, from 1.
        block: u32,
    },
    /// The probes failed behind the measured blocks.
    #[error(
        "cannot look for evidence: {0}; the measured blocks are complete, and 'tare run --resume' tries again"
    )]
    Probes(#[from] ProbeError),
    /// A box could not be removed.
    #[error("box {name} could not be removed: {source}; retry with 'tare clean'")]
    Left {
        /// The box.
        name: String,
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
        /// Planned blocks; of an adaptive study those up to its next look.
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
    /// Evidence of causes is being looked for in the cells of a workload, of which this is one.
    LookingFor(&'a PlannedTrial),
    /// Trials begin that run side by side.
    SideBySide(&'a [PlannedTrial]),
    /// A trial ended and is in the file.
    Trial {
        record: &'a TrialRecord,
        /// Trials that need nothing more.
        done: u32,
        /// Trials in all, likewise.
        total: u32,
        /// Seconds that the rest of these will take, as it looks now.
        remaining_seconds: f64,
    },
    /// The comparisons of an adaptive study were looked at.
    Looked(&'a LookRecord),
    /// By its first blocks, the time of the run will not do for these workloads.
    Noisy(&'a [Noisy]),
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
    bench: Bench<'a>,
    /// The cohorts of a block.
    plan: Box<dyn Fn(u32) -> Vec<Cohort> + 'a>,
    /// Blocks after which kept boxes are made anew, in a pilot.
    renewal: Option<u32>,
    programs: Watch,
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
    /// Prepares to measure the session's study into a file.
    ///
    /// # Errors
    /// [`RunError::Host`], [`RunError::Copy`].
    pub fn new(
        session: &'a mut Session,
        file: ResultsFile,
        observe: &'a mut dyn FnMut(Event<'_>),
    ) -> Result<Self, RunError> {
        take_seat(&session.study);
        let cost = session.cost();
        let room = session.room();
        let boxes = Boxes::of(session)?;
        let programs = file.programs.clone();
        let study = boxes.study;
        let mut eta = Eta::of(&cost, study.box_kinds().len());
        for _ in 0..boxes.n_checked() {
            eta.checked(Duration::ZERO);
        }
        Ok(Self {
            bench: Bench {
                study,
                boxes,
                live: LiveBoxes::new(),
                paces: Paces::with_peaks(file.progress.peaks.clone()),
                recorder: Recorder::new(study, file, eta, observe),
            },
            plan: Box::new(move |block| plan::block(study, room, block)),
            renewal: None,
            programs,
        })
    }

    /// Makes boxes that are kept for the study anew after so many blocks.
    #[must_use]
    pub fn renewing(mut self, blocks: u32) -> Self {
        self.renewal = Some(blocks);
        self
    }

    /// Runs other cohorts than those that follow from the study.
    #[must_use]
    pub fn with_cohorts(mut self, plan: impl Fn(u32) -> Vec<Cohort> + 'a) -> Self {
        self.plan = Box::new(plan);
        self
    }

    /// Runs every block that is not done.
    ///
    /// # Errors
    /// [`RunError`]; the file is whole and boxes are gone all the same.
    pub fn run(mut self) -> Result<Summary, RunError> {
        let session = SessionRecord {
            run: self.bench.boxes.run.name().to_owned(),
            started_unix_ns: host::unix_ns(),
            boot_id: self.bench.boxes.boot_id.clone(),
            blocks: self.bench.recorder.more_blocks(),
        };
        self.bench.recorder.write(&Record::Session(session))?;
        let ended = self.blocks().and_then(|blocks| {
            let looked = self.look_for_evidence(blocks);
            looked.or_else(Stop::into_end)
        });
        let removed = self.bench.boxes.destroy_kept(&mut self.bench.recorder);
        let reason = match &ended {
            Ok(reason) => *reason,
            Err(RunError::ProgramChanged { .. }) => EndReason::ProgramChanged,
            Err(_) => EndReason::Aborted,
        };
        let closed = self.bench.recorder.close(reason);
        let reason = ended?;
        removed?;
        closed?;
        Ok(self
            .bench
            .recorder
            .summary(reason, self.bench.boxes.refused.len()))
    }
}

/// Binds the controller to the first CPU of the boxes that are pinned, or of those that would be.
fn take_seat(study: &Study) {
    let pinned = study.instances.iter().find_map(|i| i.pinned_set.first().copied());
    if let Some(cpu) = pinned.or_else(|| host::pinned_set(1).first().copied()) {
        control_cpu::take(cpu);
    }
}
