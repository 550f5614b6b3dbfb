//! Layers of images into a folder: the tar archives of OCI, one on another.
//!
//! What is in an archive was chosen by somebody else. Nothing is written but below the folder
//! (`beneath`), no more than [`Limits`] allow, and no device is ever made.

pub(crate) mod beneath;
mod entry;
mod fault;
mod layer;
mod make;
pub(crate) mod stream;
#[cfg(test)]
mod tests;

pub use fault::Fault;

use crate::digest::Digesting;
use crate::{Digest, Stop};
pub(crate) use make::fill;

use beneath::{Missing, Top, names};
use make::FolderMeta;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use stream::{Allowance, Metered, Spent};

/// What an image may hold at most.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Files, folders and links of all layers.
    pub entries: u64,
    /// Bytes of all layers, unpacked.
    pub bytes: u64,
    /// Folders within one another.
    pub depth: usize,
}

impl Default for Limits {
    /// Over ten times what the largest images in use have. The depth is bounded by descriptors:
    /// a walk keeps one per folder, and 1024 are usual for a process.
    fn default() -> Self {
        Self {
            entries: 4_000_000,
            bytes: 128 << 30,
            depth: 256,
        }
    }
}

/// Why layers cannot be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// An entry is refused.
    #[error("cannot unpack {path}: {fault}")]
    Entry {
        /// Its path in the archive, made printable.
        path: String,
        fault: Fault,
    },
    /// The archive itself is broken.
    #[error("cannot read the archive: {0}; it is damaged or truncated: download it again")]
    Archive(io::Error),
    /// There are more entries than are allowed.
    #[error("it contains more than {0} files, the limit for an image")]
    Entries(u64),
    /// There are more bytes than are allowed.
    #[error("it contains more than {0} bytes unpacked, more than the store has room for: raise its limit")]
    Bytes(u64),
    /// The user wishes to stop.
    #[error("stopped by the user")]
    Stopped,
    /// The folder that is unpacked into.
    #[error("cannot write to the folder of the image: {0}")]
    Folder(io::Error),
}

/// What was unpacked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Entries of all layers.
    pub entries: u64,
    /// Devices, pipes, sockets and what is unknown: left out.
    pub left_out: u64,
}

/// Layers as they are unpacked into one folder.
pub struct Unpacker {
    top: Top,
    limits: Limits,
    allowance: Allowance,
    stop: Stop,
    counts: Counts,
    /// Modes and times of folders wait for the end: nothing could be written into some.
    folders: BTreeMap<Vec<u8>, FolderMeta>,
    /// Owners and capabilities can be set by root alone.
    is_root: bool,
}

impl Unpacker {
    /// Begins in a folder that is empty and this process's own.
    ///
    /// # Errors
    /// [`UnpackError::Folder`].
    pub fn new(folder: &Path, limits: Limits, stop: Stop) -> Result<Self, UnpackError> {
        Ok(Self {
            top: Top::open(folder, limits.depth).map_err(UnpackError::Folder)?,
            limits,
            allowance: Allowance::new(limits.bytes),
            stop,
            counts: Counts::default(),
            folders: BTreeMap::new(),
            is_root: rustix::process::geteuid().is_root(),
        })
    }

    /// One layer, on those before it: a tar archive, as it is or packed by gzip or zstd. It is
    /// read to its end. Returns the digest of the archive itself, unpacked.
    ///
    /// # Errors
    /// [`UnpackError`]; the folder holds a part then.
    pub fn layer(&mut self, packed: impl Read) -> Result<Digest, UnpackError> {
        let unpacked = stream::unpacked(packed).map_err(|e| self.broken(e))?;
        let metered = Metered::new(unpacked, self.allowance.clone(), self.stop);
        let mut digesting = Digesting::new(metered);
        layer::unpack(self, &mut digesting)?;
        self.allowance.header(u64::MAX);
        io::copy(&mut digesting, &mut io::sink()).map_err(|e| self.broken(e))?;
        Ok(digesting.so_far().0)
    }

    /// Modes and times of folders, when all layers are there.
    ///
    /// # Errors
    /// [`UnpackError::Entry`] as the system says.
    pub fn finish(self) -> Result<Counts, UnpackError> {
        // The deepest first: what is above may let nobody in any more.
        for (path, meta) in self.folders.iter().rev() {
            let settle = || {
                let place = self.top.walk(&names(path, usize::MAX)?, Missing::Refuse)?;
                meta.settle(&place.folder)
            };
            settle().map_err(|fault| refused(path, fault))?;
        }
        Ok(self.counts)
    }

    /// What an error of the stream means.
    fn broken(&self, error: io::Error) -> UnpackError {
        match spent(&error) {
            Some(Spent::Total) => UnpackError::Bytes(self.limits.bytes),
            Some(Spent::Stopped) => UnpackError::Stopped,
            Some(Spent::Header) | None => UnpackError::Archive(error),
        }
    }
}

fn spent(error: &io::Error) -> Option<Spent> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = error.get_ref().map(|e| e as _);
    while let Some(at) = cause {
        if let Some(spent) = at.downcast_ref::<Spent>() {
            return Some(*spent);
        }
        // An error of io within another hides what it was made of from `source`.
        let inner = at.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        cause = inner.map(|e| e as _).or_else(|| at.source());
    }
    None
}

fn refused(path: &[u8], fault: Fault) -> UnpackError {
    /// As much of a hostile path as a line holds.
    const BRIEF: usize = 200;
    let shown: String = path.escape_ascii().map(char::from).take(BRIEF).collect();
    UnpackError::Entry { path: shown, fault }
}
