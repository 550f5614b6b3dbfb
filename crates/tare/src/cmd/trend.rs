//! `tare trend`: how costs went over many results files.

use super::{briefs, forms};
use crate::args::TrendArgs;
use crate::out;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tare_analysis::Brief;
use tare_analysis::trend::{self, FEWEST_FOR_CHANGE, Series};
use tare_host::host;
use tare_model::results::ReadError;
use tare_model::size::counted;
use tare_report::sections;

/// Reads, puts in order and prints; a cost that rose is exit code 1 where that is asked for.
pub fn run(args: &TrendArgs) -> anyhow::Result<ExitCode> {
    let paths = briefs::paths(&args.paths)?;
    let sources: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    forms::check(args.forms.html.as_deref(), &sources)?;
    let files = briefs::read(&paths).into_iter().filter_map(or_skipped);
    let trend = trend::trend(files.collect(), host::unix_ns())?;
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

/// Of what is no results file it is said that it is none.
fn or_skipped(read: Result<Brief, ReadError>) -> Option<Brief> {
    read.inspect_err(|e| out::say(&format!("skipped: {}", out::one_line(&e.to_string()))))
        .ok()
}
