//! What a results file says is done, and whether it may be continued.

mod asked;

pub use asked::asked;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use tare_model::host::HostFacts;
use tare_model::platform::PlatformPath;
use tare_model::results::{EndReason, Header, Outcome, PlatformVersion, Record, Results, TrialRecord};
use tare_model::size::counted;
use tare_model::study::{Cell, Protocol, Stopping, Study};
use tare_platforms::agent_file;
use tare_stats::LOOKS;
use tare_study::looks::{AdaptiveError, Looks, MOST};
use tare_study::shares::Shares;

/// Records that a file can have of a kind, or a block of trials: no run has so many.
const MOST_RECORDS: u32 = 1 << 30;

/// Why a results file cannot be continued.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// A study that no options could have made.
    #[error(
        "{path}:1: the study in its header cannot be run: {cause}; the file was altered: restore it from a copy, or start a new one with -o"
    )]
    Unsound {
        path: String,
        /// What is wrong with it.
        cause: tare_study::design::DesignError,
    },
    /// A record whose number none has.
    #[error(
        "{path} has a record with the number {number}, which no run reaches: the file was altered; restore it from a copy, or start a new one with -o"
    )]
    Numbered { path: String, number: u32 },
    /// A trial is in the file more than once.
    #[error(
        "{path} has {} more than once with different contents: the file was altered, or two files were joined; restore it from a copy, or start a new one with -o",
        counted(*trials, "trial")
    )]
    Doubled {
        path: String,
        /// How many are.
        trials: usize,
    },
    /// What was looked at is gone.
    #[error(
        "{path} records looks at trials that it does not have, and these cannot be measured again: the file was altered; restore it from a copy, or start a new one with -o"
    )]
    TrialsGone { path: String },
    /// Another study was asked for.
    #[error(
        "{path} has a different study ({differs}): omit the other options to continue it, or start a new one with -o"
    )]
    OtherStudy { path: String, differs: &'static str },
    /// Another build measured the first part.
    #[error(
        "{path} was measured with agent {theirs}, this tare has agent {ours}, which may run different machine code: continue it with the tare that started it, or start a new one with -o"
    )]
    OtherBuild {
        path: String,
        /// Its build.
        theirs: String,
        /// This build.
        ours: &'static str,
    },
    /// Another host measured the first part.
    #[error("{path} was measured on another host ({differs}): continue it there, or start a new one with -o")]
    OtherHost { path: String, differs: &'static str },
    /// A platform changed since: its engine, or what limits tare.
    #[error(
        "{path}: {platform} is not as it was when the run began ({differs}): restore it, or start a new one with -o"
    )]
    OtherPlatform {
        path: String,
        platform: String,
        /// What, with its values.
        differs: String,
    },
    /// A program or a file of the first part has other contents now.
    #[error(
        "{path}: {file} has other contents than when the run began (SHA-256 {then}... then, {now}... now): restore it, or start a new one with -o"
    )]
    OtherFile {
        path: String,
        file: String,
        /// The first digits of its digest.
        then: String,
        now: String,
    },
    /// More blocks for a study whose number was fixed.
    #[error(
        "{path} was planned with {blocks} blocks: adding or dropping blocks after seeing a result makes intervals cover less than they claim; start a new one with -o and other --blocks, or with --adaptive"
    )]
    FixedBlocks { path: String, blocks: u32 },
    /// Fewer blocks than an adaptive study may have.
    #[error(
        "{path} goes on until its comparisons are decided, for at most {blocks} blocks: omit --blocks, and give --budget to end it sooner"
    )]
    FewerBlocks { path: String, blocks: u32 },
    /// More blocks, and no look after the last one.
    #[error("{path} is adaptive: {cause}")]
    NoLook {
        path: String,
        /// Where looks are.
        cause: AdaptiveError,
    },
    /// Every block was run, and comparisons are open.
    #[error(
        "{path}: all {blocks} blocks were run and comparisons are still open: continue to the next look with --blocks up to {MOST}, or view it with 'tare report {path}'"
    )]
    OutOfBlocks { path: String, blocks: u32 },
    /// Nothing is left to do.
    #[error("{path} is complete: {done}; view it with 'tare report {path}'{more}")]
    Complete {
        path: String,
        done: String,
        /// How more could be measured; empty: nothing could change.
        more: &'static str,
    },
}

/// How to get more blocks where their number was fixed.
const START_ANEW: &str = "; its number of blocks is fixed: for more, start a new one with -o and --blocks N";

