//! From a table to comparisons with verdicts.

use super::baselines::{self, Job};
use super::comparison::{ForeignComparison, Wishes, metric};
use super::fault::{DataError, Fault};
use super::figures::{SeriesFigures, figures};
use super::pairs::samples;
use super::{Table, notices};
use crate::run::decide::{self, correct};
use crate::run::pairing::of_samples;
use crate::run::{Notice, Refusal, fitness, steadiness};
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::metric::Direction;
use tare_stats::{LEVEL, Looks, Question};

/// Name and version of the analysis of foreign data as JSON.
pub const SCHEMA: &str = "tare-analyze/1";

/// Seed of the resampling: the same data give the same figures.
const SEED: u64 = 1;

/// Most comparisons at once. Each takes some 2 KB in memory and more on paper.
const MOST: usize = 200_000;

/// Everything that is said of foreign data.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ForeignAnalysis<'a> {
    /// Name and version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// The file as the user named it.
    pub source: &'a str,
    /// Rows read.
    pub rows: usize,
    pub blocks: usize,
    /// By what the blocks are ordered: `number` or `file`.
    pub block_order: &'static str,
    /// Margin of equivalence as a ratio less 1.
    pub margin: f64,
    /// Level of every interval.
    pub level: f64,
    /// Seed of the resampling.
    pub seed: u64,
    /// What a reader of any figure must know of these data.
    pub notices: Vec<Notice>,
    /// Tests in the family of the Holm correction.
    pub family: usize,
    /// Every cell against its baseline, metric by metric.
    pub comparisons: Vec<ForeignComparison<'a>>,
    /// Every metric of every cell by itself.
    pub cells: Vec<SeriesFigures<'a>>,
}

/// Analyses a table as the results of a study whose metrics are all primary:
/// every comparison is in the family of Holm's correction and gets a verdict.
///
/// # Errors
/// [`DataError`] where cells have no baseline, or one that is no cell.
pub fn analyze<'a>(table: &'a Table, wishes: Wishes) -> Result<ForeignAnalysis<'a>, DataError> {
    let jobs = baselines::jobs(table, wishes.baseline)?;
    if jobs.len() > MOST {
        let (found, most) = (jobs.len(), MOST);
        return Err(DataError::whole(&table.source, Fault::TooMany { found, most }));
    }
    let question = Question {
        looks: Looks::None,
        margin: Some(wishes.margin.ln_1p()),
        check: Some(SEED),
    };
    let compare = |job: &Job| compare(table, job, wishes.direction, question);
    let mut comparisons = shared(&jobs, wishes.threads, compare);
    let family = judge(&mut comparisons, question);
    Ok(ForeignAnalysis {
        schema: SCHEMA,
        source: &table.source,
        rows: table.rows,
        blocks: table.blocks.count(),
        block_order: if table.blocks.named { "file" } else { "number" },
        margin: wishes.margin,
        level: LEVEL,
        seed: SEED,
        notices: notices::all(table, wishes, &comparisons),
        family,
        comparisons,
        cells: figures(table, wishes.direction),
    })
}

fn compare<'a>(
    table: &'a Table,
    job: &Job,
    direction: Option<Direction>,
    question: Question,
) -> ForeignComparison<'a> {
    let metric = metric(table, job.metric, direction);
    let samples = samples(
        table.series(job.cell, job.metric),
        table.series(job.baseline, job.metric),
    );
    ForeignComparison {
        cell: table.cells.name(job.cell),
        baseline: table.cells.name(job.baseline),
        without_logs: samples
            .pairs
            .iter()
            .filter(|(x, y)| *x <= 0.0 || *y <= 0.0)
            .count(),
        figures: of_samples(metric, metric.direction, &samples, question),
    }
}

/// `work` on every item, in the order of the items, shared among threads.
fn shared<T: Sync, R: Send>(items: &[T], threads: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let share = items.len().div_ceil(threads.max(1)).max(1);
    let work = &work;
    std::thread::scope(|scope| {
        let started: Vec<_> = items
            .chunks(share)
            .map(|items| scope.spawn(move || items.iter().map(work).collect::<Vec<R>>()))
            .collect();
        let done = started.into_iter().flat_map(|thread| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        done.collect()
    })
}

/// Holm's correction over all comparisons, the verdicts, and the answers on
/// steadiness; returns the number of tests.
fn judge(comparisons: &mut [ForeignComparison], question: Question) -> usize {
    let factors = correct(comparisons.iter_mut().map(|c| &mut c.figures));
    for (comparison, factor) in comparisons.iter_mut().zip(&factors) {
        let figures = &mut comparison.figures;
        let mut refusals = fitness::pairs(figures.n, figures.lost);
        let pairs = comparison.without_logs;
        refusals.extend((pairs > 0).then_some(Refusal::NoLogarithm { pairs }));
        figures.verdict = Some(decide::judge(figures, refusals, *factor, question.margin));
    }
    let fit = comparisons.iter_mut().filter_map(|c| c.figures.fit_steadiness());
    steadiness::judge(fit);
    factors.iter().flatten().count()
}
