//! A folder in OCI's image layout.

use crate::oci::{self, BlobKind, Blobs, DOCUMENT_BYTES, OciError};
use crate::store::Filled;
use crate::unpack::Fault;
use crate::unpack::beneath::Top;
use crate::{Digest, Image, ImageError, Store};
use oci_spec::image::ImageIndex;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

const INDEX: &str = "index.json";
/// Folders within one another on the way to a file of a layout.
const DEEPEST: usize = 16;

/// An image in a folder in OCI's image layout; of several that which is called `reference`.
///
/// # Errors
/// [`ImageError`].
pub fn from_oci_layout(
    store: &Store,
    name: &str,
    folder: &Path,
    reference: Option<&str>,
) -> Result<Image, ImageError> {
    store.make(
        name,
        || None,
        |at| {
            let files = Files::open(folder)?;
            let index = files.small(INDEX)?.ok_or(OciError::NoImage)?;
            let source = format!("OCI layout {}", folder.display());
            fill(store, &files, &index, reference, at, source)
        },
    )
}

/// What the index of a layout leads to.
pub(super) fn fill(
    store: &Store,
    files: &Files,
    index: &[u8],
    reference: Option<&str>,
    at: &Path,
    source: String,
) -> Result<Filled, ImageError> {
    let index: ImageIndex = serde_json::from_slice(index).map_err(|source| {
        let what = INDEX.to_owned();
        OciError::Document { what, source }
    })?;
    oci::fill(store, files, index.manifests(), reference, at, source)
}

/// Files of a folder that somebody else wrote: its links lead nowhere else.
pub(super) struct Files {
    path: PathBuf,
    top: Top,
}

impl Files {
    pub fn open(path: &Path) -> Result<Self, ImageError> {
        let real = path.canonicalize().map_err(ImageError::file("look at", path))?;
        let top = Top::open(&real, DEEPEST).map_err(ImageError::file("open the folder", path))?;
        Ok(Self { path: real, top })
    }

    /// A file; `None` if it is not there.
    pub fn file(&self, path: &str) -> Result<Option<File>, ImageError> {
        match self.top.file(path.as_bytes()) {
            Ok(file) => Ok(Some(file)),
            Err(Fault::Nothing) => Ok(None),
            Err(fault) => Err(ImageError::Tree {
                path: self.path.join(path),
                source: io::Error::other(fault),
            }),
        }
    }

    /// A file that is kept in memory.
    pub fn small(&self, path: &str) -> Result<Option<Vec<u8>>, ImageError> {
        let Some(file) = self.file(path)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        let read = file.take(DOCUMENT_BYTES).read_to_end(&mut bytes);
        read.map_err(ImageError::file("read", self.path.join(path)))?;
        Ok(Some(bytes))
    }
}

impl Blobs for Files {
    fn open(&self, digest: &Digest, _part: BlobKind) -> Result<Box<dyn Read + '_>, ImageError> {
        let missing = || OciError::blob(digest, io::ErrorKind::NotFound.into());
        let file = self.file(&format!("blobs/sha256/{}", digest.hex()))?;
        Ok(Box::new(file.ok_or_else(missing)?))
    }
}
