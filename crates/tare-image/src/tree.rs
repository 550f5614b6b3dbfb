//! The content of a root filesystem as one digest, the same wherever it came from.
//!
//! What counts is what a program in a box sees: for each entry its path, type, mode, owner and,
//! by type, size and content, the target of a link, and the capabilities of a program. Times do
//! not count, nor which files are hard links of one another, as sources differ in them.

use crate::digest::Digest;
use crate::unpack::beneath;
use crate::unpack::stream::{Allowance, Metered};
use crate::{Config, ImageError};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, openat, readlinkat, statat};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;
use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The form of what is digested: another form has another name.
const FORM: &[u8] = b"tare-image-1\n";
const CAPABILITY: &CStr = c"security.capability";
/// More than any set of capabilities takes.
const CAPABILITY_BYTES: usize = 256;
const PIECE: usize = 128 * 1024;
/// The unit in which the system counts what a file occupies.
const BLOCK_BYTES: u64 = 512;

/// What a tree comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    /// The digest of tree and configuration.
    pub digest: Digest,
    /// What it occupies on the disk.
    pub bytes: u64,
    pub entries: u64,
}

/// Reads a tree whole.
///
/// # Errors
/// [`ImageError::Tree`], [`ImageError::Stopped`].
pub fn measure(
    root: &Path,
    config: &Config,
    deepest: usize,
    stop: crate::Stop,
) -> Result<Measured, ImageError> {
    let mut walk = Walk {
        root,
        stop,
        deepest,
        hash: Sha256::new_with_prefix(FORM),
        bytes: 0,
        entries: 0,
        linked: HashSet::new(),
        piece: vec![0; PIECE],
    };
    let at = open_root(root).map_err(|source| walk.failed(&[], source))?;
    let stat = rustix::fs::fstat(&at).map_err(|e| walk.failed(&[], e.into()))?;
    walk.record(&[], &stat, b'd');
    walk.folder(at.as_fd(), &mut Vec::new(), 0)?;
    let config = serde_json::to_vec(config).map_err(ImageError::Write)?;
    walk.text(&config);
    Ok(Measured {
        digest: Digest::from_hash(walk.hash),
        bytes: walk.bytes,
        entries: walk.entries,
    })
}

fn open_root(root: &Path) -> io::Result<std::os::fd::OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(root, flags, Mode::empty())?)
}

struct Walk<'a> {
    root: &'a Path,
    stop: crate::Stop,
    deepest: usize,
    hash: Sha256,
    bytes: u64,
    entries: u64,
    /// Files of several names that were counted already, by device and number.
    linked: HashSet<(u64, u64)>,
    piece: Vec<u8>,
}

impl Walk<'_> {
    fn folder(&mut self, at: BorrowedFd<'_>, path: &mut Vec<u8>, depth: usize) -> Result<(), ImageError> {
        if depth > self.deepest {
            return Err(self.failed(path, io::Error::other(format!("more than {depth} folders deep"))));
        }
        if (self.stop)() {
            return Err(ImageError::Stopped);
        }
        let mut names = beneath::list(at).map_err(|e| self.failed(path, e))?;
        names.sort_unstable();
        for name in names {
            let length = path.len();
            path.push(b'/');
            path.extend_from_slice(name.as_bytes());
            self.entry(at, &name, path, depth)?;
            path.truncate(length);
        }
        Ok(())
    }

    fn entry(
        &mut self,
        at: BorrowedFd<'_>,
        name: &CStr,
        path: &mut Vec<u8>,
        depth: usize,
    ) -> Result<(), ImageError> {
        let stat = statat(at, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|e| self.failed(path, e.into()))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                self.record(path, &stat, b'd');
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let inner =
                    openat(at, name, flags, Mode::empty()).map_err(|e| self.failed(path, e.into()))?;
                self.folder(inner.as_fd(), path, depth + 1)
            }
            FileType::Symlink => {
                self.record(path, &stat, b'l');
                let target = readlinkat(at, name, Vec::new()).map_err(|e| self.failed(path, e.into()))?;
                self.text(target.as_bytes());
                Ok(())
            }
            FileType::RegularFile => {
                self.record(path, &stat, b'f');
                self.content(at, name).map_err(|e| self.failed(path, e))
            }
            // Never made from a source; what is there all the same is not of the image.
            _ => Ok(()),
        }
    }

    /// What all entries have: path, type, mode, owner.
    fn record(&mut self, path: &[u8], stat: &Stat, kind: u8) {
        self.entries += 1;
        self.text(path);
        self.hash.update([kind]);
        // A link's mode means nothing and differs between systems.
        let mode = if kind == b'l' { 0 } else { stat.st_mode & 0o7777 };
        for number in [mode, stat.st_uid, stat.st_gid] {
            self.hash.update(number.to_le_bytes());
        }
        let is_new = stat.st_nlink < 2 || kind == b'd' || self.linked.insert((stat.st_dev, stat.st_ino));
        if is_new {
            self.bytes += u64::try_from(stat.st_blocks).unwrap_or_default() * BLOCK_BYTES;
        }
    }

    /// A text with its length before it, so that no two texts can be read another way.
    fn text(&mut self, text: &[u8]) {
        self.hash.update((text.len() as u64).to_le_bytes());
        self.hash.update(text);
    }

    fn content(&mut self, at: BorrowedFd<'_>, name: &CStr) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(at, name, flags, Mode::empty())?);
        let capability = capability(&file)?;
        self.text(&capability);
        let mut file = Metered::new(file, Allowance::new(u64::MAX), self.stop);
        let mut hash = Sha256::new();
        let mut size = 0_u64;
        loop {
            let read = file.read(&mut self.piece)?;
            if read == 0 {
                break;
            }
            size += read as u64;
            hash.update(self.piece.get(..read).unwrap_or_default());
        }
        self.hash.update(size.to_le_bytes());
        self.hash.update(hash.finalize());
        Ok(())
    }

    fn failed(&self, path: &[u8], source: io::Error) -> ImageError {
        let inner = path.strip_prefix(b"/").unwrap_or(path);
        let path: PathBuf = self.root.join(OsStr::from_bytes(inner));
        ImageError::tree(path, source)
    }
}

/// The capabilities of a program; empty where it has none.
///
/// # Errors
/// As the system says.
pub(crate) fn capability(file: &File) -> io::Result<Vec<u8>> {
    let mut value = vec![0; CAPABILITY_BYTES];
    match rustix::fs::fgetxattr(file, CAPABILITY, &mut value[..]) {
        Ok(length) => {
            value.truncate(length);
            Ok(value)
        }
        Err(Errno::NODATA | Errno::NOTSUP) => Ok(Vec::new()),
        Err(e) => Err(e.into()),
    }
}
