//! How the file came to be: sessions, boots, trials, the end.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use tare_model::looks::WarmUpRecord;
use tare_model::peak::PeakRecord;
use tare_model::platform::PlatformPath;
use tare_model::results::{EndRecord, Header, Outcome, Record, Results, Session, UNTESTED_DRIVER};
use tare_model::study::Cell;

/// The course of the run.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct RunFacts {
    /// Runs of the controller that wrote the file.
    pub sessions: Vec<Session>,
    /// Boots of the host that they ran on, as far as known.
    pub boots: usize,
    /// Blocks that were run and not recorded, one entry for each session with a warm-up.
    pub warm_ups: Vec<WarmUpRecord>,
    /// What baselines answer at most, of which rates of loads are shares.
    pub peaks: Vec<PeakRecord>,
    /// How the last session ended; absent if it did not say so.
    pub end: Option<EndRecord>,
    /// Whether a half-written record at the end was left out.
    pub torn: bool,
    /// Records of kinds that only a later version knows, by kind: they were left out.
    pub unknown_records: BTreeMap<String, usize>,
    /// Workloads and figures of their trials that the header does not name: they were left out.
    pub unnamed_figures: BTreeSet<String>,
    /// Blocks of the study.
    pub blocks_planned: u32,
    /// Blocks with at least one trial.
    pub blocks: usize,
    /// Trials by their end.
    pub trials: TrialCounts,
    /// Time of all sessions; of one that did not tell of its end, up to its last trial.
    #[serde(skip)]
    measured_ns: u64,
}

impl RunFacts {
    /// How long all sessions took together, in seconds.
    #[expect(clippy::cast_precision_loss, reason = "for people: three digits are shown")]
    pub fn seconds(&self) -> Option<f64> {
        Some(self.measured_ns as f64 / 1e9).filter(|seconds| *seconds > 0.0)
    }

    /// What a trial took with all that belongs to it, in seconds.
    #[expect(clippy::cast_precision_loss, reason = "a number of trials")]
    pub fn trial_seconds(&self) -> Option<f64> {
        let trials = Some(self.trials.all()).filter(|trials| *trials > 0)?;
        Some(self.seconds()? / trials as f64)
    }
}

/// Trials by how they ended; one whose repetition succeeded counts as ok.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct TrialCounts {
    /// With a result.
    pub ok: usize,
    /// Without a result after the last attempt.
    pub failed: usize,
    /// Not begun, since the workload cannot run there.
    pub skipped: usize,
    /// Trials among them that were tried a second time.
    pub repeated: usize,
    /// Attempts that all of them took, skipped ones among them.
    pub attempts: usize,
}

impl TrialCounts {
    /// All trials that the run came to.
    pub const fn all(&self) -> usize {
        self.ok + self.failed + self.skipped
    }
}

/// What was found of a platform before the run.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct PlatformFacts {
    pub platform: PlatformPath,
    /// Version of the engine.
    pub version: String,
    /// Facts that figures depend on.
    pub details: BTreeMap<String, String>,
    /// `kvm`, `tcg` or another accelerator, where the platform has one.
    pub accelerator: Option<String>,
}

/// Whether guests of this platform, one of these, were translated in software.
pub(super) fn is_emulated(platforms: &[PlatformFacts], platform: &PlatformPath) -> bool {
    platforms
        .iter()
        .any(|facts| facts.platform == *platform && facts.emulated())
}

impl PlatformFacts {
    /// Whether guests are translated in software: such figures say nothing of a
    /// VM on hardware that supports it.
    pub fn emulated(&self) -> bool {
        self.accelerator.as_deref() == Some("tcg")
    }

    /// Whether the driver had never run on its engine when it was released.
    pub fn untested(&self) -> bool {
        let (key, value) = UNTESTED_DRIVER;
        self.details.get(key).is_some_and(|found| found == value)
    }
}

/// The course of the run alone, without a figure: what an analysis tells of it, at once however long
/// the file is.
pub fn run_facts(results: &Results) -> RunFacts {
    facts(&results.doubles().told_once(results))
}

pub(crate) fn facts(results: &Results) -> RunFacts {
    let sessions: Vec<Session> = results.sessions().cloned().collect();
    let boots: BTreeSet<&str> = sessions.iter().filter_map(|s| s.boot_id.as_deref()).collect();
    RunFacts {
        boots: boots.len(),
        sessions,
        warm_ups: warm_ups(results),
        peaks: peaks(results),
        end: last_end(&results.records),
        torn: results.torn,
        unknown_records: results.unknown.clone(),
        unnamed_figures: unnamed_figures(results),
        blocks_planned: results.blocks_planned(),
        blocks: blocks(results),
        trials: trial_counts(results),
        measured_ns: measured_ns(&results.records),
    }
}

