//! Costs in the forms that services for benchmarks take. A cost over 1 is worse, so smaller is better.

use crate::json;
use crate::show::ratio;
use serde::Serialize;
use std::collections::BTreeMap;
use tare_analysis::change::Change;
use tare_analysis::foreign::{ForeignAnalysis, ForeignComparison};
use tare_analysis::merge::Merged;
use tare_analysis::{Against, Analysis, Comparison, Estimate, MetricComparison, Word};
use tare_model::size::counted;
use tare_model::study::Cell;

/// A ratio of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// Of what: `docker pinned syscall`.
    pub name: String,
    /// `cost`, or `cost of METRIC` beside a primary one.
    pub measure: String,
    /// `times native`.
    pub unit: String,
    pub value: f64,
    /// Absent where it is open or unknown.
    pub interval: Option<(f64, f64)>,
    /// What the value rests on.
    pub basis: String,
}

/// An entry of Bencher Metric Format.
#[derive(Serialize)]
struct BmfMetric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

/// An entry of the tool `customSmallerIsBetter` of github-action-benchmark.
#[derive(Serialize)]
struct Entry<'a> {
    name: String,
    unit: &'a str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: &'a str,
}

/// `{NAME: {MEASURE: {value, lower_value, upper_value}}}`, the Bencher Metric Format.
///
/// # Errors
/// None that costs can cause.
pub fn bmf(costs: &[Cost]) -> Result<String, serde_json::Error> {
    let mut benchmarks: BTreeMap<&str, BTreeMap<&str, BmfMetric>> = BTreeMap::new();
    for cost in costs {
        let metric = BmfMetric {
            value: cost.value,
            lower_value: cost.interval.map(|ends| ends.0),
            upper_value: cost.interval.map(|ends| ends.1),
        };
        let measures = benchmarks.entry(&cost.name).or_default();
        measures.insert(&cost.measure, metric);
    }
    json::render(&benchmarks)
}

/// A list for github-action-benchmark.
///
/// # Errors
/// None that costs can cause.
pub fn github(costs: &[Cost]) -> Result<String, serde_json::Error> {
    let entries: Vec<Entry> = costs.iter().map(Entry::of).collect();
    json::render(&entries)
}

impl<'a> Entry<'a> {
    fn of(cost: &'a Cost) -> Self {
        Self {
            name: format!("{}: {}", cost.name, cost.measure),
            unit: &cost.unit,
            value: cost.value,
            range: cost
                .interval
                .map(|(low, high)| format!("{} to {}", ratio(low), ratio(high))),
            extra: &cost.basis,
        }
    }
}

/// The costs of a run.
pub fn of_report(analysis: &Analysis) -> Vec<Cost> {
    let of = |comparison: &'_ Comparison| {
        let (name, unit) = named(&comparison.cell, comparison.against, &comparison.baseline);
        let measure = |metric: &MetricComparison| match metric.metric.primary {
            true => "cost".to_owned(),
            false => format!("cost of {}", metric.metric.name),
        };
        let costs = comparison.metrics.iter();
        let costs = costs.filter_map(|metric| cost(metric, &name, measure(metric), &unit));
        costs.collect::<Vec<_>>()
    };
    analysis.comparisons.iter().flat_map(of).collect()
}

/// The name of a comparison, the same in every run, and what its cost counts in.
fn named(cell: &Cell, against: Against, baseline: &Cell) -> (String, String) {
    let platform = &baseline.kind.platform;
    match against {
        Against::Native => (cell.to_string(), format!("times {platform}")),
        Against::NativeSet => (
            format!("{cell} against {platform}-set"),
            format!("times {platform}-set"),
        ),
    }
}

/// The costs of foreign data.
pub fn of_foreign(analysis: &ForeignAnalysis) -> Vec<Cost> {
    let of = |comparison: &ForeignComparison| {
        let name = format!("{} {}", comparison.cell, comparison.figures.metric.name);
        let unit = format!("times {}", comparison.baseline);
        cost(&comparison.figures, &name, "cost".to_owned(), &unit)
    };
    analysis.comparisons.iter().filter_map(of).collect()
}

fn cost<M>(metric: &MetricComparison<M>, name: &str, measure: String, unit: &str) -> Option<Cost> {
    let paired = metric.paired.as_ref().map(|p| p.ratio);
    Some(Cost {
        name: name.to_owned(),
        measure,
        unit: unit.to_owned(),
        value: finite(metric.cost()?)?,
        interval: paired.and_then(interval),
        basis: basis(metric.n, "block", metric.word()),
    })
}

/// How often each cost of a second run is that of the first.
pub fn of_change(change: &Change) -> Vec<Cost> {
    let of = change.overheads.iter().filter_map(|of| {
        let estimate = of.change?;
        Some(Cost {
            name: named(&of.cell, of.against, &of.baseline).0,
            measure: "change".to_owned(),
            unit: "times before".to_owned(),
            value: finite(estimate.value)?,
            interval: interval(estimate),
            basis: basis(of.before.n.min(of.after.n), "pair", of.verdict.word),
        })
    });
    of.collect()
}

/// Mean costs over hosts.
pub fn of_merge(merged: &Merged) -> Vec<Cost> {
    let of = merged.comparisons.iter().filter_map(|of| {
        let estimate = of.cost?;
        Some(Cost {
            name: of.cell.to_string(),
            measure: "cost".to_owned(),
            unit: format!("times {}", of.baseline.kind.platform),
            value: finite(estimate.value)?,
            interval: interval(estimate),
            basis: basis(of.hosts.len(), "host", of.verdict.word),
        })
    });
    of.collect()
}

fn basis(n: usize, of: &str, word: Word) -> String {
    let verdict = if word == Word::None {
        "no verdict"
    } else {
        word.name()
    };
    format!("{}, {verdict}", counted(n, of))
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn interval(Estimate { low, high, .. }: Estimate) -> Option<(f64, f64)> {
    finite(low).zip(finite(high))
}
