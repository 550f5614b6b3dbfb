//! Two results files, before and after an upgrade: what changed.
//!
//! The runs' blocks are not paired, and the host drifts between runs. So what is
//! judged is the change of the *overhead*: each run's d, the loss in logs within
//! a block, is free of whatever its block shared, and the two series of d are
//! held against each other by Welch's t. The change of the raw figures stands
//! beside it and is not judged.

mod cells;
mod environment;
mod overhead;
mod raw;
mod verdict;

pub use environment::Difference;
pub use overhead::{Overhead, OverheadChange};
pub use raw::{Raw, RawChange};

use crate::analysis::{Analysis, Notice, RunFacts, Word, analyze, trials::Trials};
use cells::Shared;
use serde::Serialize;
use tare_model::results::Results;
use tare_model::study::Cell;

/// Name and version of the comparison as JSON.
pub const SCHEMA: &str = "tare-change/1";

/// What changed from one results file to another.
#[derive(Debug, Clone, Serialize)]
pub struct Change {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The run before.
    pub before: Side,
    /// The run after.
    pub after: Side,
    /// Margin of the verdicts as a ratio less 1: 0.01 for 1 %.
    pub margin: f64,
    /// Level of the t intervals: 0.95, or 0.96 where a run stopped adaptively.
    pub level: f64,
    /// What a reader of any figure must know.
    pub notices: Vec<Notice>,
    /// What holds for every such comparison.
    pub caveats: Vec<&'static str>,
    /// The change of what each box costs against its baseline, with verdicts.
    pub overheads: Vec<OverheadChange>,
    /// Tests in all families of the Holm correction together.
    pub family: usize,
    /// The change of the figures themselves.
    pub raw: Vec<RawChange>,
    /// Cells of the first file alone.
    pub only_before: Vec<Cell>,
    /// Cells of the second file alone.
    pub only_after: Vec<Cell>,
    /// What differs between host, engines, builds and studies, and in the processes of trials.
    pub differences: Vec<Difference>,
}

/// One of the two runs.
#[derive(Debug, Clone, Serialize)]
pub struct Side {
    /// Version of tare that measured.
    pub tare: String,
    /// Build that measured.
    pub build: String,
    /// The course of the run.
    pub run: RunFacts,
}

impl Side {
    fn of(analysis: &Analysis) -> Self {
        Self {
            tare: analysis.tare.clone(),
            build: analysis.build.clone(),
            run: analysis.run.clone(),
        }
    }

    fn started(&self) -> Option<u64> {
        self.run.sessions.first().map(|s| s.started_unix_ns)
    }
}

/// The two files have no cell in common.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the two files measure nothing in common: the first has {before}; the second has {after}; give two runs of one study"
)]
pub struct NothingInCommon {
    before: String,
    after: String,
}

impl Change {
    /// Cells that cost more than before by more than the margin.
    pub fn regressions(&self) -> impl Iterator<Item = &OverheadChange> {
        let regressed = |c: &&OverheadChange| c.verdict.word == Word::Slower && c.verdict.beyond_margin;
        self.overheads.iter().filter(regressed)
    }

    /// Cells that cost more than before, perhaps by less than the margin.
    pub fn doubtful(&self) -> impl Iterator<Item = &OverheadChange> {
        let doubtful = |c: &&OverheadChange| c.verdict.word == Word::Slower && !c.verdict.beyond_margin;
        self.overheads.iter().filter(doubtful)
    }

    /// Whether any change could be judged at all.
    pub fn judged(&self) -> bool {
        self.overheads.iter().any(|c| c.verdict.word != Word::None)
    }
}

/// Compares two results files. `margin`, a ratio less 1, takes the place of the
/// second study's.
///
/// # Errors
/// [`NothingInCommon`].
pub fn compare(before: &Results, after: &Results, margin: Option<f64>) -> Result<Change, NothingInCommon> {
    let shared = Shared::of(&before.header.study, &after.header.study)?;
    let analyses = (analyze(before), analyze(after));
    let trials = (Trials::collect(before), Trials::collect(after));
    let studies = (&before.header.study, &after.header.study);
    let margin = margin.unwrap_or(studies.1.protocol.margin);
    let looks = overhead::looks(studies);
    let (overheads, family) = overhead::all(
        studies,
        (&analyses.0, &analyses.1),
        (&trials.0, &trials.1),
        margin,
    );
    let (first, second) = (Side::of(&analyses.0), Side::of(&analyses.1));
    Ok(Change {
        schema: SCHEMA,
        notices: notices(&analyses, &first, &second),
        before: first,
        after: second,
        margin,
        level: looks.level(),
        caveats: caveats(&overheads),
        overheads,
        family,
        raw: raw::all(&shared, studies, (&trials.0, &trials.1), looks),
        only_before: shared.only_before,
        only_after: shared.only_after,
        differences: environment::differences(before, after),
    })
}

/// What holds whatever the files hold.
const CAVEATS: [&str; 4] = [
    "A change of 1.02 means that the box costs 1.02 times what it cost before, against its baseline in the same blocks. Intervals are of Welch's t on d, the loss in logs within blocks: the runs' blocks are not paired.",
    "What slows box and baseline alike is no change of the overhead: it is in the raw figures alone.",
    "Raw figures are confounded: whatever else differed between the runs (load, temperature, frequency, memory layout since boot) is in them as well, and no interval shows it. They get no verdict.",
    "One run each: what one boot or one build does by chance is in the change too. Repeat both runs, with boots between, before relying on a small one.",
];

/// What holds where both runs worked in slices.
const TYPICAL: &str = "Where both runs worked in slices their typical costs are compared: of each block the median over rounds, or the mean of those of two processes, which rare stalls do not touch.";

fn caveats(overheads: &[OverheadChange]) -> Vec<&'static str> {
    let typical = overheads.iter().any(|o| o.typical).then_some(TYPICAL);
    CAVEATS.into_iter().chain(typical).collect()
}

fn notices(analyses: &(Analysis, Analysis), before: &Side, after: &Side) -> Vec<Notice> {
    let of = |when: &'static str, notices: &[Notice]| -> Vec<Notice> {
        let told = |n: &Notice| Notice {
            notice: n.notice,
            text: format!("{when}: {}", n.text),
        };
        notices.iter().map(told).collect()
    };
    let mut all = of("before", &analyses.0.notices);
    all.extend(of("after", &analyses.1.notices));
    if before.build != after.build {
        all.push(Notice {
            notice: "builds",
            text: "the files were measured by different builds of tare: the machine code of the built-in workloads may differ".to_owned(),
        });
    }
    if analyses.0.has_slices() != analyses.1.has_slices() {
        all.push(Notice {
            notice: "slices",
            text: "only one of the runs worked in slices: what is compared are the figures of whole trials, not typical costs".to_owned(),
        });
    }
    if before.started() > after.started() {
        all.push(Notice {
            notice: "order",
            text: "the first file is the younger one: 'after' was measured before 'before'".to_owned(),
        });
    }
    let runs = |side: &Side| -> Vec<String> { side.run.sessions.iter().map(|s| s.run.clone()).collect() };
    if runs(before).iter().any(|run| runs(after).contains(run)) {
        all.push(Notice {
            notice: "same-run",
            text: "both files hold trials of one run: they are no independent measurements".to_owned(),
        });
    }
    all
}
