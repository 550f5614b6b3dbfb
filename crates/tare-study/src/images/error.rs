//! Why there is no image.

use super::engine::EngineError;
use super::names::NoName;
use std::fmt;
use std::io;
use std::path::PathBuf;
use tare_image::ImageError;
use tare_toml::TomlError;

/// Why there is no image.
#[derive(Debug, thiserror::Error)]
pub enum NoImage {
    /// Nothing is asked for.
    #[error(
        "no image is given: give a name that 'tare image list' prints, a file or folder such as ./rootfs, or an image such as debian:12"
    )]
    Empty,
    /// Something that stands in an image file, or the file as a whole.
    #[error(transparent)]
    Text(#[from] TomlError),
    /// The name of an image that comes with tare.
    #[error("\"{0}\" is the name of an image that ships with tare: choose another")]
    Reserved(String),
    /// A name that cannot be one.
    #[error(transparent)]
    Name(#[from] NoName),
    #[error(
        "cannot read {path}: {source}; give a folder with a root filesystem, an OCI layout, or an archive of an image or a root filesystem"
    )]
    Path { path: PathBuf, source: io::Error },
    /// A path that is neither a folder nor a file.
    #[error(
        "{0} is neither a folder nor a regular file: give a folder with a root filesystem, an OCI layout, or an archive"
    )]
    Kind(PathBuf),
    /// A folder that holds the store, which would be copied into itself.
    #[error(
        "{path} contains the image store {store}, which would be copied into itself: choose a folder outside it, or another store with --state-dir"
    )]
    HoldsStore {
        /// The folder.
        path: PathBuf,
        store: PathBuf,
    },
    /// An image that a local engine was asked for.
    #[error("cannot import \"{image}\" from {engine}: {source}")]
    Engine {
        engine: &'static str,
        /// The name of the image.
        image: String,
        source: Box<EngineError>,
    },
    /// A name that is found nowhere.
    #[error(transparent)]
    Nowhere(Nowhere),
    /// An image that cannot be made, taken or kept.
    #[error(transparent)]
    Image(#[from] ImageError),
}

impl NoImage {
    /// Why a local engine gives no image.
    pub(super) fn engine(engine: &'static str, image: &str, error: EngineError) -> Self {
        Self::Engine {
            engine,
            image: image.chars().filter(|c| !c.is_control()).collect(),
            source: Box::new(error),
        }
    }
}

/// A name of an image that is found nowhere, with all places that were looked at.
#[derive(Debug, thiserror::Error)]
pub struct Nowhere {
    pub name: String,
    /// What may be meant.
    pub near: Option<String>,
    /// Each place with what it said.
    pub looked: Vec<(String, String)>,
}

impl fmt::Display for Nowhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no image \"{}\": ", self.name)?;
        match &self.near {
            Some(near) => write!(f, "did you mean '{near}'? ")?,
            None => write!(
                f,
                "give a name that 'tare image list' prints, or a file or folder as ./NAME; "
            )?,
        }
        f.write_str("looked in ")?;
        for (place, (name, said)) in self.looked.iter().enumerate() {
            let between = if place == 0 { "" } else { "; in " };
            write!(f, "{between}{name} ({said})")?;
        }
        Ok(())
    }
}
