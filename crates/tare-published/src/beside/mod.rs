//! A user's own figures beside those of a study.
//!
//! Own: the loss in logs of a comparison, with the error that its reported
//! interval speaks of. Theirs: the log of the ratio of two printed means, with
//! the standard error that follows from both standard deviations, where the
//! study prints them, by the delta method. What is judged is the difference, by
//! Welch's t.

mod judge;
mod place;

use super::file::Published;
use super::library::Library;
use place::Place;
use schemars::JsonSchema;
use serde::Serialize;
use tare_analysis::{Analysis, Estimate, analyze};
use tare_model::results::Results;

/// Own figures beside a study's.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Beside {
    pub study: String,
    pub title: String,
    pub their_host: String,
    /// The platform that own figures are held against.
    pub own_baseline: String,
    /// The baseline of the results, where the study has no figure of it and they are held
    /// against another of their platforms.
    pub instead_of: Option<String>,
    /// One row per figure of the study, and one per table of which none is comparable.
    pub rows: Vec<Row>,
    /// What the study says without a table behind it.
    pub statements: Vec<String>,
}

/// One figure of the study, with what stands beside it.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Row {
    /// The workload, by the study's name.
    pub workload: String,
    /// What differs between the workloads even so.
    pub note: Option<String>,
    /// The metric and levels, by the study's names; empty for a whole table.
    pub metric: String,
    /// The platform, by the study's name; empty for a whole table.
    pub platform: String,
    /// Figures of the study for which this row stands.
    pub figures: usize,
    /// The study's overhead ratio.
    pub theirs: Option<TheirFigure>,
    /// The own one.
    pub own: Option<Own>,
    /// What comes of it.
    pub verdict: Verdict,
}

/// An own overhead ratio.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Own {
    pub cell: String,
    /// Pairs.
    pub n: usize,
    /// Paired ratio and its interval.
    #[serde(flatten)]
    pub ratio: Estimate,
}

/// An overhead ratio of a study: over 1 costs more.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct TheirFigure {
    /// The ratio of the two printed means.
    pub ratio: f64,
    /// Its interval, where the study prints standard deviations and numbers of runs.
    pub interval: Option<(f64, f64)>,
}

/// Whether own and published figure agree.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// The interval of their ratio contains 1, and is narrow enough to say something.
    Agrees(Detectable),
    /// It contains 1 and is so wide that it confirms nothing.
    CannotTell(Detectable),
    /// It does not.
    Differs(Difference),
    /// They cannot be held against each other.
    NotComparable { why: String },
}

/// How small a difference could have been seen.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct Detectable {
    /// Differences of the ratios under this share would not show.
    pub share: f64,
    /// Whether the study's own error is in it: else it is a lower bound.
    pub with_their_error: bool,
}

/// By how much own and published figure differ.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct Difference {
    /// Own overhead ratio over the study's, and its interval.
    #[serde(flatten)]
    pub ratio: Estimate,
    /// Whether the study's own error is in it: else it may explain the difference.
    pub with_their_error: bool,
}

/// A figure of a study beside an own one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudyRow {
    pub study: String,
    /// What stands beside.
    #[serde(flatten)]
    pub row: Row,
}

/// Every figure of any study that can be held against an own one, over the baseline of the analysis.
pub fn beside_all(library: &Library, analysis: &Analysis) -> Vec<StudyRow> {
    let of_study = |study: &Published| {
        let place = Place {
            library,
            study,
            analysis,
        };
        let rows = study.tables.iter().flat_map(|table| place.table(table));
        let compared = rows.filter(|row| !matches!(row.verdict, Verdict::NotComparable { .. }));
        let named = compared.map(|row| StudyRow {
            study: study.study.id.clone(),
            row,
        });
        named.collect::<Vec<_>>()
    };
    library.studies.iter().flat_map(of_study).collect()
}

/// Puts every figure of a study beside what the results have of it. Where the study has no figure
/// of their baseline, what both measured is held against the study's: blocks pair any two cells.
pub fn beside(library: &Library, study: &Published, results: &Results) -> Beside {
    let own = analyze(results);
    let at = |analysis| Place {
        library,
        study,
        analysis,
    };
    let other = at(&own).other_baseline();
    let rebased = other.map(|baseline| {
        let mut results = results.clone();
        results.header.study.baseline = baseline;
        analyze(&results)
    });
    let instead_of = rebased.as_ref().map(|_| own.study.baseline.to_string());
    let analysis = rebased.as_ref().unwrap_or(&own);
    let place = at(analysis);
    let untold = study.claims.iter().filter(|c| !c.checkable);
    Beside {
        study: study.study.id.clone(),
        title: study.study.title.clone(),
        their_host: study.study.host.clone(),
        own_baseline: analysis.study.baseline.to_string(),
        instead_of,
        rows: study.tables.iter().flat_map(|table| place.table(table)).collect(),
        statements: untold.map(|c| c.text.clone()).collect(),
    }
}