/// What is done of a plan.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// Trials with a final record.
    done: BTreeSet<u32>,
    /// Trials whose first attempt failed and was not repeated yet.
    failed_once: BTreeSet<u32>,
    /// Groups run so far.
    pub groups: u32,
    /// Positions taken in each block.
    pub orders: BTreeMap<u32, u32>,
    /// Cells of which there is evidence of causes.
    pub(crate) has_evidence: BTreeSet<Cell>,
    /// Peaks of baselines, in requests per second.
    pub(crate) peaks: BTreeMap<Cell, f64>,
    /// The state of an adaptive study.
    pub(crate) looks: Option<Looks>,
    /// What rounds have left open.
    pub(crate) shares: Option<Shares>,
    /// Blocks that the file was planned with so far.
    pub(crate) planned: Option<u32>,
}

impl Progress {
    /// Reads what is done.
    pub fn of(results: &Results) -> Self {
        let mut progress = Self {
            looks: Looks::resumed(results),
            shares: Shares::of(&results.header.study),
            planned: Some(results.blocks_planned()),
            ..Self::default()
        };
        for record in &results.records {
            match record {
                Record::Group(ran) => {
                    progress.groups = progress.groups.max(ran.group.saturating_add(1));
                    progress.shares.iter_mut().for_each(|shares| shares.note(ran));
                }
                Record::Evidence(found) => {
                    progress.has_evidence.insert(found.cell.clone());
                }
                Record::Peak(found) => {
                    progress
                        .peaks
                        .extend(found.peak().map(|peak| (found.cell.clone(), peak)));
                }
                Record::Trial(trial) => {
                    let order = progress.orders.entry(trial.block).or_default();
                    *order = (*order).max(trial.order.saturating_add(1));
                    progress.note(trial);
                }
                Record::Header(_)
                | Record::Box(_)
                | Record::Session(_)
                | Record::Removed(_)
                | Record::Proof(_)
                | Record::WarmUp(_)
                | Record::Look(_)
                | Record::End(_) => {}
            }
        }
        progress
    }

