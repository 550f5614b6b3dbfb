//! What is wrong with an image of OCI's.

use crate::{ARCHITECTURE, Digest};
use std::io;

/// What is wrong with an image of OCI's.
#[derive(Debug, thiserror::Error)]
pub enum OciError {
    /// A blob cannot be read.
    #[error("cannot read the blob {digest}: {source}")]
    Blob {
        /// Digest of the blob.
        digest: Digest,
        source: io::Error,
    },
    /// A blob holds other bytes than its name says.
    #[error(
        "{what} has digest {found} instead of {wanted}: it was changed or damaged in transit; download it again"
    )]
    Digest {
        /// Blob or document.
        what: String,
        /// The digest that it should have.
        wanted: Digest,
        /// The digest that it has.
        found: Digest,
    },
    /// A blob ends before its size.
    #[error("the blob {0} ended after {1} of {2} bytes: download it again")]
    Short(Digest, u64, u64),
    /// A blob goes on after its size.
    #[error("the blob {0} is longer than the {1} bytes in its manifest: download it again")]
    Long(Digest, u64),
    /// A description that cannot be read.
    #[error("cannot read {what} as a description of an image: {source}")]
    Document {
        /// Blob or document.
        what: String,
        source: serde_json::Error,
    },
    /// A description that is too large.
    #[error("the description {0} is larger than 4 MiB, the limit for manifests")]
    Large(Digest),
    /// A layer that is too large.
    #[error("a layer has {0} bytes, more than the store has room for: raise its limit")]
    TooLarge(u64),
    /// Nothing for this system.
    #[error(
        "it has no image for linux/{ours}, only for {0}: choose another, or have it built for linux/{ours}",
        ours = ARCHITECTURE
    )]
    Platform(String),
    /// Several images.
    #[error("it contains several images: choose one with 'tare image import --part NAME': {0}")]
    Several(String),
    /// No image of that name.
    #[error("it contains no image \"{0}\", only {1}")]
    Unknown(String, String),
    /// A layer that is no archive.
    #[error("it contains a layer of type \"{0}\", which is not part of a root filesystem")]
    Kind(String),
    /// A manifest of something else.
    #[error("it is no image but {}", artifact(.0))]
    Artifact(String),
    /// Manifest and configuration do not fit.
    #[error("its manifest lists {0} layers and its configuration {1}: it is damaged")]
    Layers(usize, usize),
    /// Indexes of indexes without end.
    #[error("its indexes are nested too deeply")]
    Nested,
    /// A folder or archive that is none of an image.
    #[error(
        "it has neither an OCI index.json nor a manifest.json of docker save: import a bare root filesystem as a tarball"
    )]
    NoImage,
}

impl OciError {
    pub(crate) fn blob(digest: &Digest, source: io::Error) -> Self {
        Self::Blob {
            digest: digest.clone(),
            source,
        }
    }
}

/// What a manifest with such a configuration is.
fn artifact(kind: &str) -> String {
    match kind {
        "application/vnd.cncf.helm.config.v1+json" => {
            "a Helm chart: import an image that the chart names".to_owned()
        }
        kind => format!("an artifact of type \"{kind}\": check its name and tag"),
    }
}
