//! `tare analyze`: the same analysis on anyone's data.

use super::forms;
use crate::args::AnalyzeArgs;
use anyhow::Context;
use std::fs::File;
use std::io::{BufReader, stdin};
use std::process::ExitCode;
use std::thread::available_parallelism;
use tare_analysis::foreign::{self, Table, Wishes};
use tare_report::sections;

/// Reads, analyses and prints.
pub fn run(args: &AnalyzeArgs) -> anyhow::Result<ExitCode> {
    forms::check(args.forms.html.as_deref(), &[&args.file])?;
    let table = read(args)?;
    let wishes = Wishes {
        baseline: args.baseline.as_deref(),
        direction: args.direction,
        margin: args.margin / 100.0,
        threads: available_parallelism().map_or(1, usize::from),
    };
    let analysis = foreign::analyze(&table, wishes)?;
    forms::tell(
        &args.forms,
        &[&args.file],
        &sections::foreign(&analysis),
        &analysis,
    )?;
    Ok(ExitCode::SUCCESS)
}

fn read(args: &AnalyzeArgs) -> anyhow::Result<Table> {
    if args.file.as_os_str() == "-" {
        return Ok(foreign::read("standard input", stdin().lock())?);
    }
    let name = args.file.display().to_string();
    let file = File::open(&args.file).with_context(|| format!("cannot read {name}"))?;
    Ok(foreign::read(&name, BufReader::with_capacity(1 << 16, file))?)
}
