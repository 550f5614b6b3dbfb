//! Standardised scores after li2018.

use super::cells::CellFigures;
use super::fitness::LESS_WORK;
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::metric::{Direction, Metric};
use tare_model::platform::{PlatformPath, Provisioning};

/// Platforms against metrics, within one provisioning and size.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct ScoreTable {
    /// How CPUs are granted.
    pub provisioning: Provisioning,
    /// Name of the instance type, where the study has several.
    pub instance: Option<String>,
    /// One row per metric of each workload.
    pub axes: Vec<ScoreAxis>,
}

impl ScoreTable {
    /// `pinned`, `pinned large`.
    pub fn name(&self) -> String {
        let instance = self.instance.iter().map(|name| format!(" {name}"));
        self.provisioning.to_string() + &instance.collect::<String>()
    }

    /// The platforms, in the order of the study.
    pub fn platforms(&self) -> impl Iterator<Item = &PlatformPath> {
        self.axes
            .iter()
            .take(1)
            .flat_map(|a| &a.scores)
            .map(|s| &s.platform)
    }
}

/// One metric over all platforms.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct ScoreAxis {
    pub workload: String,
    /// Name of the metric.
    pub metric: String,
    /// Whether it is the one that carries a verdict.
    pub primary: bool,
    /// Every platform, also without a score.
    pub scores: Vec<Score>,
}

impl ScoreAxis {
    /// `stream triad`.
    pub fn name(&self) -> String {
        format!("{} {}", self.workload, self.metric)
    }
}

/// One platform's score.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Score {
    pub platform: PlatformPath,
    /// 1 for the best platform, 0 to 1 elsewhere; absent without a positive mean.
    pub score: Option<f64>,
}

/// The scores of every cell.
pub(crate) fn all(cells: &[CellFigures]) -> Vec<ScoreTable> {
    let mut tables: Vec<ScoreTable> = Vec::new();
    for cell in cells {
        let kind = &cell.cell.kind;
        if !tables
            .iter()
            .any(|t| (t.provisioning, &t.instance) == (kind.provisioning, &kind.instance))
        {
            tables.push(table(cells, kind.provisioning, kind.instance.as_ref()));
        }
    }
    tables.retain(|t| {
        t.axes
            .iter()
            .any(|a| a.scores.iter().flat_map(|s| s.score).count() > 1)
    });
    tables
}

fn table(cells: &[CellFigures], provisioning: Provisioning, instance: Option<&String>) -> ScoreTable {
    let is_of = |c: &&CellFigures| {
        c.cell.kind.provisioning == provisioning && c.cell.kind.instance.as_ref() == instance
    };
    let cells: Vec<&CellFigures> = cells.iter().filter(is_of).collect();
    let mut platforms: Vec<&PlatformPath> = Vec::new();
    let mut axes: Vec<(&str, &Metric)> = Vec::new();
    for cell in &cells {
        if !platforms.contains(&&cell.cell.kind.platform) {
            platforms.push(&cell.cell.kind.platform);
        }
        for figures in &cell.metrics {
            let axis = (cell.cell.workload.as_str(), &figures.metric);
            if !axes.contains(&axis) {
                axes.push(axis);
            }
        }
    }
    let axis = |&(workload, metric): &(&str, &Metric)| ScoreAxis {
        workload: workload.to_owned(),
        metric: metric.name.clone(),
        primary: metric.primary,
        scores: scores(&cells, &platforms, workload, metric),
    };
    ScoreTable {
        provisioning,
        instance: instance.cloned(),
        axes: axes.iter().map(axis).collect(),
    }
}

fn scores(
    cells: &[&CellFigures],
    platforms: &[&PlatformPath],
    workload: &str,
    metric: &Metric,
) -> Vec<Score> {
    let of = |platform: &PlatformPath| {
        let is_it = |c: &&&CellFigures| c.cell.kind.platform == *platform && c.cell.workload == workload;
        let cell = cells.iter().find(is_it)?;
        let figures = cell.metrics.iter().find(|f| f.metric == *metric)?;
        let mean = figures.mean.filter(|mean| *mean > 0.0)?;
        Some((mean, cell.work_done))
    };
    let means: Vec<Option<(f64, f64)>> = platforms.iter().map(|p| of(p)).collect();
    // What did less of the work than others cannot be the best.
    let most_work = means.iter().flatten().map(|(_, work)| *work).fold(0.0, f64::max);
    let whole = means
        .iter()
        .flatten()
        .filter(|(_, work)| *work >= (1.0 - LESS_WORK) * most_work);
    let best = whole
        .map(|(mean, _)| *mean)
        .reduce(|a, b| match metric.direction {
            Direction::Higher => a.max(b),
            Direction::Lower => a.min(b),
        });
    let score = |mean: f64, best: f64| match metric.direction {
        Direction::Higher => mean / best,
        Direction::Lower => best / mean,
    };
    platforms
        .iter()
        .zip(&means)
        .map(|(platform, mean)| Score {
            platform: (*platform).clone(),
            // Beyond the best is only what did less: that has no score.
            score: mean
                .zip(best)
                .map(|((mean, _), best)| score(mean, best))
                .filter(|score| *score <= 1.0),
        })
        .collect()
}
