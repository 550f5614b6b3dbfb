//! `tare merge`: results of one study from several hosts or days, put together.

use super::forms;
use crate::args::MergeArgs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tare_analysis::merge;
use tare_model::results::{Results, Together};
use tare_report::{benchmarks, sections};

/// Reads, puts together and prints.
pub fn run(args: &MergeArgs) -> anyhow::Result<ExitCode> {
    let paths: Vec<&Path> = args.results.iter().map(PathBuf::as_path).collect();
    forms::check(args.forms.forms.html.as_deref(), &paths)?;
    let mut together = Together::default();
    let read = |path: &&Path| Ok((path.display().to_string(), together.read(path)?));
    let files: Vec<(String, Results)> = paths.iter().map(read).collect::<anyhow::Result<_>>()?;
    let merged = merge::merge(&files, args.margin.map(|percent| percent / 100.0))?;
    let costs = benchmarks::of_merge(&merged);
    forms::tell_costs(&args.forms, &paths, &sections::merge(&merged), &merged, &costs)?;
    Ok(ExitCode::SUCCESS)
}
