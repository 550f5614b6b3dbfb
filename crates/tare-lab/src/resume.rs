//! What a results file says is done, and whether it may be continued.

use std::collections::{BTreeMap, BTreeSet};
use tare_model::results::{EndReason, Header, Outcome, Record, Results};
use tare_model::study::Study;

/// Why a results file cannot be continued.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// Another study was asked for.
    #[error(
        "{path} holds another study ({differs}): leave out the other options to continue it as it is, or start anew with -o"
    )]
    OtherStudy {
        /// The file.
        path: String,
        /// What differs.
        differs: &'static str,
    },
    /// Another build measured the first part.
    #[error(
        "{path} was measured by tare build {theirs}, this is build {ours}: the two may run different machine code; continue it with the same binary, or start anew with -o"
    )]
    OtherBuild {
        /// The file.
        path: String,
        /// Its build.
        theirs: String,
        /// This build.
        ours: &'static str,
    },
    /// Another host measured the first part.
    #[error("{path} was measured on another host ({differs}): continue it there, or start anew with -o")]
    OtherHost {
        /// The file.
        path: String,
        /// What differs.
        differs: &'static str,
    },
    /// Nothing is left to do.
    #[error("{path} is complete: nothing is left to run; see it with 'tare report {path}'")]
    Complete {
        /// The file.
        path: String,
    },
}

/// What is done of a plan.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// Trials with a final record.
    done: BTreeSet<u32>,
    /// Trials whose first attempt failed and was not repeated yet.
    failed_once: BTreeSet<u32>,
    /// Boxes made so far.
    pub boxes: u32,
    /// Positions taken in each block.
    pub orders: BTreeMap<u32, u32>,
}

impl Progress {
    /// Reads what is done.
    pub fn of(results: &Results) -> Self {
        let mut progress = Self::default();
        for record in &results.records {
            match record {
                Record::Box(made) => progress.boxes = progress.boxes.max(made.box_id + 1),
                Record::Trial(trial) => {
                    let order = progress.orders.entry(trial.block).or_default();
                    *order = (*order).max(trial.order + 1);
                    let failed = matches!(trial.outcome, Outcome::Failed(_));
                    progress.note(trial.trial, failed && trial.attempt == 0);
                }
                Record::Header(_)
                | Record::Session(_)
                | Record::Removed(_)
                | Record::Proof(_)
                | Record::End(_) => {}
            }
        }
        progress
    }

    /// Notes a trial's record: final, or to be repeated.
    pub(crate) fn note(&mut self, trial: u32, repeat: bool) {
        if repeat {
            self.failed_once.insert(trial);
        } else {
            self.failed_once.remove(&trial);
            self.done.insert(trial);
        }
    }

    /// Whether a trial needs nothing more.
    pub fn is_done(&self, trial: u32) -> bool {
        self.done.contains(&trial)
    }

    /// Whether a trial's first attempt failed and its repetition is due.
    pub fn failed_once(&self, trial: u32) -> bool {
        self.failed_once.contains(&trial)
    }

    /// How many trials need nothing more.
    pub fn n_done(&self) -> u32 {
        u32::try_from(self.done.len()).unwrap_or(u32::MAX)
    }
}

/// Checks that this build may continue the file on this host.
///
/// # Errors
/// [`ResumeError`].
pub fn check(path: &str, results: &Results, now: &Header) -> Result<(), ResumeError> {
    let then = &results.header;
    if then.build != now.build {
        let theirs = then.build.chars().take(32).collect();
        return Err(ResumeError::OtherBuild {
            path: path.to_owned(),
            theirs,
            ours: tare_model::BUILD_ID,
        });
    }
    let host = [
        (
            "another CPU",
            then.host.cpu_model != now.host.cpu_model || then.host.cpus != now.host.cpus,
        ),
        (
            "another amount of memory",
            then.host.memory_bytes != now.host.memory_bytes,
        ),
        ("another kernel", then.host.kernel != now.host.kernel),
        ("other versions of platforms", then.platforms != now.platforms),
    ];
    if let Some((differs, _)) = host.into_iter().find(|(_, differs)| *differs) {
        return Err(ResumeError::OtherHost {
            path: path.to_owned(),
            differs,
        });
    }
    let ended = results.records.iter().rev().find_map(|r| {
        if let Record::End(end) = r {
            Some(end.reason)
        } else {
            None
        }
    });
    if ended == Some(EndReason::Complete) {
        return Err(ResumeError::Complete {
            path: path.to_owned(),
        });
    }
    Ok(())
}

/// Checks that the study asked for is that of the file; the seed, blocks and
/// budget of the file hold.
///
/// # Errors
/// [`ResumeError::OtherStudy`].
pub fn check_study(path: &str, then: &Study, now: &Study) -> Result<(), ResumeError> {
    let parts = [
        (
            "other platforms",
            then.platforms != now.platforms || then.baseline != now.baseline,
        ),
        ("other provisioning", then.provisioning != now.provisioning),
        ("other CPUs or memory", then.instances != now.instances),
        ("other workloads", then.workloads != now.workloads),
        (
            "another protocol",
            then.fresh != now.fresh
                || then.settle != now.settle
                || then.margin.to_bits() != now.margin.to_bits(),
        ),
    ];
    match parts.into_iter().find(|(_, differs)| *differs) {
        Some((differs, _)) => Err(ResumeError::OtherStudy {
            path: path.to_owned(),
            differs,
        }),
        None => Ok(()),
    }
}
