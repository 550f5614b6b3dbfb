//! A root filesystem that lies in a folder: copied, sharing its blocks where the filesystem can.

use crate::store::{Filled, ROOTFS};
use crate::unpack::{Fault, Limits, beneath, fill};
use crate::{Config, Image, ImageError, Stop, Store, tree};
use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, Stat, Timespec, Timestamps, Uid, XattrFlags, chownat, fchmod,
    fchown, fstat, futimens, ioctl_ficlone, linkat, mkdirat, open, openat, readlinkat, statat, symlinkat,
    utimensat,
};
use std::collections::HashMap;
use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const READ: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// A root filesystem in a folder, which is copied. Links are not followed; what is mounted in it is
/// not taken along; devices, pipes and sockets are left out.
///
/// # Errors
/// [`ImageError::Tree`] with the file that cannot be read, and others.
pub fn from_directory(store: &Store, name: &str, folder: &Path) -> Result<Image, ImageError> {
    store.make(
        name,
        || None,
        |at| {
            let left_out = copy(folder, &at.join(ROOTFS), store.limits(), store.stop())?;
            Ok(Filled {
                config: Config::default(),
                source: format!("folder {}", folder.display()),
                left_out,
            })
        },
    )
}

/// Copies a tree into a folder that is empty. Returns how many entries were left out.
pub(super) fn copy(from: &Path, to: &Path, limits: Limits, stop: Stop) -> Result<u64, ImageError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        |source: io::Error| ImageError::Tree { path, source }
    };
    // The folder itself may be given by a link.
    let read = READ.difference(OFlags::NOFOLLOW);
    let source = open(from, read, Mode::empty()).map_err(|e| failed(from)(e.into()))?;
    let target = open(to, READ, Mode::empty()).map_err(|e| failed(to)(e.into()))?;
    let stat = fstat(&source).map_err(|e| failed(from)(e.into()))?;
    let mut copy = Copy {
        from,
        to: target.try_clone().map_err(failed(to))?,
        device: stat.st_dev,
        limits,
        stop,
        entries: 0,
        bytes: 0,
        left_out: 0,
        links: HashMap::new(),
        can_clone: true,
        is_root: rustix::process::geteuid().is_root(),
    };
    copy.folder(&source, &target, &stat, &mut Vec::new(), 0)?;
    Ok(copy.left_out)
}

struct Copy<'a> {
    from: &'a Path,
    to: OwnedFd,
    /// Of the top: what lies on another is mounted.
    device: u64,
    limits: Limits,
    stop: Stop,
    entries: u64,
    bytes: u64,
    left_out: u64,
    /// Files of several names: their numbers, and the path of the first copy.
    links: HashMap<u64, Vec<u8>>,
    /// Until the filesystem refused it.
    can_clone: bool,
    is_root: bool,
}

