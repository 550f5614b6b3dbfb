//! From a study file, and the options beside it, to a study.

use super::root_image::{self, Unmade};
use super::{runnable, wishes_for_check};
use crate::args::StudyArgs;
use crate::{misplaced, out};
use std::path::Path;
use tare_lab::design::Wishes;
use tare_lab::study_file::{self, StudyFileError};
use tare_model::host::HostFacts;
use tare_model::study::Study;

/// A study, and what keeps it from running on this host.
pub(super) type Sketch = (Study, Vec<StudyFileError>);

/// Reads the study; without platforms, it gets those of the default study that can run
/// here. Says on standard error which were left out.
pub(super) fn sketch(
    name: &str,
    args: &StudyArgs,
    facts: &HostFacts,
    state: &Path,
    unmade: Unmade,
) -> anyhow::Result<Sketch> {
    let mut file = study_file::read(name, args.small)
        .map_err(|error| misplaced::in_place_of_study().unwrap_or_else(|| error.into()))?;
    if let Some(option) = args.compared() {
        anyhow::bail!(
            "{option} beside the study {name}: what is compared stands in the study; leave one of the two out, or change a copy of the study"
        );
    }
    file.override_with(&args.wishes())?;
    let image = root_image::chosen(file.wishes(), state, unmade)?;
    file.use_image(image);
    let wishes = file.wishes();
    if !wishes.platforms.is_empty() {
        return Ok(file.sketch(wishes, facts)?);
    }
    // All else is checked first: probing may take seconds.
    file.sketch(&wishes_for_check(wishes), facts)?;
    let chosen = Wishes {
        platforms: runnable(state, |entry| entry.by_default),
        ..wishes.clone()
    };
    Ok(file.sketch(&chosen, facts)?)
}

/// The study to be run. What tare does not have is said and left out; what does
/// not fit this host is an error.
pub(super) fn to_run(name: &str, args: &StudyArgs, facts: &HostFacts, state: &Path) -> anyhow::Result<Study> {
    let (study, misfits) = sketch(name, args, facts, state, Unmade::Make)?;
    if let Some(misfit) = misfits.into_iter().next() {
        return Err(misfit.into());
    }
    for item in study.template.iter().flat_map(|t| &t.left_out) {
        let line = format!("{} {}: {}", item.what, item.name, item.why);
        out::say_lines(&out::wrapped("left out:", 10, &line));
    }
    Ok(study)
}
