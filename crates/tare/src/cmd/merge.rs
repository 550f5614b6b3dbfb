//! `tare merge`: results of one study from several hosts or days, put together.

use super::{briefs, forms};
use crate::args::MergeArgs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tare_analysis::Brief;
use tare_analysis::merge;
use tare_report::{benchmarks, sections};

/// Reads, puts together and prints.
pub fn run(args: &MergeArgs) -> anyhow::Result<ExitCode> {
    let paths = briefs::paths(&args.results)?;
    let sources: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    forms::check(args.forms.forms.html.as_deref(), &sources)?;
    let files: Vec<Brief> = briefs::read(&paths).into_iter().collect::<Result<_, _>>()?;
    let merged = merge::merge(files, args.margin.map(|percent| percent / 100.0))?;
    let costs = benchmarks::of_merge(&merged);
    forms::tell_costs(&args.forms, &sources, &sections::merge(&merged), &merged, &costs)?;
    Ok(ExitCode::SUCCESS)
}
