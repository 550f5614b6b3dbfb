//! `tare report`: from a results file to text, JSON or a page.

use crate::args::ReportArgs;
use crate::{files, out};
use std::path::Path;
use std::process::ExitCode;
use tare_model::results::Results;
use tare_report::{Analysis, analyze, html, json, text};

/// Reads, analyses and prints.
pub fn run(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    if let Some(page) = &args.html {
        files::refuse_same(page, &args.file)?;
        files::refuse_foreign(page)?;
    }
    let results = Results::read(&args.file)?;
    let analysis = analyze(&results);
    if let Some(path) = &args.html {
        page(&analysis, path)?;
        out::say(&format!("page written to {}", out::path(path)));
    }
    if args.json || args.html.is_none() {
        print(&analysis, args.json)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints an analysis whole.
fn print(analysis: &Analysis, as_json: bool) -> anyhow::Result<()> {
    let text = if as_json {
        json::render(analysis)? + "\n"
    } else {
        text::render(analysis, options())
    };
    out::print(&text)
}

/// Prints what an analysis comes to; as JSON it is whole.
pub fn print_summary(analysis: &Analysis, as_json: bool) -> anyhow::Result<()> {
    let text = if as_json {
        json::render(analysis)? + "\n"
    } else {
        text::summary(analysis, options())
    };
    out::print(&text)
}

/// How to print on this terminal.
pub fn options() -> text::TextOptions {
    text::TextOptions {
        colour: out::colours(),
        width: out::width(),
    }
}

/// Writes the page; an older one of the same name is replaced whole.
pub fn page(analysis: &Analysis, path: &Path) -> anyhow::Result<()> {
    files::write_page(path, &html::render(analysis)?)
}