/// Time from the begin of each session to its end, or to that of its last trial.
fn measured_ns(records: &[Record]) -> u64 {
    let (mut begun, mut last, mut sum) = (0_u64, 0_u64, 0_u64);
    for record in records {
        match record {
            Record::Session(session) => {
                sum = sum.saturating_add(last.saturating_sub(begun));
                (begun, last) = (session.started_unix_ns, session.started_unix_ns);
            }
            Record::Trial(trial) => {
                let wall_ns = trial.host.as_ref().map_or(0, |host| host.wall_ns);
                last = trial.started_unix_ns.saturating_add(wall_ns).max(last);
            }
            Record::End(end) => last = end.ended_unix_ns.max(last),
            _ => {}
        }
    }
    sum.saturating_add(last.saturating_sub(begun))
}

/// Blocks of the study with a trial.
fn blocks(results: &Results) -> usize {
    let planned = results.blocks_planned();
    let begun = results.trials().map(|t| t.block).filter(|block| *block < planned);
    begun.collect::<BTreeSet<_>>().len()
}

/// `syscall latency`, where the header tells of the workload and not of the figure, be it a
/// sample or a part of slices.
fn unnamed_figures(results: &Results) -> BTreeSet<String> {
    let workloads = &results.header.study.workloads;
    let mut unnamed = BTreeSet::new();
    let mut note = |cell: &Cell, names: &mut dyn Iterator<Item = &String>| {
        // What is of no workload of the study is told as a stray.
        let Some(workload) = workloads.iter().find(|w| w.name == cell.workload) else {
            return;
        };
        let is_named = |name: &&String| workload.metrics.iter().any(|m| m.name == **name);
        let others = names.filter(|name| !is_named(name));
        unnamed.extend(others.map(|name| format!("{} {name}", workload.name)));
    };
    for trial in results.trials() {
        if let Outcome::Ok(success) = &trial.outcome {
            note(&trial.cell, &mut success.samples.keys());
        }
    }
    for member in results.groups().flat_map(|group| &group.members) {
        note(&member.cell, &mut member.parts.keys());
    }
    unnamed
}

fn peaks(results: &Results) -> Vec<PeakRecord> {
    let peak = |r: &Record| {
        if let Record::Peak(p) = r {
            Some(p.clone())
        } else {
            None
        }
    };
    results.records.iter().filter_map(peak).collect()
}

fn warm_ups(results: &Results) -> Vec<WarmUpRecord> {
    let warm_up = |r: &Record| if let Record::WarmUp(w) = r { Some(*w) } else { None };
    results.records.iter().filter_map(warm_up).collect()
}

/// The end of the last session: an end before it is that of an earlier one.
fn last_end(records: &[Record]) -> Option<EndRecord> {
    let ends = records.iter().rev().find_map(|record| match record {
        Record::End(end) => Some(Some(*end)),
        Record::Session(_) => Some(None),
        _ => None,
    });
    ends.flatten()
}

/// The attempts of a trial, which is that of one cell in one block.
#[derive(Default)]
struct Attempts<'a> {
    n: usize,
    repeated: bool,
    /// How it ended: as its last attempt, or well if one did.
    end: Option<&'a Outcome>,
}

fn trial_counts(results: &Results) -> TrialCounts {
    let mut trials: BTreeMap<(u32, &Cell), Attempts> = BTreeMap::new();
    for trial in results.trials() {
        let of = trials.entry((trial.block, &trial.cell)).or_default();
        of.n += 1;
        of.repeated |= trial.attempt > 0;
        if !matches!(of.end, Some(Outcome::Ok(_))) {
            of.end = Some(&trial.outcome);
        }
    }
    let mut counts = TrialCounts::default();
    for trial in trials.values() {
        match trial.end {
            Some(Outcome::Ok(_)) => counts.ok += 1,
            Some(Outcome::Failed(_)) => counts.failed += 1,
            Some(Outcome::Skipped(_)) => counts.skipped += 1,
            None => {}
        }
        counts.repeated += usize::from(trial.repeated);
        counts.attempts += trial.n;
    }
    counts
}

pub(crate) fn platforms(header: &Header) -> Vec<PlatformFacts> {
    let facts = |(platform, found): (&PlatformPath, &tare_model::results::PlatformVersion)| PlatformFacts {
        platform: platform.clone(),
        version: found.version.clone(),
        details: found.details.clone(),
        accelerator: found.details.get("accelerator").cloned(),
    };
    header.platforms.iter().map(facts).collect()
}
