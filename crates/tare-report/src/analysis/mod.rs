//! What a results file says: figures, comparisons, verdicts and their evidence.

mod boxes;
mod cells;
mod compare;
mod comparison;
mod decide;
mod findings;
mod fitness;
mod layers;
mod notices;
mod pairing;
mod refusal;
mod run;
mod summary;
mod trials;
mod variability;
mod verdict;

pub use boxes::{BoxFigures, Latency};
pub use cells::{CellFigures, Estimate, FailureCount, MetricFigures};
pub use comparison::{Against, Comparison, Flag, MetricComparison, Op, Paired};
pub use findings::{FindingCount, FindingMeaning};
pub use layers::{Split, Step};
pub use notices::Notice;
pub use refusal::Refusal;
pub use run::{PlatformFacts, RunFacts, TrialCounts};
pub use summary::{Statement, Summary};
pub use verdict::{Verdict, Word};

use serde::Serialize;
use tare_model::host::HostFacts;
use tare_model::results::Results;
use tare_model::study::Study;

/// Name and version of the analysis as JSON. The number changes when an old
/// reader would misread a new analysis.
pub const SCHEMA: &str = "tare-analysis/1";

/// Level of every interval.
pub const LEVEL: f64 = 0.95;

/// Everything that a report shows.
#[derive(Debug, Clone, Serialize)]
pub struct Analysis {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Version of tare that measured.
    pub tare: String,
    /// Build that measured.
    pub build: String,
    /// The study as the file has it.
    pub study: Study,
    /// What each kind of box costs, in words.
    pub summaries: Vec<Summary>,
    /// What a reader of any figure must know of this file.
    pub notices: Vec<Notice>,
    /// What holds for every file.
    pub caveats: Vec<String>,
    /// Every cell against its baselines.
    pub comparisons: Vec<Comparison>,
    /// Gaps of boxes in boxes, split by layer.
    pub layers: Vec<Split>,
    /// Tests in the family of the Holm correction.
    pub family: usize,
    /// Every cell by itself.
    pub cells: Vec<CellFigures>,
    /// Every kind of box: start-up and proof of limits.
    pub boxes: Vec<BoxFigures>,
    /// Findings that occur, and what they mean.
    pub findings: Vec<FindingMeaning>,
    /// How the file came to be.
    pub run: RunFacts,
    /// The host.
    pub host: HostFacts,
    /// The platforms' versions and details.
    pub platforms: Vec<PlatformFacts>,
}

/// Analyses a results file. Whatever the file holds, the answer is an analysis:
/// what cannot be said is absent, and the notices tell why.
pub fn analyze(results: &Results) -> Analysis {
    let header = &results.header;
    let study = &header.study;
    let trials = trials::Trials::collect(results);
    let boxes = boxes::figures(results);
    let mut comparisons = compare::all(study, &trials);
    let family = decide::all(&mut comparisons, study, &trials, &boxes);
    let run = run::facts(results);
    let platforms = run::platforms(header);
    Analysis {
        schema: SCHEMA,
        tare: header.tare.clone(),
        build: header.build.clone(),
        study: study.clone(),
        summaries: summary::all(study, &comparisons, &platforms),
        notices: notices::all(study, &run, &boxes, &platforms, &trials),
        caveats: notices::caveats(study, &comparisons, family),
        layers: layers::all(study, &trials),
        cells: cells::all(&trials),
        findings: findings::meanings(&trials, &boxes),
        comparisons,
        family,
        boxes,
        run,
        host: header.host.clone(),
        platforms,
    }
}

/// The margin in logs: ln(1 + margin), if the study's is a positive number.
pub(crate) fn margin(study: &Study) -> Option<f64> {
    let margin = study.margin.ln_1p();
    (margin.is_finite() && margin > 0.0).then_some(margin)
}
