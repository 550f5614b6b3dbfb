//! The platforms of one workload, one beside the other.

use super::weights::{Weights, Winner};
use crate::run::{Against, Analysis, Comparison, Estimate, Word};
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::metric::Metric;
use tare_model::platform::{PlatformPath, Provisioning};
use tare_model::study::{BoxKind, Cell};

/// One workload under one provisioning, in one size.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Setting {
    pub workload: String,
    /// How CPUs are granted.
    pub provisioning: Provisioning,
    /// Name of the instance type, where the study has several.
    pub instance: Option<String>,
    /// What it is measured by.
    pub metric: Metric,
    /// The platforms, the cheapest first, those without a verdict and emulated machines last.
    pub choices: Vec<Choice>,
    /// The best by the weights, where some were given.
    pub winner: Option<Winner>,
}

/// A platform.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Choice {
    pub platform: PlatformPath,
    /// Whether it is what the others are held against.
    pub is_baseline: bool,
    /// Whether its guests were translated in software.
    pub is_emulated: bool,
    /// What one typical run costs over the baseline.
    pub cost: Option<Estimate>,
    /// What is shown of that.
    pub word: Word,
    /// What many runs cost in total over the baseline: stalls are in it.
    pub mean: Option<f64>,
    /// The 99th percentile of how long requests took over the baseline's, of loads.
    pub tail: Option<f64>,
    /// Noise over the baseline's.
    pub steadiness: Option<f64>,
    /// How long a box takes to start, in seconds.
    pub start_seconds: Option<f64>,
    /// Memory of an idle box in bytes, the median of its boxes.
    pub memory_bytes: Option<f64>,
}

impl Choice {
    /// Whether its cost has a verdict, or is what others are held against.
    pub(super) fn is_judged(&self) -> bool {
        self.is_baseline || self.word != Word::None
    }
}

/// Every setting of a file, in the order of the study.
pub(super) fn all(analysis: &Analysis, weights: &Weights) -> Vec<Setting> {
    let mut settings: Vec<Setting> = Vec::new();
    for comparison in analysis.asked() {
        let cell = &comparison.cell;
        let Some(primary) = comparison.primary() else {
            continue;
        };
        let is_known = |s: &&mut Setting| {
            s.workload == cell.workload
                && s.provisioning == cell.kind.provisioning
                && s.instance == cell.kind.instance
        };
        let choice = choice(analysis, comparison);
        match settings.iter_mut().find(is_known) {
            Some(setting) => setting.choices.push(choice),
            None => settings.push(Setting {
                workload: cell.workload.clone(),
                provisioning: cell.kind.provisioning,
                instance: cell.kind.instance.clone(),
                metric: primary.metric.clone(),
                choices: vec![baseline(analysis, comparison), choice],
                winner: None,
            }),
        }
    }
    for setting in &mut settings {
        let cost = |c: &Choice| c.cost.map_or(f64::INFINITY, |e| e.value);
        setting.choices.sort_by(|a, b| {
            let last = |c: &Choice| (c.is_emulated, !c.is_judged(), c.cost.is_none());
            last(a).cmp(&last(b)).then(cost(a).total_cmp(&cost(b)))
        });
        setting.winner = weights.winner(&setting.choices);
    }
    settings
}

fn choice(analysis: &Analysis, comparison: &Comparison) -> Choice {
    let kind = &comparison.cell.kind;
    let primary = comparison.primary();
    let slices = primary.and_then(|m| m.slices.as_ref());
    let means = primary.and_then(|m| m.ratio_of_means);
    Choice {
        platform: kind.platform.clone(),
        is_baseline: false,
        is_emulated: analysis.is_emulated(&kind.platform),
        cost: comparison.ratio(),
        word: comparison.word(),
        mean: slices.and_then(|s| s.mean).or(means).map(|e| e.value),
        tail: tail(analysis, comparison),
        steadiness: primary.and_then(|m| m.steadiness.as_ref()).map(|s| s.value),
        ..of_box(analysis, kind)
    }
}

/// What others are held against: all its ratios are 1.
fn baseline(analysis: &Analysis, comparison: &Comparison) -> Choice {
    let one = comparison.ratio().map(|_| Estimate::ONE);
    Choice {
        is_baseline: true,
        cost: one,
        mean: one.map(|e| e.value),
        tail: tail(analysis, comparison).map(|_| 1.0),
        steadiness: Some(1.0),
        ..of_box(analysis, &comparison.baseline.kind)
    }
}

/// What its box costs, whatever runs in it.
fn of_box(analysis: &Analysis, kind: &BoxKind) -> Choice {
    let figures = analysis.boxes.iter().find(|b| b.kind == *kind);
    Choice {
        platform: kind.platform.clone(),
        is_baseline: false,
        is_emulated: false,
        cost: None,
        word: Word::None,
        mean: None,
        tail: None,
        steadiness: None,
        start_seconds: figures.and_then(|b| b.startup.median),
        memory_bytes: figures.and_then(|b| b.memory.median),
    }
}

/// The 99th percentile over the baseline's.
fn tail(analysis: &Analysis, comparison: &Comparison) -> Option<f64> {
    let p99 = |cell: &Cell| {
        let of = analysis.latencies.iter().find(|l| l.cell == *cell)?;
        let [_, _, p99, _] = of.percentiles;
        p99
    };
    debug_assert_eq!(comparison.against, Against::Native);
    Some(p99(&comparison.cell)? / p99(&comparison.baseline)?)
}
