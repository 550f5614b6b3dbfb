//! Every cell: n, mean, sd, CV and interval per metric.

use super::estimate::Estimate;
use super::findings::{FindingCount, NOISE_UNKNOWN, count};
use super::fitness;
use super::trials::{CellTrials, Trials};
use crate::run::clipped;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use tare_model::metric::Metric;
use tare_model::study::Cell;
use tare_stats::{cv, mean, sd};

/// One cell: its trials and the figures of each metric.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct CellFigures {
    #[serde(flatten)]
    pub cell: Cell,
    /// Blocks in which it was tried.
    pub blocks: usize,
    /// Why trials and attempts have no result, most frequent first.
    pub failures: Vec<FailureCount>,
    /// Findings in the trials behind the figures.
    pub findings: Vec<FindingCount>,
    /// The mean share of a unit of work that a trial did: 1 without `partial-work`.
    pub work_done: f64,
    /// Figures per metric.
    pub metrics: Vec<MetricFigures>,
}

/// How often trials of a cell, or attempts at them, failed or were skipped for one reason.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct FailureCount {
    pub reason: String,
    /// Trials that ended so: not those whose repetition succeeded, or otherwise.
    pub trials: usize,
    /// Attempts, those among them whose trial was repeated.
    pub attempts: usize,
    /// Whether they were skipped: nothing was run.
    pub skipped: bool,
    /// What was seen the first time.
    pub detail: String,
}

/// One metric of one cell, over all its trials that succeeded.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct MetricFigures {
    #[serde(flatten)]
    pub metric: Metric,
    /// Samples: one per block.
    pub n: usize,
    pub mean: Option<f64>,
    /// Standard deviation.
    pub sd: Option<f64>,
    /// Coefficient of variation.
    pub cv: Option<f64>,
    /// Mean and its 95 % interval, which is not below 0 where no sample is.
    pub interval: Option<Estimate>,
}

pub(crate) fn all(trials: &Trials) -> Vec<CellFigures> {
    trials.cells.par_iter().map(figures).collect()
}

fn figures(trials: &CellTrials) -> CellFigures {
    CellFigures {
        cell: trials.cell.clone(),
        blocks: trials.attempted.len(),
        failures: failures(trials),
        findings: findings(trials),
        work_done: fitness::work_done(trials),
        metrics: trials
            .metrics
            .iter()
            .map(|m| metric_figures(m, &trials.samples(m)))
            .collect(),
    }
}

/// Those of its trials, and where nothing is known that others would be.
fn findings(trials: &CellTrials) -> Vec<FindingCount> {
    let mut findings = count(trials.used.values().flat_map(|u| u.findings));
    let unknown = FindingCount {
        finding: NOISE_UNKNOWN,
        trials: trials.noise_unknown(),
    };
    findings.extend((unknown.trials > 0).then_some(unknown));
    findings
}

fn metric_figures(metric: &Metric, samples: &[f64]) -> MetricFigures {
    MetricFigures {
        metric: metric.clone(),
        n: samples.len(),
        mean: mean(samples),
        sd: sd(samples),
        cv: cv(samples),
        interval: Estimate::of_mean(samples),
    }
}

fn failures(trials: &CellTrials) -> Vec<FailureCount> {
    let mut counts: BTreeMap<(String, bool), FailureCount> = BTreeMap::new();
    for (unended, ended_trial) in trials.ended_trials() {
        let reason = unended.failure.reason.to_string();
        let key = (reason.clone(), unended.skipped);
        let entry = counts.entry(key).or_insert_with(|| FailureCount {
            reason,
            trials: 0,
            attempts: 0,
            skipped: unended.skipped,
            detail: clipped(&unended.failure.detail),
        });
        entry.attempts += 1;
        entry.trials += usize::from(ended_trial);
    }
    let mut counts: Vec<_> = counts.into_values().collect();
    counts.sort_by_key(|c| std::cmp::Reverse((c.trials, c.attempts)));
    counts
}
