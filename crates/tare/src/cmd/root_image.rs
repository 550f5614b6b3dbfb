//! The image that is the root of a study's boxes: found, or made, before the study; and again
//! for the boxes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use tare_image::{Image, Store};
use tare_lab::design::ChosenImage;
use tare_model::study::Study;

/// The word that asks for no image where a workload would have one.
const NONE: &str = "none";

/// The image of this name.
pub fn chosen(name: Option<&str>, state: &Path) -> anyhow::Result<Option<Arc<ChosenImage>>> {
    let Some(name) = name.filter(|name| *name != NONE) else {
        return Ok(None);
    };
    let store = Store::open(&state.join("images"), 20 << 30)?;
    let image = if name.starts_with(['.', '/']) {
        tare_image::from_directory(&store, "directory", &PathBuf::from(name))?
    } else {
        store.get(name)?
    };
    Ok(Some(Arc::new(ChosenImage {
        name: name.to_owned(),
        image: Arc::new(image),
    })))
}

/// The image of a study that was made with it.
pub fn of(study: &Study, state: &Path) -> anyhow::Result<Option<Arc<Image>>> {
    let Some(asked) = &study.image else {
        return Ok(None);
    };
    let store = Store::open(&state.join("images"), 20 << 30)?;
    Ok(Some(Arc::new(store.get(&asked.digest)?)))
}
