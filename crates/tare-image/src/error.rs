//! Why there is no image.

use crate::digest::NoDigest;
use crate::oci::OciError;
use crate::sources::{NoMirror, NoSpec, RegistryError};
use crate::unpack::{UnpackError, is_stop};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why there is no image.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// A file of the store.
    #[error("cannot {what} {path}: {source}")]
    File {
        /// The attempted action, such as "write".
        what: &'static str,
        /// File on this host.
        path: PathBuf,
        source: io::Error,
    },
    /// Others could change what is in the store.
    #[error(
        "cannot use the image store {path}, which is not yours alone: {why}; choose a folder that only you can write to or rename"
    )]
    Open {
        /// Folder of the store.
        path: PathBuf,
        /// Who can do what.
        why: String,
    },
    /// What describes an image cannot be read.
    #[error("the image at {path} is damaged: {source}; remove that folder and import the image again")]
    Damaged {
        /// Path of its manifest.
        path: PathBuf,
        source: serde_json::Error,
    },
    /// A description cannot be written.
    #[error("cannot describe the image: {0}")]
    Write(serde_json::Error),
    /// A file of a root filesystem.
    #[error("cannot read {path}: {source}")]
    Tree {
        /// File on this host.
        path: PathBuf,
        source: io::Error,
    },
    /// No image bears that name.
    #[error("there is no image \"{name}\" in the store: {known}")]
    Unknown {
        /// The name or digest.
        name: String,
        /// Which there are, in words.
        known: String,
    },
    /// A part of a digest fits several images.
    #[error("\"{0}\" matches several images: give more digits of the digest")]
    Ambiguous(String),
    /// A name that cannot be one.
    #[error(
        "\"{0}\" is not a valid image name: give 1 to 300 printable characters that do not begin with sha256:"
    )]
    Name(String),
    /// Another process holds what is needed.
    #[error("another process {what} for over {} s: wait until it ends, or stop it", .waited.as_secs())]
    Busy {
        /// What the other process is doing.
        what: String,
        /// For how long it was waited.
        waited: Duration,
    },
    /// An image that a run uses.
    #[error("the image {0} is in use by a run: remove it after the run has ended")]
    InUse(String),
    /// The user wishes to stop.
    #[error("stopped by the user")]
    Stopped,
    /// A layer or an archive.
    #[error("cannot unpack {what}: {source}")]
    Unpack {
        /// Layer or archive.
        what: String,
        source: UnpackError,
    },
    /// A root filesystem of nothing.
    #[error("{source_name} has no files: give a root filesystem, or an image of one")]
    Empty {
        /// Where it came from.
        source_name: String,
    },
    /// A package of something else.
    #[error("{source_name} is a Helm chart, not an image: import an image that the chart names")]
    HelmChart {
        /// Where it came from.
        source_name: String,
    },
    /// An image of OCI's.
    #[error("cannot import the image: {0}")]
    Oci(#[from] OciError),
    #[error(transparent)]
    Registry(RegistryError),
    /// A specification of Debian's packages.
    #[error(transparent)]
    Spec(#[from] NoSpec),
    /// There is no mirror of Debian's.
    #[error(transparent)]
    Mirror(#[from] NoMirror),
    /// A program that cannot be run.
    #[error(
        "cannot run {program}: {source}; install it (Debian: apt-get install {})",
        package(program)
    )]
    Start {
        /// Program as found on PATH.
        program: String,
        source: io::Error,
    },
    /// A program that failed.
    #[error("{program} {how}: {last}; its full output is in {output}")]
    Program {
        /// Program as found on PATH.
        program: String,
        /// How it ended: exit status or signal.
        how: String,
        /// The last lines of what it said.
        last: String,
        /// The file with all of it.
        output: PathBuf,
    },
    /// An image that cannot be handed on as a layer.
    #[error("cannot write the image as a layer: {0}")]
    Layer(io::Error),
    /// A digest that is none.
    #[error(transparent)]
    NoDigest(#[from] NoDigest),
}

impl ImageError {
    /// For a file of the store, to be given its cause.
    pub(crate) fn file(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }

    /// For a file of a root filesystem.
    pub(crate) fn tree(path: PathBuf, source: io::Error) -> Self {
        match is_stop(&source) {
            true => Self::Stopped,
            false => Self::Tree { path, source },
        }
    }

    pub(crate) fn unpack(what: impl Into<String>) -> impl FnOnce(UnpackError) -> Self {
        let what = what.into();
        move |source| match source {
            UnpackError::Stopped => Self::Stopped,
            source => Self::Unpack { what, source },
        }
    }
}

impl From<RegistryError> for ImageError {
    fn from(error: RegistryError) -> Self {
        match error {
            RegistryError::Stopped => Self::Stopped,
            error => Self::Registry(error),
        }
    }
}

/// What to install for a program.
fn package(program: &str) -> &'static str {
    match program {
        "mvn" => "maven",
        _ => "mmdebstrap e2fsprogs",
    }
}
