//! `tare published`: what studies have published.

use super::forms;
use crate::args::forms::FormArgs;
use crate::args::published::{PublishedArgs, PublishedCommand};
use crate::out;
use std::path::Path;
use std::process::ExitCode;
use tare_model::results::Results;
use tare_published::{Brief, Checked, DEFINITIONS, Library};
use tare_report::sections::published as sections;

/// Prints what was asked for.
pub fn run(args: &PublishedArgs) -> anyhow::Result<ExitCode> {
    let library = Library::load()?;
    let asked = &args.forms;
    forms::check(asked.html.as_deref(), &[])?;
    match &args.command {
        None | Some(PublishedCommand::List) => {
            let studies: Vec<Brief<'_>> = library.studies.iter().map(Brief::of).collect();
            forms::tell(asked, &[], &sections::list(&library), &studies)?;
        }
        Some(PublishedCommand::Show { study }) => {
            let study = library.study(study)?;
            forms::tell(asked, &[], &sections::study(&library, study), study)?;
        }
        Some(PublishedCommand::Check { study }) => return check(&library, study.as_deref(), asked),
        Some(PublishedCommand::Workload { name }) => {
            let view = tare_published::workload(&library, name)?;
            forms::tell(asked, &[], &sections::workload(&view), &view)?;
        }
        Some(PublishedCommand::Scores) => {
            forms::tell(asked, &[], &tare_report::sections::definitions(), &DEFINITIONS)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Puts the figures of a results file beside those of a study.
pub fn beside(results: &Path, study: &str, asked: &FormArgs) -> anyhow::Result<ExitCode> {
    let library = Library::load()?;
    let study = library.study(study)?;
    let beside = tare_published::beside(&library, study, &Results::read(results)?);
    forms::tell(asked, &[results], &sections::beside(&beside), &beside)?;
    Ok(ExitCode::SUCCESS)
}

fn check(library: &Library, study: Option<&str>, asked: &FormArgs) -> anyhow::Result<ExitCode> {
    let studies = match study {
        Some(id) => vec![tare_published::check(library.study(id)?)],
        None => library.studies.iter().map(tare_published::check).collect(),
    };
    let checked = Checked::of(studies);
    let tally = checked.tally;
    forms::tell(asked, &[], &sections::check(&checked.studies, &tally), &checked)?;
    Ok(if tally.reproduced == tally.checkable {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(out::FAILED)
    })
}