impl Copy<'_> {
    fn folder(
        &mut self,
        from: &OwnedFd,
        to: &OwnedFd,
        stat: &Stat,
        path: &mut Vec<u8>,
        depth: usize,
    ) -> Result<(), ImageError> {
        if (self.stop)() {
            return Err(ImageError::Stopped);
        }
        if depth > self.limits.depth {
            let why = format!("it is nested deeper than {} folders", self.limits.depth);
            return Err(self.failed(path, io::Error::other(why)));
        }
        let names = beneath::list(from.as_fd()).map_err(|e| self.failed(path, e))?;
        for name in names {
            let length = path.len();
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(name.as_bytes());
            self.entry(from, to, &name, path, depth)?;
            path.truncate(length);
        }
        // When all is in it: that changes its time, and nothing could be put into some.
        self.finish(to, stat).map_err(|e| self.failed(path, e))
    }

    fn entry(
        &mut self,
        from: &OwnedFd,
        to: &OwnedFd,
        name: &CStr,
        path: &mut Vec<u8>,
        depth: usize,
    ) -> Result<(), ImageError> {
        let stat = statat(from, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|e| self.failed(path, e.into()))?;
        self.count(path)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                let inner = open_inner(from, to, name).map_err(|e| self.failed(path, e))?;
                if stat.st_dev == self.device {
                    return self.folder(&inner.0, &inner.1, &stat, path, depth + 1);
                }
                // The place alone of what is mounted.
                self.finish(&inner.1, &stat).map_err(|e| self.failed(path, e))
            }
            FileType::RegularFile => self
                .file(from, to, name, path, &stat)
                .map_err(|e| self.failed(path, e)),
            FileType::Symlink => self
                .symlink(from, to, name, &stat)
                .map_err(|e| self.failed(path, e)),
            _ => {
                self.left_out += 1;
                Ok(())
            }
        }
    }

    fn count(&mut self, path: &[u8]) -> Result<(), ImageError> {
        self.entries += 1;
        if self.entries > self.limits.entries {
            let why = format!(
                "it has more than {} files, the limit for an image",
                self.limits.entries
            );
            return Err(self.failed(path, io::Error::other(why)));
        }
        Ok(())
    }

    fn file(
        &mut self,
        from: &OwnedFd,
        to: &OwnedFd,
        name: &CStr,
        path: &[u8],
        stat: &Stat,
    ) -> io::Result<()> {
        if stat.st_nlink > 1 {
            if let Some(first) = self.links.get(&stat.st_ino) {
                return Ok(linkat(&self.to, &first[..], to, name, AtFlags::empty())?);
            }
            self.links.insert(stat.st_ino, path.to_vec());
        }
        let size = u64::try_from(stat.st_size).unwrap_or_default();
        self.bytes += size;
        if self.bytes > self.limits.bytes {
            let why = format!(
                "the folder has more than {} bytes: raise the store's limit",
                self.limits.bytes
            );
            return Err(io::Error::other(why));
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut source = File::from(openat(from, name, flags, Mode::empty())?);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let target = File::from(openat(to, name, flags, Mode::RUSR | Mode::WUSR)?);
        self.can_clone = self.can_clone && ioctl_ficlone(&target, &source).is_ok();
        if !self.can_clone {
            fill(&target, &mut source, size, self.stop).map_err(|fault| match fault {
                Fault::System(e) => e,
                fault => io::Error::other(fault),
            })?;
        }
        let capability = tree::capability(&source)?;
        self.finish(&target, stat)?;
        if self.is_root && !capability.is_empty() {
            // A new owner takes it off: it comes last.
            rustix::fs::fsetxattr(&target, c"security.capability", &capability, XattrFlags::empty())?;
        }
        Ok(())
    }

    fn symlink(&self, from: &OwnedFd, to: &OwnedFd, name: &CStr, stat: &Stat) -> io::Result<()> {
        let target = readlinkat(from, name, Vec::new())?;
        symlinkat(&target, to, name)?;
        if self.is_root {
            chownat(to, name, owner(stat).0, owner(stat).1, AtFlags::SYMLINK_NOFOLLOW)?;
        }
        Ok(utimensat(to, name, &times(stat), AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Owner, then mode, which a new owner changes, then times.
    fn finish(&self, target: impl AsFd, stat: &Stat) -> io::Result<()> {
        let target: BorrowedFd<'_> = target.as_fd();
        if self.is_root {
            fchown(target, owner(stat).0, owner(stat).1)?;
        }
        fchmod(target, Mode::from_raw_mode(stat.st_mode & 0o7777))?;
        Ok(futimens(target, &times(stat))?)
    }

    fn failed(&self, path: &[u8], source: io::Error) -> ImageError {
        let path: PathBuf = self.from.join(OsStr::from_bytes(path));
        ImageError::tree(path, source)
    }
}

fn open_inner(from: &OwnedFd, to: &OwnedFd, name: &CStr) -> io::Result<(OwnedFd, OwnedFd)> {
    let source = openat(from, name, READ, Mode::empty())?;
    mkdirat(to, name, Mode::RWXU)?;
    Ok((source, openat(to, name, READ, Mode::empty())?))
}

fn owner(stat: &Stat) -> (Option<Uid>, Option<Gid>) {
    (Some(Uid::from_raw(stat.st_uid)), Some(Gid::from_raw(stat.st_gid)))
}

fn times(stat: &Stat) -> Timestamps {
    let time = Timespec {
        tv_sec: stat.st_mtime,
        tv_nsec: i64::try_from(stat.st_mtime_nsec).unwrap_or_default(),
    };
    Timestamps {
        last_access: time,
        last_modification: time,
    }
}
