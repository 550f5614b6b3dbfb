//! `tare trend`: how costs went over many results files.

use super::forms;
use crate::args::TrendArgs;
use crate::out;
use anyhow::Context;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tare_analysis::trend::{self, FEWEST_FOR_CHANGE, Series};
use tare_host::host;
use tare_model::results::{ReadError, Results, Together};
use tare_model::size::counted;
use tare_report::sections;

/// Reads, puts in order and prints; a cost that rose is exit code 1 where that is asked for.
pub fn run(args: &TrendArgs) -> anyhow::Result<ExitCode> {
    let paths = files(&args.paths)?;
    let sources: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    forms::check(args.forms.html.as_deref(), &sources)?;
    let files = read(&paths)?;
    let trend = trend::trend(&files, host::unix_ns())?;
    forms::tell(&args.forms, &sources, &sections::trend(&trend), &trend)?;
    let Some(percent) = args.fail_above else {
        return Ok(ExitCode::SUCCESS);
    };
    let mut risen = trend.dearer(percent / 100.0).peekable();
    let failed = risen.peek().is_some();
    for (series, change) in risen {
        out::say(&format!(
            "regression: {} costs {:.3} times as much as before its last change",
            out::one_line(&series.cell.to_string()),
            change.ratio()
        ));
    }
    trend
        .drifting()
        .for_each(|(series, _)| say_drift(series, percent));
    let short = trend.short().count();
    if short > 0 {
        out::say(&format!(
            "not judged: {short} of {}: a change is found from {FEWEST_FOR_CHANGE} runs on",
            counted(trend.series.len(), "cost")
        ));
    }
    Ok(ExitCode::from(if failed { out::FAILED } else { 0 }))
}

/// What a gate that lets a series pass must not keep to itself.
fn say_drift(series: &Series, percent: f64) {
    let [oldest, .., newest] = &series.points[..] else {
        return;
    };
    out::say(&format!(
        "not judged: the cost of {} drifts from {:.3} to {:.3}, so no step can be told from it: find what varies on the host, or compare two runs with `tare compare OLD NEW --fail-above {percent}`",
        out::one_line(&series.cell.to_string()),
        oldest.cost.value,
        newest.cost.value
    ));
}

/// The files that are named, and those of the folders that are, by their names.
fn files(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let shown = path.display();
        let entries = std::fs::read_dir(path).with_context(|| format!("cannot read folder {shown}"))?;
        let mut found: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        found.retain(|path| path.extension().is_some_and(|ext| ext == "jsonl") && path.is_file());
        found.sort();
        files.extend(found);
    }
    Ok(files)
}

/// Those of them that are results files; of others it is said that they are none.
fn read(paths: &[PathBuf]) -> Result<Vec<(String, Results)>, ReadError> {
    let (mut files, mut together) = (Vec::new(), Together::default());
    for path in paths {
        match together.read(path) {
            Ok(results) => files.push((path.display().to_string(), results)),
            Err(e @ ReadError::TooMuchTogether { .. }) => return Err(e),
            Err(e) => out::say(&format!("skipped: {}", out::one_line(&e.to_string()))),
        }
    }
    Ok(files)
}
