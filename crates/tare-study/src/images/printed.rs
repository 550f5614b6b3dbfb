//! What is known of images, as `tare image --json` prints it.

use super::{ImageFile, ImageSources};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use tare_image::store::{Listed, Manifest};
use tare_image::{Config, DebianSpec, Image};

/// What `tare image list --json` prints: the images of the store, and those that could be built.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PrintedList<'a> {
    /// The folder of the store.
    store: &'a Path,
    /// What the images may occupy together, in bytes.
    limit_bytes: u64,
    /// What they occupy together, in bytes.
    bytes: u64,
    images: Vec<Kept<'a>>,
    /// Images that come with tare and are not built.
    unbuilt: Vec<Unbuilt<'a>>,
}

/// An image of the store.
#[derive(Debug, JsonSchema, Serialize)]
struct Kept<'a> {
    #[serde(flatten)]
    manifest: &'a Manifest,
    /// What it occupies on the disk, with its own disk if there is one, in bytes.
    disk_bytes: u64,
    /// When it was last used: seconds since 1970.
    used_seconds: u64,
    /// Whether it is in use now.
    in_use: bool,
}

/// An image that comes with tare and is not built.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Unbuilt<'a> {
    name: &'a str,
    /// What it is for, in a line.
    about: &'a str,
    /// What it is made of.
    debian: &'a DebianSpec,
}

/// An image of the store, with what it says of how it is run.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Whole<'a> {
    #[serde(flatten)]
    manifest: &'a Manifest,
    /// How it is run.
    config: &'a Config,
    /// The folder of its root filesystem.
    rootfs: PathBuf,
}

/// What `tare image show`, `build` and `import` print with `--json`.
#[derive(Debug, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum PrintedImage<'a> {
    /// It is in the store.
    Kept(Whole<'a>),
    /// It could be built.
    Unbuilt(Unbuilt<'a>),
}

/// What `tare image remove --json` and `tare image prune --json` print.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Removed<'a> {
    /// The images that are no more.
    pub removed: &'a [Manifest],
}

impl<'a> PrintedList<'a> {
    /// Of a store and its images.
    pub fn new(
        site: &'a ImageSources,
        limit_bytes: u64,
        listed: &'a [Listed],
        unbuilt: &'a [ImageFile],
    ) -> Self {
        Self {
            store: site.path(),
            limit_bytes,
            bytes: listed.iter().map(|listed| listed.bytes).sum(),
            images: listed.iter().map(Kept::of).collect(),
            unbuilt: unbuilt.iter().map(Unbuilt::of).collect(),
        }
    }
}

impl<'a> Kept<'a> {
    fn of(listed: &'a Listed) -> Self {
        let since = listed.used.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            manifest: &listed.manifest,
            disk_bytes: listed.bytes,
            used_seconds: since.as_secs(),
            in_use: listed.in_use,
        }
    }
}

impl<'a> Unbuilt<'a> {
    fn of(file: &'a ImageFile) -> Self {
        Self {
            name: &file.name,
            about: &file.about,
            debian: &file.debian,
        }
    }
}

impl<'a> PrintedImage<'a> {
    /// Of an image of the store.
    pub fn of(image: &'a Image) -> Self {
        Self::Kept(Whole {
            manifest: image.manifest(),
            config: image.config(),
            rootfs: image.rootfs(),
        })
    }

    /// Of one that could be built.
    pub fn of_file(file: &'a ImageFile) -> Self {
        Self::Unbuilt(Unbuilt::of(file))
    }
}
