//! `pytest --benchmark-json`.

use super::{Figure, TIME};
use serde::Deserialize;
use tare_stats::mean;

#[derive(Deserialize)]
pub(super) struct Report {
    benchmarks: Vec<Benchmark>,
}

#[derive(Deserialize)]
struct Benchmark {
    fullname: String,
    stats: Stats,
}

#[derive(Deserialize)]
struct Stats {
    /// Each round; with `--benchmark-save-data` only.
    #[serde(default)]
    data: Vec<f64>,
    mean: f64,
}

pub(super) fn figures(report: Report) -> Vec<Figure> {
    let figure = |benchmark: Benchmark| Figure {
        name: benchmark.fullname,
        metric: TIME.into(),
        unit: Some("s".to_owned()),
        direction: None,
        value: mean(&benchmark.stats.data).or(Some(benchmark.stats.mean)),
    };
    report.benchmarks.into_iter().map(figure).collect()
}
