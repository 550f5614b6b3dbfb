//! What is wrong with an image of OCI's.

use crate::Digest;
use std::io;

/// What is wrong with an image of OCI's.
#[derive(Debug, thiserror::Error)]
pub enum OciError {
    /// A blob cannot be read.
    #[error("cannot read the blob {digest}: {source}")]
    Blob {
        /// Which.
        digest: Digest,
        /// The cause.
        source: io::Error,
    },
    /// A blob holds other bytes than its name says.
    #[error(
        "{what} has the digest {found} and not {wanted}: it was changed or damaged on its way; get it again"
    )]
    Digest {
        /// Which.
        what: String,
        /// The digest that it should have.
        wanted: Digest,
        /// The digest that it has.
        found: Digest,
    },
    /// A blob ends before its size.
    #[error("the blob {0} ended after {1} of {2} bytes: get it again")]
    Short(Digest, u64, u64),
    /// A blob goes on after its size.
    #[error("the blob {0} is longer than the {1} bytes that its manifest tells: get it again")]
    Long(Digest, u64),
    /// A description that cannot be read.
    #[error("cannot read {what} as a description of an image: {source}")]
    Document {
        /// Which.
        what: String,
        /// The cause.
        source: serde_json::Error,
    },
    /// A description that is too large.
    #[error("the description {0} is larger than 4 MiB, which none is")]
    Large(Digest),
    /// A layer that is too large.
    #[error("a layer has {0} bytes, more than there is room for: raise the store's limit")]
    TooLarge(u64),
    /// Nothing for this system.
    #[error("it has no image for linux/amd64, only: {0}; take another, or have it built for linux/amd64")]
    Platform(String),
    /// Several images.
    #[error("it holds several images: say which; it has {0}")]
    Several(String),
    /// No image of that name.
    #[error("it holds no image called \"{0}\"; it has {1}")]
    Unknown(String, String),
    /// A layer that is no archive.
    #[error("it holds a layer of the type \"{0}\", which is no root filesystem's")]
    Kind(String),
    /// Manifest and configuration do not fit.
    #[error("its manifest tells {0} layers and its configuration {1}: it is damaged")]
    Layers(usize, usize),
    /// Indexes of indexes without end.
    #[error("its indexes lie in one another too deep")]
    Nested,
    /// A folder or archive that is none of an image.
    #[error(
        "it has neither the index.json of OCI nor the manifest.json of docker save: a root filesystem by itself is imported as a tarball"
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
