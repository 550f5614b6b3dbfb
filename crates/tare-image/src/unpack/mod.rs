//! Layers of images into a folder: the tar archives of OCI, one on another.
//!
//! What is in an archive was chosen by somebody else. Nothing is written but below the folder
//! (`beneath`), no more than [`Limits`] allow, and no device is ever made.

pub(crate) mod beneath;
mod entry;
mod fault;
mod fresh;
mod layer;
mod make;
pub(crate) mod stream;
#[cfg(test)]
mod tests;

pub use fault::Fault;

use crate::digest::Digesting;
use crate::{Digest, Stop};
pub(crate) use make::fill;

use beneath::{Missing, Top, WALK, names};
use make::FolderMeta;
use rustix::fs::{FileType, Mode, openat};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
pub use stream::Foreign;
use stream::{Allowance, Metered, Spent};

/// What an image may hold at most.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Files, folders and links of all layers.
    pub entries: u64,
    /// Bytes of all layers, unpacked.
    pub bytes: u64,
    /// Bytes of all paths together, and of what links lead to.
    pub path_bytes: u64,
    /// Folders within one another.
    pub depth: usize,
}

impl Default for Limits {
    /// Over ten times the entries and bytes of the largest images in use, and five times their paths
    /// (400,000 of 120 bytes). The depth is bounded by descriptors: a walk keeps one per folder, and
    /// 1024 are usual for a process.
    fn default() -> Self {
        Self {
            entries: 4_000_000,
            bytes: 128 << 30,
            path_bytes: 256 << 20,
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
    /// It is something else.
    #[error("{}", .0.map_or_else(|| "it is not a tar archive, plain or compressed by gzip or zstd".to_owned(), |foreign| foreign.to_string()))]
    NoArchive(Option<Foreign>),
    /// There are more entries than are allowed.
    #[error("it contains more than {0} files, the limit for an image")]
    Entries(u64),
    /// The paths are longer than is allowed.
    #[error("the paths in it take more than {} MiB, the limit for an image", .0 >> 20)]
    Paths(u64),
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
    /// Folders that are no entries, but above some.
    made: u64,
    /// Bytes of the paths of all entries, and of what they link to.
    path_bytes: u64,
    /// Modes and times of folders, by inode number. They wait for the end: nothing could be written
    /// into some.
    folders: BTreeMap<u64, FolderMeta>,
    /// Owners and capabilities can be set by root alone.
    is_root: bool,
}

impl Unpacker {
    /// Begins in a folder that is empty and this process's own. Everybody may read it, unless a layer
    /// says otherwise.
    ///
    /// # Errors
    /// [`UnpackError::Folder`].
    pub fn new(folder: &Path, limits: Limits, stop: Stop) -> Result<Self, UnpackError> {
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder, open).map_err(UnpackError::Folder)?;
        Ok(Self {
            top: Top::open(folder, limits.depth).map_err(UnpackError::Folder)?,
            limits,
            allowance: Allowance::new(limits.bytes),
            stop,
            counts: Counts::default(),
            made: 0,
            path_bytes: 0,
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
        let unpacked = stream::unpacked(packed).map_err(|e| self.unreadable(e))?;
        let metered = Metered::new(unpacked, self.allowance.clone(), self.stop);
        let mut digesting = Digesting::new(metered);
        layer::unpack(self, &mut digesting)?;
        self.allowance.header(u64::MAX);
        io::copy(&mut digesting, &mut io::sink()).map_err(|e| self.broken(e))?;
        Ok(digesting.so_far().0)
    }

    /// Makes a folder and those above it, where they are not there.
    ///
    /// # Errors
    /// [`UnpackError::Entry`].
    pub fn make_folder(&mut self, path: &str) -> Result<(), UnpackError> {
        let path = path.as_bytes();
        let made = names(path, self.limits.depth).and_then(|names| self.top.walk(&names, Missing::Make));
        made.map(drop).map_err(|fault| refused(path, fault))
    }

    /// Modes and times of folders, when all layers are there.
    ///
    /// # Errors
    /// [`UnpackError::Entry`] as the system says.
    pub fn finish(self) -> Result<Counts, UnpackError> {
        let top = self.top.walk(&[], Missing::Refuse);
        let settled = top.and_then(|top| self.settle(top.folder.as_fd()));
        settled.map_err(|fault| self.told(b".", fault))?;
        Ok(self.counts)
    }

    /// The deepest first: a folder may let nobody in any more.
    fn settle(&self, at: BorrowedFd<'_>) -> Result<(), Fault> {
        if (self.stop)() {
            return Err(Fault::System(io::Error::other(Spent::Stopped)));
        }
        for name in beneath::list(at)? {
            if beneath::kind(at, &name)? == Some(FileType::Directory) {
                self.settle(openat(at, &name, WALK, Mode::empty())?.as_fd())?;
            }
        }
        let inode = rustix::fs::fstat(at)?.st_ino;
        self.folders.get(&inode).map_or(Ok(()), |meta| meta.settle(at))
    }

    /// Counts an entry and the bytes of its path: what is kept in memory of an image grows with both.
    fn count(&mut self, path_bytes: usize) -> Result<(), UnpackError> {
        self.counts.entries += 1;
        self.path_bytes += path_bytes as u64;
        if self.counts.entries + self.made > self.limits.entries {
            return Err(UnpackError::Entries(self.limits.entries));
        }
        if self.path_bytes > self.limits.path_bytes {
            return Err(UnpackError::Paths(self.limits.path_bytes));
        }
        Ok(())
    }

    /// A bound that was met while an entry was written is none of the entry's faults.
    fn told(&self, path: &[u8], fault: Fault) -> UnpackError {
        match fault {
            Fault::System(e) if spent(&e).is_some() => self.broken(e),
            fault => refused(path, fault),
        }
    }

    /// What an error before the first entry of a layer means: an archive that begins as one has a
    /// header whose sum is right.
    fn unreadable(&self, error: io::Error) -> UnpackError {
        let is_none = error.kind() == io::ErrorKind::Other && spent(&error).is_none();
        match is_none {
            true => UnpackError::NoArchive(error.get_ref().and_then(|e| e.downcast_ref().copied())),
            false => self.broken(error),
        }
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

/// Whether an error stands for the user's wish to stop.
pub(crate) fn is_stop(error: &io::Error) -> bool {
    spent(error) == Some(Spent::Stopped)
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
