//! An image that is in use.

use super::lock::{self, Lock, Patience};
use super::{CONFIG, Manifest, ROOTFS};
use crate::{Config, ImageError, Stop};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) const DISK: &str = "disk.ext4";

/// An image of the store. As long as it is kept, nobody removes it.
#[derive(Debug)]
pub struct Image {
    folder: PathBuf,
    manifest: Manifest,
    config: Config,
    /// Shared with all that use the image.
    _lock: Lock,
}

impl Image {
    pub(super) fn open(folder: PathBuf, lock: Lock, manifest: Manifest) -> Result<Self, ImageError> {
        let path = folder.join(CONFIG);
        let text = fs::read(&path).map_err(ImageError::file("read", &path))?;
        let config = serde_json::from_slice(&text).map_err(|source| ImageError::Damaged {
            path: folder.clone(),
            source,
        })?;
        Ok(Self {
            folder,
            manifest,
            config,
            _lock: lock,
        })
    }

    /// What the store knows of it.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// How it is run.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The folder of its root filesystem: the lower layer of an overlay, or to be bound read-only.
    /// Nothing may be written into it.
    pub fn rootfs(&self) -> PathBuf {
        self.folder.join(ROOTFS)
    }

    /// A lock of the file of that name beside the image; `what` says what another does that has it.
    pub(crate) fn lock_beside(
        &self,
        name: &str,
        most: Duration,
        stop: Stop,
        what: &str,
    ) -> Result<Lock, ImageError> {
        let path = self.folder.join(name);
        let lock = lock::file(&path).map_err(ImageError::file("lock", &path))?;
        lock::wait(&lock, &path, Patience { most, stop }, what)?;
        Ok(lock)
    }

    /// Its folder in the store.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}
