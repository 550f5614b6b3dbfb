//! Figures in the forms of services for benchmarks: Bencher Metric Format, and the list of the custom tools of
//! github-action-benchmark. Bounds are of repetitions within one run: they are no trials.

use super::{Figure, THROUGHPUT, VALUE};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use tare_model::metric::Direction;

/// Each benchmark, each of its measures.
pub(super) type Bmf = BTreeMap<String, BTreeMap<String, BmfMetric>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BmfMetric {
    value: f64,
    #[serde(rename = "lower_value")]
    _lower: Option<f64>,
    #[serde(rename = "upper_value")]
    _upper: Option<f64>,
}

/// An entry of `customSmallerIsBetter` or `customBiggerIsBetter`: the workflow says which, the file does not.
#[derive(Deserialize)]
pub(super) struct Entry {
    name: String,
    #[serde(default)]
    unit: String,
    value: f64,
}

/// The measures that Bencher itself defines have its units.
fn defined(measure: &str) -> Option<(&'static str, Direction)> {
    match measure {
        "latency" => Some(("ns", Direction::Lower)),
        THROUGHPUT => Some(("ops/s", Direction::Higher)),
        _ => None,
    }
}

pub(super) fn of_bmf(benchmarks: Bmf) -> Vec<Figure> {
    let of = |(name, measures): (String, BTreeMap<String, BmfMetric>)| {
        measures.into_iter().map(move |(measure, metric)| {
            let defined = defined(&measure);
            Figure {
                name: name.clone(),
                unit: defined.map(|(unit, _)| unit.to_owned()),
                direction: defined.map(|(_, direction)| direction),
                metric: Cow::Owned(measure),
                value: Some(metric.value),
            }
        })
    };
    benchmarks.into_iter().flat_map(of).collect()
}

/// The unit names the metric: entries have nothing else that tells one from another.
pub(super) fn of_entries(entries: Vec<Entry>) -> Vec<Figure> {
    let figure = |entry: Entry| {
        let unit = Some(entry.unit).filter(|unit| !unit.is_empty());
        Figure {
            name: entry.name,
            metric: unit.clone().map_or(Cow::Borrowed(VALUE), Cow::Owned),
            unit,
            direction: None,
            value: Some(entry.value),
        }
    };
    entries.into_iter().map(figure).collect()
}
