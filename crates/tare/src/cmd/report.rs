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
    if args.details {
        out::print(&text::render(&analysis, options()))?;
    } else if args.json || args.html.is_none() {
        print_answer(&analysis, args.json, &args.file, args.html.as_deref())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints what an analysis comes to, and where the rest is; as JSON it is whole.
pub fn print_answer(
    analysis: &Analysis,
    as_json: bool,
    file: &Path,
    page: Option<&Path>,
) -> anyhow::Result<()> {
    if as_json {
        return out::print(&(json::render(analysis)? + "\n"));
    }
    let file = out::word(&file.display().to_string());
    let page = page.map(out::path);
    let program = out::program();
    // Whatever wraps this program, such as a private engine, is to do so again.
    let again = std::env::var("TARE_AGAIN").ok();
    let place = text::Where {
        again: again.as_deref(),
        program: &program,
        file: &file,
        page: page.as_deref(),
    };
    out::print(&text::answer(analysis, place, options()))
}

/// How to print on this terminal.
pub fn options() -> text::TextOptions {
    text::TextOptions {
        colour: out::colours(),
        width: out::width(),
        ascii: out::ascii(),
    }
}

/// Writes the page; an older one of the same name is replaced whole.
pub fn page(analysis: &Analysis, path: &Path) -> anyhow::Result<()> {
    files::write_page(path, &html::render(analysis)?)
}
