//! criterion: `target/criterion/**/new/sample.json` of a benchmark, or the messages of
//! `cargo criterion --message-format=json`.

use super::{Figure, TIME};
use serde::Deserialize;
use std::path::Path;

#[derive(Deserialize)]
pub(super) struct Sample {
    iters: Vec<f64>,
    /// Nanoseconds of all iterations of a sample.
    times: Vec<f64>,
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    iteration_count: Vec<f64>,
    #[serde(default)]
    measured_values: Vec<f64>,
    #[serde(default)]
    unit: Option<String>,
}

/// The file does not name its benchmark: its folders do.
pub(super) fn sample(source: &str, sample: &Sample) -> Vec<Figure> {
    vec![Figure {
        name: benchmark(source),
        metric: TIME.into(),
        unit: Some("ns".to_owned()),
        direction: None,
        value: per_iteration(&sample.times, &sample.iters),
    }]
}

pub(super) fn messages(text: &str) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let message: Message = super::parse(line)?;
        if message.reason == "benchmark-complete" {
            figures.push(Figure {
                value: per_iteration(&message.measured_values, &message.iteration_count),
                name: message.id,
                metric: TIME.into(),
                unit: message.unit,
                direction: None,
            });
        }
    }
    Ok(figures)
}

fn per_iteration(totals: &[f64], iterations: &[f64]) -> Option<f64> {
    let value = totals.iter().sum::<f64>() / iterations.iter().sum::<f64>();
    (totals.len() == iterations.len() && value.is_finite()).then_some(value)
}

/// `target/criterion/fib/20/new/sample.json` is of `fib/20`.
fn benchmark(source: &str) -> String {
    let path = Path::new(source);
    let run = path.parent().and_then(Path::parent);
    let names: Vec<_> = run
        .into_iter()
        .flatten()
        .map(|name| name.to_string_lossy())
        .collect();
    let after = names
        .iter()
        .rposition(|name| name == "criterion")
        .map_or(0, |at| at + 1);
    match names.get(after..) {
        Some(names) if !names.is_empty() => names.join("/"),
        _ => source.to_owned(),
    }
}
