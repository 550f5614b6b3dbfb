//! `tare analyze`: the same analysis on anyone's data.

use super::forms;
use crate::args::AnalyzeArgs;
use anyhow::Context;
use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::Path;
use std::process::ExitCode;
use std::thread::available_parallelism;
use tare_analysis::foreign::{self, Input, Table, Wishes};
use tare_report::{benchmarks, sections};

/// Reads, analyses and prints.
pub fn run(args: &AnalyzeArgs) -> anyhow::Result<ExitCode> {
    let given: Vec<Given> = args.files.iter().map(|file| Given::of(file)).collect();
    let paths: Vec<&Path> = given.iter().map(|given| given.path).collect();
    forms::check(args.forms.forms.html.as_deref(), &paths)?;
    let table = read(&given)?;
    let wishes = Wishes {
        baseline: args.baseline.as_deref(),
        direction: args.direction,
        margin: args.margin / 100.0,
        threads: available_parallelism().map_or(1, usize::from),
    };
    let analysis = foreign::analyze(&table, wishes)?;
    let costs = benchmarks::of_foreign(&analysis);
    forms::tell_costs(
        &args.forms,
        &paths,
        &sections::foreign(&analysis),
        &analysis,
        &costs,
    )?;
    Ok(ExitCode::SUCCESS)
}

/// A file, with the cell that is named before it.
struct Given<'a> {
    cell: Option<&'a str>,
    path: &'a Path,
    name: String,
}

impl<'a> Given<'a> {
    /// A file whose own name has an equals sign is that file.
    fn of(given: &'a Path) -> Self {
        let pair = given.to_str().and_then(|text| text.split_once('='));
        let pair = pair.filter(|(cell, _)| !cell.is_empty() && !given.exists());
        let (cell, path) = pair.map_or((None, given), |(cell, path)| (Some(cell), Path::new(path)));
        let name = match path.as_os_str() == "-" {
            true => "standard input".to_owned(),
            false => path.display().to_string(),
        };
        Self { cell, path, name }
    }

    fn open(&self) -> anyhow::Result<Box<dyn BufRead>> {
        if self.path.as_os_str() == "-" {
            return Ok(Box::new(stdin().lock()));
        }
        let file = File::open(self.path).with_context(|| format!("cannot read {}", self.name))?;
        Ok(Box::new(BufReader::with_capacity(1 << 16, file)))
    }
}

fn read(given: &[Given<'_>]) -> anyhow::Result<Table> {
    let input = |given: &'_ Given<'_>| given.open();
    let bytes: Vec<Box<dyn BufRead>> = given.iter().map(input).collect::<anyhow::Result<_>>()?;
    let inputs = given.iter().zip(bytes).map(|(given, bytes)| Input {
        source: &given.name,
        cell: given.cell,
        bytes,
    });
    Ok(foreign::read_all(inputs.collect())?)
}
