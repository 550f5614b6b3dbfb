//! An image from a registry.
//!
//! Of what OCI defines for that only two questions are needed, so that they are asked here: the
//! clients that there are bring an executor and a second TLS stack along, and tell a slow
//! registry from one that ends half-way as little as a password from a wrong name.

mod client;
mod credentials;
mod error;
mod patience;
mod realm;
mod reference;
#[cfg(test)]
mod tests;

pub use client::Deadlines;
pub use error::RegistryError;
pub use reference::{NoReference, Reference};

use crate::oci::{self, BlobKind, Blobs, DOCUMENT_BYTES};
use crate::{Digest, Image, ImageError, Store};
use client::Client;
use credentials::Credentials;
use oci_spec::image::{Descriptor, MediaType};
use std::io::Read;
use std::path::Path;

/// An image from a registry: without a password, or with that of `passwords`, the file of
/// `docker login` (`~/.docker/config.json`), which need not be there.
///
/// # Errors
/// [`ImageError`].
pub fn from_registry(
    store: &Store,
    name: &str,
    reference: &str,
    passwords: &Path,
    deadlines: Deadlines,
) -> Result<Image, ImageError> {
    let reference = Reference::parse(reference).map_err(RegistryError::from)?;
    let credentials = Credentials::read(passwords, &reference.registry).map_err(|source| {
        let path = passwords.to_owned();
        RegistryError::Credentials { path, source }
    })?;
    store.make(
        name,
        || None,
        |at| {
            let client = Client::new(reference.clone(), credentials, deadlines, store.stop())?;
            let (registry, top) = Registry::open(client, &reference)?;
            let source = format!("registry {reference}, manifest {}", registry.top);
            oci::fill(store, &registry, &[top], None, at, source)
        },
    )
}

/// A registry whose answer to a tag is known.
struct Registry {
    client: Client,
    top: Digest,
    document: Vec<u8>,
}

impl Registry {
    /// Asks for what a reference leads to, and takes its digest where none was given.
    fn open(client: Client, reference: &Reference) -> Result<(Self, Descriptor), ImageError> {
        let mut document = Vec::new();
        let read = client
            .manifest(reference.version())?
            .take(DOCUMENT_BYTES)
            .read_to_end(&mut document);
        read.map_err(|e| client.told(e))?;
        let top = reference.digest.clone().unwrap_or_else(|| Digest::of(&document));
        let size = document.len() as u64;
        let descriptor = Descriptor::new(MediaType::ImageIndex, size, top.to_oci()?);
        let registry = Self {
            client,
            top,
            document,
        };
        Ok((registry, descriptor))
    }
}

impl Blobs for Registry {
    fn open(&self, digest: &Digest, part: BlobKind) -> Result<Box<dyn Read + '_>, ImageError> {
        Ok(match part {
            _ if *digest == self.top => Box::new(&self.document[..]),
            BlobKind::Manifest => Box::new(self.client.manifest(digest.as_str())?),
            BlobKind::Blob => Box::new(self.client.blob(digest.as_str())?),
        })
    }
}