    /// Notes a trial's record: final, or to be repeated.
    pub(crate) fn note(&mut self, record: &TrialRecord) {
        let trial = record.trial;
        let may_pass = matches!(&record.outcome, Outcome::Failed(failure) if !failure.reason.is_final());
        if may_pass && record.attempt == 0 {
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

/// Boxes that a file has records of, those between them too that have none.
pub(crate) fn boxes_made(results: &Results) -> u32 {
    let next = |record: &Record| match record {
        Record::Box(made) => made.box_id.saturating_add(1),
        _ => 0,
    };
    results.records.iter().map(next).max().unwrap_or(0)
}

/// Checks that the same agent measured the file, on this host: before anything that the file names
/// is tried.
///
/// # Errors
/// [`ResumeError::OtherBuild`], [`ResumeError::OtherHost`].
pub fn origin(path: &str, results: &Results, host: &HostFacts) -> Result<(), ResumeError> {
    let then = &results.header;
    if then.instrument() != agent_file::build_id() {
        let theirs = then.instrument().chars().take(32).collect();
        return Err(ResumeError::OtherBuild {
            path: path.to_owned(),
            theirs,
            ours: agent_file::build_id(),
        });
    }
    let known = [
        (
            "different CPU",
            then.host.cpu_model != host.cpu_model || then.host.cpus != host.cpus,
        ),
        (
            "different amount of memory",
            then.host.memory_bytes != host.memory_bytes,
        ),
        ("different kernel", then.host.kernel != host.kernel),
    ];
    match known.into_iter().find(|(_, differs)| *differs) {
        Some((differs, _)) => Err(ResumeError::OtherHost {
            path: path.to_owned(),
            differs,
        }),
        None => Ok(()),
    }
}

/// Checks that the file may be continued with the platforms of this header, and that there is
/// something to do.
///
/// # Errors
/// [`ResumeError`], as [`origin`] too.
pub fn check(path: &str, results: &Results, now: &Header) -> Result<(), ResumeError> {
    origin(path, results, &now.host)?;
    same_platforms(path, &results.header.platforms, &now.platforms)?;
    same_files(path, &results.header.files, &now.files)?;
    unfinished(path, results, &now.study.protocol)
}

/// Compares platforms by all that was found of them: figures depend on it.
fn same_platforms(
    path: &str,
    then: &BTreeMap<PlatformPath, PlatformVersion>,
    now: &BTreeMap<PlatformPath, PlatformVersion>,
) -> Result<(), ResumeError> {
    let mut platforms = then.keys().chain(now.keys());
    let Some(platform) = platforms.find(|platform| then.get(*platform) != now.get(*platform)) else {
        return Ok(());
    };
    Err(ResumeError::OtherPlatform {
        path: path.to_owned(),
        platform: platform.to_string(),
        differs: difference(then.get(platform), now.get(platform)),
    })
}

/// What differs first between two findings of a platform, with its values.
fn difference(then: Option<&PlatformVersion>, now: Option<&PlatformVersion>) -> String {
    let both = |what: &str, value: &dyn Fn(&PlatformVersion) -> Option<String>| {
        let value =
            |facts: Option<&PlatformVersion>| facts.and_then(value).unwrap_or_else(|| "none".to_owned());
        format!("{what}: {} then, {} now", value(then), value(now))
    };
    let version = |facts: Option<&PlatformVersion>| facts.map(|facts| facts.version.clone());
    if version(then) != version(now) {
        return both("version", &|facts| Some(facts.version.clone()));
    }
    let detail = |facts: Option<&PlatformVersion>, key: &str| facts?.details.get(key).cloned();
    let mut keys = [then, now]
        .into_iter()
        .flatten()
        .flat_map(|facts| facts.details.keys());
    let key = keys.find(|key| detail(then, key) != detail(now, key));
    key.map_or_else(String::new, |key| {
        both(key, &|facts| facts.details.get(key).cloned())
    })
}

/// Files of versions that did not record any are taken as they are.
fn same_files(
    path: &str,
    then: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> Result<(), ResumeError> {
    let other = then.iter().find(|(file, digest)| now.get(*file) != Some(digest));
    let Some((file, digest)) = other else {
        return Ok(());
    };
    let front = |digest: &str| digest.chars().take(12).collect::<String>();
    Err(ResumeError::OtherFile {
        path: path.to_owned(),
        file: file.clone(),
        then: front(digest),
        now: now.get(file).map_or_else(|| "no file".to_owned(), |d| front(d)),
    })
}

/// Whether a trial of these blocks has no record at all, be it a failure. A cell that was settled
/// has none in later blocks.
fn is_missing(results: &Results, blocks: Range<u32>) -> bool {
    let looks = Looks::resumed(results);
    let cells = results.header.study.cells();
    let told: HashSet<(u32, &Cell)> = results.trials().map(|t| (t.block, &t.cell)).collect();
    let runs = |cell: &Cell, block| looks.as_ref().is_none_or(|looks| looks.runs(cell, block));
    let lacks = |block: u32| {
        let mut cells = cells.iter();
        cells.any(|cell| runs(cell, block) && !told.contains(&(block, cell)))
    };
    blocks.into_iter().any(lacks)
}

/// Whether nobody has looked into the kernel.
fn lacks_evidence(results: &Results) -> bool {
    !results
        .records
        .iter()
        .any(|record| matches!(record, Record::Evidence(_)))
}

/// Checks that of the blocks that are asked for, or of the evidence, something is left to run. What the last end says of a file is
/// believed where the trials are there.
///
/// # Errors
/// [`ResumeError::Complete`], [`ResumeError::OutOfBlocks`].
pub fn unfinished(path: &str, results: &Results, protocol: &Protocol) -> Result<(), ResumeError> {
    let (path, blocks) = (path.to_owned(), protocol.blocks);
    if is_missing(results, 0..blocks) || protocol.evidence && lacks_evidence(results) {
        return Ok(());
    }
    let fixed = results.header.study.protocol.stopping.is_fixed();
    let complete = |path, done| ResumeError::Complete {
        path,
        done,
        more: if fixed { START_ANEW } else { "" },
    };
    // A session without an end, since it was killed, has something left.
    let end = |r: &Record| match r {
        Record::End(end) => Some(Some(end.reason)),
        Record::Session(_) => Some(None),
        _ => None,
    };
    match results.records.iter().rev().find_map(end).flatten() {
        Some(EndReason::Settled) => Err(complete(path, "every comparison is settled".to_owned())),
        Some(EndReason::Complete) => Err(complete(path, all_were_run(blocks))),
        Some(EndReason::BudgetSpent) if !fixed && blocks < MOST => {
            Err(ResumeError::OutOfBlocks { path, blocks })
        }
        Some(EndReason::BudgetSpent) => Err(complete(path, all_were_run(blocks))),
        _ => Ok(()),
    }
}

fn all_were_run(blocks: u32) -> String {
    match blocks {
        1 => "its one block was run".to_owned(),
        _ => format!("all {blocks} blocks were run"),
    }
}

/// The largest number that a record bears.
fn largest_number(results: &Results) -> u32 {
    let of = |record: &Record| match record {
        Record::Box(made) => made.box_id,
        Record::Group(ran) => ran.group,
        Record::Trial(trial) => trial.trial.max(trial.block).max(trial.order),
        _ => 0,
    };
    results.records.iter().map(of).max().unwrap_or(0)
}

/// The study of a file, with as many blocks as are asked for. Only an adaptive
/// one may get more: the looks allow for it. It is judged as if it were asked for now.
///
/// # Errors
/// [`ResumeError::FixedBlocks`], [`ResumeError::NoLook`], [`ResumeError::Unsound`],
/// [`ResumeError::Numbered`], [`ResumeError::Doubled`], [`ResumeError::TrialsGone`].
pub fn study(path: &str, results: &Results, asked: Option<u32>) -> Result<Study, ResumeError> {
    let planned = results.blocks_planned();
    let mut study = results.header.study.clone();
    study.protocol.blocks = asked.unwrap_or(planned).max(planned);
    let path = path.to_owned();
    let number = largest_number(results);
    if number > MOST_RECORDS {
        return Err(ResumeError::Numbered { path, number });
    }
    if let Err(cause) = tare_study::design::stored(&study) {
        return Err(ResumeError::Unsound { path, cause });
    }
    let trials = results.doubles().conflicts.len();
    if trials > 0 {
        return Err(ResumeError::Doubled { path, trials });
    }
    let looked_at = results.looks().map(|look| look.blocks).max().unwrap_or(0);
    if is_missing(results, 0..looked_at.min(planned)) {
        return Err(ResumeError::TrialsGone { path });
    }
    match study.protocol.stopping {
        Stopping::Fixed if asked.is_some_and(|asked| asked != planned) => Err(ResumeError::FixedBlocks {
            path,
            blocks: planned,
        }),
        Stopping::Adaptive { .. } if asked.is_some_and(|asked| asked < planned) => {
            Err(ResumeError::FewerBlocks {
                path,
                blocks: planned,
            })
        }
        Stopping::Adaptive { .. }
            if study.protocol.blocks > planned && !LOOKS.contains(&study.protocol.blocks) =>
        {
            let cause = AdaptiveError::Blocks(study.protocol.blocks);
            Err(ResumeError::NoLook { path, cause })
        }
        _ => Ok(study),
    }
}

/// Checks that the study asked for is that of the file, but for its blocks, and for
/// seed and budget. [`asked`] makes it of options: what they do not say is that of the file.
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
        ("other cells", then.listed != now.listed),
        ("other workloads", then.workloads != now.workloads),
    ];
    let parts = parts.into_iter().filter(|(_, differs)| *differs);
    let mut parts = parts.map(|(name, _)| name);
    // The length of trials and slices is in the workloads as well: it is to be named first.
    let differs = other_protocol(&then.protocol, &now.protocol).or_else(|| parts.next());
    differs.map_or(Ok(()), |differs| {
        Err(ResumeError::OtherStudy {
            path: path.to_owned(),
            differs,
        })
    })
}

/// What makes trials run or be judged otherwise.
fn other_protocol(then: &Protocol, now: &Protocol) -> Option<&'static str> {
    // By name, so that what is added is thought of here.
    let Protocol {
        blocks: _,
        budget_seconds: _,
        blocks_before_budget: _,
        seed: _,
        // It changes nothing of what was measured.
        evidence: _,
        stopping,
        warm_up_seconds,
        pause_seconds,
        fresh,
        slicing,
        trial_seconds,
        timeout_seconds,
        settle,
        margin,
    } = *now;
    let parts = [
        ("other --slices", slicing != then.slicing),
        ("different --trial-time", trial_seconds != then.trial_seconds),
        ("different --timeout", timeout_seconds != then.timeout_seconds),
        ("different --margin", margin != then.margin),
        ("different --adaptive or --precision", stopping != then.stopping),
        ("different --fresh", fresh != then.fresh),
        ("different --warm-up", warm_up_seconds != then.warm_up_seconds),
        ("different --pause", pause_seconds != then.pause_seconds),
        ("different --no-settle", settle != then.settle),
    ];
    parts
        .into_iter()
        .find(|(_, differs)| *differs)
        .map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_platform_that_changed_is_named_with_what_differs() {
        let facts = |version: &str, details: &[(&str, &str)]| PlatformVersion {
            version: version.to_owned(),
            details: details
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
        };
        let (docker, path) = ("docker".parse::<PlatformPath>().unwrap(), "r.jsonl");
        let one = |facts: PlatformVersion| BTreeMap::from([(docker.clone(), facts)]);
        let then = one(facts("Docker 26", &[("runtime", "runc")]));
        assert!(same_platforms(path, &then, &then).is_ok());
        let words = |now: &BTreeMap<PlatformPath, PlatformVersion>| {
            [(&then, now), (now, &then)]
                .map(|(then, now)| same_platforms(path, then, now).unwrap_err().to_string())
        };
        for (now, told) in [
            (
                one(facts("Docker 27", &[])),
                [
                    "(version: Docker 26 then, Docker 27 now)",
                    "(version: Docker 27 then, Docker 26 now)",
                ],
            ),
            (
                one(facts("Docker 26", &[])),
                ["(runtime: runc then, none now)", "(runtime: none then, runc now)"],
            ),
            (
                BTreeMap::new(),
                [
                    "(version: Docker 26 then, none now)",
                    "(version: none then, Docker 26 now)",
                ],
            ),
        ] {
            for (words, told) in words(&now).iter().zip(told) {
                assert!(words.contains(told) && words.contains("docker"), "{words}");
            }
        }
    }
}
