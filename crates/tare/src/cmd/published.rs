//! `tare published`: what studies have published.

use crate::args::published::{PublishedArgs, PublishedCommand};
use crate::cmd::report::options;
use crate::out;
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;
use tare_model::results::Results;
use tare_report::analysis::DEFINITIONS;
use tare_report::published::{self, CheckedStudy, Library, Published, Tally, text};

/// Prints what was asked for.
pub fn run(args: &PublishedArgs) -> anyhow::Result<ExitCode> {
    let library = Library::load()?;
    let json = args.json;
    match &args.command {
        None | Some(PublishedCommand::List) => list(&library, json)?,
        Some(PublishedCommand::Show { study }) => {
            let study = library.study(study)?;
            print(study, json, || text::study(&library, study, options()))?;
        }
        Some(PublishedCommand::Check { study }) => return check(&library, study.as_deref(), json),
        Some(PublishedCommand::Workload { name }) => {
            let view = published::workload(&library, name)?;
            print(&view, json, || text::workload(&view, options()))?;
        }
        Some(PublishedCommand::Scores) => {
            print(&DEFINITIONS, json, || tare_report::text::definitions(options()))?
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn print(value: &impl Serialize, json: bool, text: impl FnOnce() -> String) -> anyhow::Result<()> {
    if json {
        out::print_json(value)
    } else {
        out::print(&text())
    }
}

/// Puts the figures of a results file beside those of a study.
pub fn beside(results: &Path, study: &str, json: bool) -> anyhow::Result<ExitCode> {
    let library = Library::load()?;
    let study = library.study(study)?;
    let beside = published::beside(&library, study, &Results::read(results)?);
    print(&beside, json, || text::beside(&beside, options()))?;
    Ok(ExitCode::SUCCESS)
}

/// A study in brief.
#[derive(Serialize)]
struct Brief<'a> {
    id: &'a str,
    year: u16,
    title: &'a str,
    host: &'a str,
    figures: usize,
    checkable_claims: usize,
    errata: usize,
}

fn brief(published: &Published) -> Brief<'_> {
    Brief {
        id: &published.study.id,
        year: published.study.year,
        title: &published.study.title,
        host: &published.study.host,
        figures: published.figures(),
        checkable_claims: published.checkable(),
        errata: published.errata.len(),
    }
}

fn list(library: &Library, json: bool) -> anyhow::Result<()> {
    let studies: Vec<Brief<'_>> = library.studies.iter().map(brief).collect();
    print(&studies, json, || text::list(library, options()))
}

/// What a check comes to.
#[derive(Serialize)]
struct Checked {
    tally: Tally,
    studies: Vec<CheckedStudy>,
}

fn check(library: &Library, study: Option<&str>, json: bool) -> anyhow::Result<ExitCode> {
    let studies = match study {
        Some(id) => vec![published::check(library.study(id)?)],
        None => library.studies.iter().map(published::check).collect(),
    };
    let checked = Checked {
        tally: published::tally(&studies),
        studies,
    };
    let tally = checked.tally;
    print(&checked, json, || {
        text::check(&checked.studies, &tally, options())
    })?;
    Ok(if tally.reproduced == tally.checkable {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(out::FAILED)
    })
}
