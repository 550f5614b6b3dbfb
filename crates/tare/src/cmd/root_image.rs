//! The image that is the root of a study's boxes: found, or made, before the study; and found
//! again for the boxes.
//!
//! An image that the user names is had, or nothing is run. One that only the workloads name is had
//! where it can be: else boxes get the programs of this host, and that is told.

use super::{image, plan_words};
use crate::args::image::StoreArgs;
use crate::out;
use std::path::Path;
use std::sync::Arc;
use tare_image::Image;
use tare_lab::preflight::{self, Platforms, PreflightError};
use tare_model::study::Study;
use tare_study::design::{ChosenImage, Programs, StudyRequest};
use tare_study::images::{self, ImageSources, Wish};

/// What is done about an image that is not in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmade {
    /// It is made, however long that takes.
    Make,
    /// Nothing is to be done yet.
    Leave,
}

/// Where the programs are as far as that does not depend on the platforms: in the image that the
/// user names, if the store has it; in one that is yet to be made, or that the workloads name, which
/// is neither looked for nor made; or on the host.
pub fn asked(wishes: &StudyRequest, state: &Path, unmade: Unmade) -> anyhow::Result<Programs> {
    let Some(name) = wishes.wanted_image() else {
        let named = wishes.image_of_workloads()?;
        return Ok(named.map_or(Programs::Host, Programs::Unmade));
    };
    let site = site(state)?;
    match (images::made(name, &site), unmade) {
        (Ok(image), Unmade::Leave) => Ok(in_image(name, image)),
        // What it was made of may have changed.
        (Ok(_), Unmade::Make) => Ok(in_image(name, image::take(&site, &Wish::of(name))?)),
        (Err(_), Unmade::Make) => Ok(Programs::Unmade(name.to_owned())),
        (Err(_), Unmade::Leave) => anyhow::bail!(
            "the image '{name}' is not in the store yet: 'tare run' gets it, and so do 'tare image build' and 'tare image import' (docs/images.md)"
        ),
    }
}

/// Where the programs are on the platforms that are wished for: an image that is yet to be made is
/// found, or made, once it is known that the study, as it is designed with what was `asked`, can run
/// here: nobody shall wait for the image of boxes that cannot be. Says on standard error why one is
/// not had that only the workloads name.
pub fn on_platforms(
    asked: Programs,
    wishes: &StudyRequest,
    designed: impl FnOnce() -> anyhow::Result<Study>,
    state: &Path,
    unmade: Unmade,
) -> anyhow::Result<Programs> {
    let Programs::Unmade(name) = asked else {
        return Ok(asked);
    };
    // A mistake in an image file is the user's to mend, and no reason to do without the image.
    images::meant(&name)?;
    let study = match unmade {
        Unmade::Make => Some(designed()?),
        Unmade::Leave => None,
    };
    let without = preflight::without_image(&wishes.platforms, state);
    if let (Some(_), Some(study)) = (wishes.wanted_image(), &study) {
        without.map_or(Ok(()), Err)?;
        return Ok(in_image(&name, make(&name, study, state, &site(state)?)?));
    }
    let why = match without {
        Some(why) => why.to_string(),
        None => match of_workloads(&name, study.as_ref(), state) {
            Err(error) if !image::is_stopped(&error) && !error.is::<PreflightError>() => error.to_string(),
            had => return had,
        },
    };
    let line = format!("{name}, which the workloads name: {why}; boxes use the programs of this host");
    out::say_lines(&out::wrapped("no image:", 10, &line));
    Ok(Programs::Host)
}

/// Made for a study; without one, for a plan, it is looked for alone.
fn of_workloads(name: &str, study: Option<&Study>, state: &Path) -> anyhow::Result<Programs> {
    // A plan makes no store either.
    let has_store = study.is_some() || images::folder(state).is_dir();
    let site = has_store.then(|| site(state)).transpose()?;
    let made = site.as_ref().and_then(|site| images::made(name, site).ok());
    if let Some(image) = made {
        return Ok(in_image(name, image));
    }
    if let Some(why) = images::unbuildable(name) {
        anyhow::bail!(why);
    }
    match (study, site) {
        (Some(study), Some(site)) => Ok(in_image(name, make(name, study, state, &site)?)),
        _ => Ok(Programs::Unmade(name.to_owned())),
    }
}

/// Makes or fetches an image. What would keep its study from running here, whatever the image
/// holds, is found before.
fn make(name: &str, study: &Study, state: &Path, site: &ImageSources) -> anyhow::Result<Image> {
    let platforms = Platforms::open(&study.platforms, state)?;
    platforms.check_barriers(study)?;
    platforms.check_limits(study)?;
    let foreseen = platforms.foresee_before_image(study);
    if let Err(futile) = foreseen.worth(study) {
        out::say_lines(&plan_words::foreseen(&foreseen));
        return Err(PreflightError::from(futile).into());
    }
    Ok(image::take(site, &Wish::of(name))?)
}

fn in_image(name: &str, image: Image) -> Programs {
    Programs::Image(Arc::new(ChosenImage {
        name: name.to_owned(),
        image: Arc::new(image),
    }))
}

/// The store, with the limit that the user's environment sets.
fn site(state: &Path) -> anyhow::Result<ImageSources> {
    Ok(ImageSources::open(state, StoreArgs::of_environment()?.limit)?)
}

/// The image of a study that was made with it.
pub fn of(study: &Study, state: &Path) -> anyhow::Result<Option<Arc<Image>>> {
    let Some(asked) = &study.image else {
        return Ok(None);
    };
    let site = site(state)?;
    let found = site.store().get(&asked.digest);
    let image = found.map_err(|error| {
        anyhow::anyhow!("the boxes of this study use the image '{}': {error}", asked.name)
    })?;
    Ok(Some(Arc::new(image)))
}
