//! `hyperfine --export-json`.

use super::{Figure, TIME};
use serde::Deserialize;
use tare_stats::mean;

#[derive(Deserialize)]
pub(super) struct Export {
    results: Vec<Command>,
}

#[derive(Deserialize)]
struct Command {
    command: String,
    #[serde(default)]
    times: Vec<f64>,
    mean: Option<f64>,
    /// Absent of a run that a signal ended.
    #[serde(default)]
    exit_codes: Vec<Option<i32>>,
}

pub(super) fn figures(export: Export) -> Vec<Figure> {
    let figure = |command: Command| {
        let has_failed = command.exit_codes.iter().any(|code| *code != Some(0));
        Figure {
            value: mean(&command.times).or(command.mean).filter(|_| !has_failed),
            name: command.command,
            metric: TIME.into(),
            unit: Some("s".to_owned()),
            direction: None,
        }
    };
    export.results.into_iter().map(figure).collect()
}
