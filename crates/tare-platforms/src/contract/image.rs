//! The image of a box: in the store, or as another process shows it.

use super::BoxError;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tare_image::{Image, ImageError, layer_tar};
use tare_model::protocol::InnerImage;

/// The image of a box.
#[derive(Debug, Clone)]
pub struct BoxImage {
    /// Its files, as they are seen here. Nothing may be written there.
    rootfs: PathBuf,
    /// The digits of its digest.
    digest: String,
    /// It in the store; absent in a box, where there is none: the controller keeps it.
    stored: Option<Arc<Image>>,
}

impl BoxImage {
    /// An image of the store, kept as long as this is.
    pub fn stored(image: Arc<Image>) -> Self {
        Self {
            rootfs: image.rootfs(),
            digest: image.manifest().digest.hex().to_owned(),
            stored: Some(image),
        }
    }

    /// An image that a box holds for those in it.
    pub(crate) fn held(image: &InnerImage) -> Self {
        Self {
            rootfs: image.rootfs.clone(),
            digest: image.digest.clone(),
            stored: None,
        }
    }

    /// The folder of its root filesystem.
    pub(crate) fn rootfs(&self) -> &Path {
        &self.rootfs
    }

    /// The digits of its digest.
    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }

    /// The same image as a box sees it that holds it in this folder.
    pub(crate) fn seen_at(&self, rootfs: &Path) -> InnerImage {
        InnerImage {
            rootfs: rootfs.to_owned(),
            digest: self.digest.clone(),
        }
    }

    /// Writes it as one layer.
    pub(crate) fn layer_tar(&self, to: &mut impl io::Write) -> Result<(), ImageError> {
        layer_tar(&self.rootfs, to)
    }

    /// Its disk for machines, made for the first.
    pub(crate) fn disk(&self, stop: fn() -> bool) -> Result<PathBuf, BoxError> {
        let failed = BoxError::host("make the disk of the image");
        match &self.stored {
            Some(image) => image.disk(stop).map_err(|e| failed(io::Error::other(e))),
            None => Err(failed(io::Error::other("there is no store of images in a box"))),
        }
    }
}
