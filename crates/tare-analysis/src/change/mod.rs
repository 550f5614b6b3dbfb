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

pub(crate) use cells::unlike;
pub use environment::Difference;
pub use overhead::{Overhead, OverheadChange};
pub use raw::{Raw, RawChange};

use crate::run::{Analysis, Estimate, Notice, OtherFile, RunFacts, Word, analyze, trials::Trials};
use cells::Shared;
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::results::Results;
use tare_model::study::Cell;

/// Name and version of the comparison as JSON.
pub const SCHEMA: &str = "tare-change/1";

/// What changed from one results file to another.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Change {
    /// Name and version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// The run before.
    pub before: Side,
    /// The run after.
    pub after: Side,
    /// Margin of the verdicts as a ratio less 1: 0.01 for 1 %.
    pub margin: f64,
    /// Level of the t intervals: 0.95, or 0.96 where a run stopped adaptively.
    pub level: f64,
    /// What a reader of any figure must know of both together.
    pub notices: Vec<Notice>,
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
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Side {
    /// Version of tare that measured.
    pub tare: String,
    /// Build ID of tare.
    pub build: String,
    /// Build ID of the agent that ran in the boxes; absent where tare itself was the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The course of the run.
    pub run: RunFacts,
    /// What a reader of its figures must know.
    pub notices: Vec<Notice>,
}

impl Side {
    fn of(analysis: &Analysis) -> Self {
        Self {
            tare: analysis.tare.clone(),
            build: analysis.build.clone(),
            agent: analysis.agent.clone(),
            run: analysis.run.clone(),
            notices: analysis.notices.clone(),
        }
    }

    /// Build ID of the program that ran in the boxes.
    fn instrument(&self) -> &str {
        self.agent.as_ref().unwrap_or(&self.build)
    }

    fn started(&self) -> Option<u64> {
        self.run.sessions.first().map(|s| s.started_unix_ns)
    }
}

/// The two files have no cell in common.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the two files measure nothing in common: the first has {before}; the second has {after}; give two runs of the same study"
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

    /// Cells whose own figure is worse than before by more than this, a ratio less 1: by the lower
    /// end of its interval, which knows nothing of what else differed between the runs.
    pub fn raw_regressions(&self, margin: f64) -> impl Iterator<Item = &RawChange> {
        let regressed = move |c: &&RawChange| c.change.is_some_and(|change| change.low > 1.0 + margin);
        self.raw.iter().filter(|c| c.is_judged()).filter(regressed)
    }

    /// Cells that cost more than before, possibly by less than the margin.
    pub fn doubtful(&self) -> impl Iterator<Item = &OverheadChange> {
        let doubtful = |c: &&OverheadChange| c.verdict.word == Word::Slower && !c.verdict.beyond_margin;
        self.overheads.iter().filter(doubtful)
    }

    /// Cells of which neither more nor as much as before is shown, and that may cost more by over the margin.
    pub fn open(&self) -> impl Iterator<Item = (&OverheadChange, Estimate)> {
        let open = self
            .overheads
            .iter()
            .filter(|c| c.verdict.word == Word::Inconclusive);
        open.filter_map(|c| Some((c, c.change?)))
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
        notices: notices(
            &analyses,
            (&first, &second),
            environment::other_files(&before.header, &after.header),
        ),
        before: first,
        after: second,
        margin,
        level: looks.level(),
        overheads,
        family,
        raw: raw::all(&shared, studies, (&trials.0, &trials.1), looks),
        only_before: shared.only_before,
        only_after: shared.only_after,
        differences: environment::differences(before, after),
    })
}

fn notices(
    analyses: &(Analysis, Analysis),
    (before, after): (&Side, &Side),
    others: Vec<OtherFile>,
) -> Vec<Notice> {
    let runs = |side: &Side| -> Vec<String> { side.run.sessions.iter().map(|s| s.run.clone()).collect() };
    let same_run = runs(before).iter().any(|run| runs(after).contains(run));
    let slices = analyses.0.has_slices() != analyses.1.has_slices();
    let all = [
        (before.instrument() != after.instrument()).then_some(Notice::Builds),
        (!others.is_empty()).then_some(Notice::Files { others }),
        slices.then_some(Notice::Slices),
        (before.started() > after.started()).then_some(Notice::Order),
        same_run.then_some(Notice::SameRun),
    ];
    all.into_iter().flatten().collect()
}
