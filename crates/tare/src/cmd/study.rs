//! From a study file, and the options beside it, to a study.

use super::root_image::{self, Unmade};
use super::{Asked, by_default, wishes_for_check};
use crate::{misplaced, out};
use std::path::Path;
use tare_model::host::HostFacts;
use tare_model::study::Study;
use tare_study::design::{Programs, StudyRequest};
use tare_study::study_file::{self, StudyFile, StudyFileError};

/// A study, and what is missing for it on this host.
pub(super) struct Sketch {
    pub study: Study,
    /// What keeps it from running here.
    pub misfits: Vec<StudyFileError>,
    /// The image that is yet to be made for it.
    pub unmade: Option<String>,
}

/// Reads the study; without platforms, it gets those of the default study that can run
/// here. Says on standard error which were left out.
pub(super) fn sketch(
    name: &str,
    options: &Asked,
    facts: &HostFacts,
    state: &Path,
    unmade: Unmade,
) -> anyhow::Result<Sketch> {
    // Which workloads are left out depends on where programs are, and that on the workloads and the
    // platforms: the file is read again with each that is known.
    let read = |programs: &Programs| file(name, options, programs);
    let all = read(&Programs::Unmade(String::new()))?;
    let asked = root_image::asked(all.wishes(), state, unmade)?;
    let file = read(&asked)?;
    let mut platforms = file.wishes().platforms.clone();
    if platforms.is_empty() {
        // All else is checked first: probing may take seconds.
        file.sketch(&wishes_for_check(file.wishes()), facts)?;
        platforms = by_default(state);
    }
    let chosen = |file: &StudyFile| StudyRequest {
        platforms: platforms.clone(),
        ..file.wishes().clone()
    };
    let wishes = chosen(&file);
    let designed = || fitting(&file, &wishes, facts);
    let programs = root_image::on_platforms(asked, &wishes, designed, state, unmade)?;
    let file = read(&programs)?;
    let chosen = chosen(&file);
    let (study, misfits) = file.sketch(&chosen, facts)?;
    Ok(Sketch {
        study,
        misfits,
        unmade: programs.unmade().map(str::to_owned),
    })
}

/// The study of a file, if it fits this host.
fn fitting(file: &StudyFile, wishes: &StudyRequest, facts: &HostFacts) -> anyhow::Result<Study> {
    let (study, misfits) = file.sketch(wishes, facts)?;
    misfits.into_iter().next().map_or(Ok(()), Err)?;
    Ok(study)
}

/// The study file with the options beside it.
fn file(name: &str, options: &Asked, programs: &Programs) -> anyhow::Result<StudyFile> {
    let mut file = study_file::read_with(name, options.small, programs)
        .map_err(|error| misplaced::in_place_of_study().unwrap_or_else(|| error.into()))?;
    if let Some(option) = options.compared {
        anyhow::bail!(
            "{option} conflicts with the study {name}, which defines what is compared: omit one of them, or edit a copy of the study"
        );
    }
    file.override_with(&options.wishes)?;
    Ok(file)
}

/// The study to be run. What tare does not have is said and left out; what does
/// not fit this host is an error.
pub(super) fn to_run(name: &str, options: &Asked, facts: &HostFacts, state: &Path) -> anyhow::Result<Study> {
    let Sketch { study, misfits, .. } = sketch(name, options, facts, state, Unmade::Make)?;
    if let Some(misfit) = misfits.into_iter().next() {
        return Err(misfit.into());
    }
    for item in study.template.iter().flat_map(|t| &t.left_out) {
        let line = format!("{} {}: {}", item.what, item.name, item.why);
        out::say_lines(&out::wrapped("skipped:", 9, &line));
    }
    Ok(study)
}
