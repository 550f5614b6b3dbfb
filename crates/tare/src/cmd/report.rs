//! `tare report`: from a results file to text, JSON or a page.

use crate::args::ReportArgs;
use crate::out;
use anyhow::Context;
use std::path::Path;
use std::process::ExitCode;
use tare_model::results::Results;
use tare_report::{Analysis, analyze, html, json, text};

/// Reads, analyses and prints.
pub fn run(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    if let Some(page) = &args.html {
        refuse_same(page, &args.file)?;
    }
    let results = Results::read(&args.file)?;
    let analysis = analyze(&results);
    if let Some(path) = &args.html {
        page(&analysis, path)?;
        eprintln!("page written to {}", path.display());
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

fn options() -> text::TextOptions {
    text::TextOptions {
        colour: out::colours(),
        width: out::width(),
    }
}

/// Folder in which a file is to be made.
pub fn folder_of(file: &Path) -> &Path {
    let folder = file.parent().filter(|p| !p.as_os_str().is_empty());
    folder.unwrap_or_else(|| Path::new("."))
}

/// A page must not take the place of the results that it shows.
pub fn refuse_same(page: &Path, results: &Path) -> anyhow::Result<()> {
    let place = |path: &Path| {
        let path = folder_of(path).canonicalize().ok()?.join(path.file_name()?);
        Some(path.canonicalize().unwrap_or(path))
    };
    anyhow::ensure!(
        page != results && (place(page).is_none() || place(page) != place(results)),
        "{} is the results file, and the page would take its place: give another path with --html",
        page.display()
    );
    Ok(())
}

/// Writes the page; an older one of the same name is replaced whole.
pub fn page(analysis: &Analysis, path: &Path) -> anyhow::Result<()> {
    let partial = path.with_extension("html.partial");
    std::fs::write(&partial, html::render(analysis)?)
        .and_then(|()| std::fs::rename(&partial, path))
        .inspect_err(|_| drop(std::fs::remove_file(&partial)))
        .with_context(|| {
            format!(
                "cannot write page {}: give a path that can be written with --html",
                path.display()
            )
        })
}
