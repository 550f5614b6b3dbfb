//! `tare report`: from a results file to text, JSON or a page.

use crate::args::ReportArgs;
use crate::out;
use anyhow::Context;
use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitCode;
use tare_model::results::Results;
use tare_report::{Analysis, analyze, html, json, text};

/// Reads, analyses and prints.
pub fn run(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    if let Some(page) = &args.html {
        refuse_same(page, &args.file)?;
        refuse_foreign(page)?;
    }
    let results = Results::read(&args.file)?;
    let analysis = analyze(&results);
    if let Some(path) = &args.html {
        page(&analysis, path)?;
        out::say(&format!("page written to {}", path.display()));
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

/// A page takes the place of nothing but an older page: not of a device, a pipe or
/// somebody's notes.
pub fn refuse_foreign(page: &Path) -> anyhow::Result<()> {
    let Ok(found) = std::fs::metadata(page) else {
        return Ok(());
    };
    let is_page = || -> std::io::Result<bool> {
        let mut start = Vec::new();
        std::fs::File::open(page)?
            .take(PAGE_START.len() as u64)
            .read_to_end(&mut start)?;
        Ok(start.is_empty() || start.eq_ignore_ascii_case(PAGE_START))
    };
    anyhow::ensure!(
        found.is_file() && is_page().unwrap_or(false),
        "{} is there and is no page, and a page would take its place: give another path with --html",
        page.display()
    );
    Ok(())
}

/// What every page begins with.
const PAGE_START: &[u8] = b"<!DOCTYPE html>";

/// Writes the page; an older one of the same name is replaced whole.
pub fn page(analysis: &Analysis, path: &Path) -> anyhow::Result<()> {
    refuse_foreign(path)?;
    // Where the path is a link, its target is the page.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let rendered = html::render(analysis)?;
    let name = format!(".tare-page-{}.partial", std::process::id());
    let partial = folder_of(path).join(name);
    let mut options = std::fs::OpenOptions::new();
    options
        .write(true)
        .create_new(true)
        .open(&partial)
        .and_then(|mut file| {
            file.write_all(rendered.as_bytes())
                .and_then(|()| std::fs::rename(&partial, path))
                .inspect_err(|_| drop(std::fs::remove_file(&partial)))
        })
        .with_context(|| {
            format!(
                "cannot write page {}: give a path that can be written with --html",
                path.display()
            )
        })
}
