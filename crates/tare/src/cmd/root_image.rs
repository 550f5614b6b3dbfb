//! The image that is the root of a study's boxes: found, or made, before the study; and found
//! again for the boxes.

use super::image;
use crate::args::image::StoreArgs;
use std::path::Path;
use std::sync::Arc;
use tare_image::Image;
use tare_lab::design::{ChosenImage, Wishes};
use tare_lab::images::{self, Site, Wish};
use tare_model::study::Study;

/// What is done about an image that is not in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmade {
    /// It is made, however long that takes.
    Make,
    /// It is an error: nothing is to be done yet.
    Refuse,
}

/// The image that is asked for, if one is.
pub fn chosen(wishes: &Wishes, state: &Path, unmade: Unmade) -> anyhow::Result<Option<Arc<ChosenImage>>> {
    let Some(name) = wishes.wanted_image() else {
        return Ok(None);
    };
    let site = site(state)?;
    let image = match unmade {
        Unmade::Make => image::take(&site, &Wish::of(name))?,
        Unmade::Refuse => images::kept(name, &site).map_err(|_| {
            anyhow::anyhow!(
                "the image '{name}' is not made yet: 'tare image build {name}' makes it, and so does 'tare run'"
            )
        })?,
    };
    Ok(Some(Arc::new(ChosenImage {
        name: name.to_owned(),
        image: Arc::new(image),
    })))
}

/// The store, with the limit that the user's environment sets.
fn site(state: &Path) -> anyhow::Result<Site> {
    Ok(Site::open(state, StoreArgs::of_environment()?.limit)?)
}

/// The image of a study that was made with it.
pub fn of(study: &Study, state: &Path) -> anyhow::Result<Option<Arc<Image>>> {
    let Some(asked) = &study.image else {
        return Ok(None);
    };
    let site = site(state)?;
    let found = site.store().get(&asked.digest);
    let image = found.map_err(|error| {
        anyhow::anyhow!("the boxes of this study have the image '{}': {error}", asked.name)
    })?;
    Ok(Some(Arc::new(image)))
}
