//! Google Benchmark: `--benchmark_format=json`.

use super::{Figure, TIME};
use serde::Deserialize;
use tare_stats::mean;

#[derive(Deserialize)]
pub(super) struct Report {
    benchmarks: Vec<Run>,
}

/// A repetition of a benchmark, or what is worked out from all.
#[derive(Deserialize)]
struct Run {
    name: String,
    /// `iteration`, or `aggregate` of what is worked out; older versions do not tell.
    run_type: Option<String>,
    real_time: Option<f64>,
    time_unit: Option<String>,
    #[serde(default)]
    error_occurred: bool,
}

impl Run {
    fn seconds(&self) -> Option<f64> {
        let unit_seconds = match self.time_unit.as_deref() {
            None | Some("ns") => 1e-9,
            Some("us") => 1e-6,
            Some("ms") => 1e-3,
            Some("s") => 1.0,
            Some(_) => return None,
        };
        Some(self.real_time.filter(|_| !self.error_occurred)? * unit_seconds)
    }
}

pub(super) fn figures(report: Report) -> Vec<Figure> {
    let is_run = |run: &Run| run.run_type.as_deref() != Some("aggregate");
    let runs: Vec<Run> = report.benchmarks.into_iter().filter(is_run).collect();
    let of_one = runs.chunk_by(|a, b| a.name == b.name);
    of_one.filter_map(figure).collect()
}

fn figure(repetitions: &[Run]) -> Option<Figure> {
    let first = repetitions.first()?;
    let times: Option<Vec<f64>> = repetitions.iter().map(Run::seconds).collect();
    Some(Figure {
        name: first.name.clone(),
        metric: TIME.into(),
        unit: Some("s".to_owned()),
        direction: None,
        value: mean(&times.unwrap_or_default()),
    })
}
