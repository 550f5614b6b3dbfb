//! `java -jar benchmarks.jar -rf json`.

use super::{Figure, THROUGHPUT, TIME};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use tare_model::metric::Direction;
use tare_stats::mean;

#[derive(Deserialize)]
pub(super) struct Benchmark {
    benchmark: String,
    mode: String,
    #[serde(default)]
    params: BTreeMap<String, String>,
    #[serde(rename = "primaryMetric")]
    primary: Primary,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Primary {
    /// A number, or "NaN" as a text.
    #[serde(default)]
    score: Value,
    #[serde(default)]
    score_unit: Option<String>,
    /// Iterations of each fork.
    #[serde(default)]
    raw_data: Vec<Vec<Value>>,
}

pub(super) fn figures(benchmarks: &[Benchmark]) -> Vec<Figure> {
    benchmarks.iter().map(figure).collect()
}

fn figure(benchmark: &Benchmark) -> Figure {
    let is_throughput = benchmark.mode == "thrpt";
    let (metric, direction) = match is_throughput {
        true => (THROUGHPUT, Direction::Higher),
        false => (TIME, Direction::Lower),
    };
    let forks: Option<Vec<f64>> = benchmark
        .primary
        .raw_data
        .iter()
        .map(|fork| of_fork(fork))
        .collect();
    let of_forks = forks
        .filter(|forks| !forks.is_empty())
        .and_then(|forks| mean(&forks));
    Figure {
        name: name(benchmark),
        metric: metric.into(),
        unit: benchmark.primary.score_unit.clone(),
        direction: Some(direction),
        value: of_forks.or_else(|| benchmark.primary.score.as_f64()),
    }
}

fn of_fork(iterations: &[Value]) -> Option<f64> {
    let iterations: Option<Vec<f64>> = iterations.iter().map(Value::as_f64).collect();
    mean(&iterations?)
}

fn name(benchmark: &Benchmark) -> String {
    let params: Vec<String> = benchmark
        .params
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    match params.is_empty() {
        true => benchmark.benchmark.clone(),
        false => format!("{} {}", benchmark.benchmark, params.join(" ")),
    }
}
