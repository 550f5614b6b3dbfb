//! A folder that nothing leads out of. Every path of an archive is walked name by name from a
//! descriptor, and the links on the way are followed by us, within the folder, as a `chroot`
//! would: so the walk knows the real path and its depth, which the kernel's
//! `RESOLVE_IN_ROOT` would not tell, and a chain of links makes no folder deeper than is allowed.
//! Nobody else writes to the folder meanwhile; even so, no call here follows a link.

use super::Fault;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, openat, statat, unlinkat};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// As many links as the kernel follows on one path.
const MOST_LINKS: u32 = 40;
/// The mode of a folder that no entry gives one.
const IMPLICIT: Mode = Mode::from_raw_mode(0o755);
/// Room for the names of a folder that are read at a time.
const NAMES_BYTES: usize = 16 * 1024;

/// How folders are opened on a walk.
pub const WALK: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// The names of a path, from the top, without `.` and without any `..`.
pub type Names = Vec<CString>;

/// The names of an archive's path. One that begins with `/` is meant from the top.
///
/// # Errors
/// [`Fault`] for `..`, a zero byte and a path that is too deep.
pub fn names(path: &[u8], most_deep: usize) -> Result<Names, Fault> {
    let mut names = Names::new();
    for name in path.split(|b| *b == b'/') {
        match name {
            b"" | b"." => {}
            b".." => return Err(Fault::Outside),
            name => names.push(CString::new(name).map_err(|_| Fault::ZeroByte)?),
        }
    }
    if names.len() > most_deep {
        return Err(Fault::Deep(most_deep));
    }
    Ok(names)
}

/// What becomes of a folder that is missing on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// It is made, of mode 0755.
    Make,
    /// The walk ends with [`Fault::Nothing`].
    Refuse,
}

/// A folder below the top, as a walk found it.
#[derive(Debug)]
pub struct Place {
    /// Its descriptor, for paths alone.
    pub folder: OwnedFd,
    /// Where it is, without links.
    pub real: Names,
    /// How many folders were made on the way.
    pub made: u64,
}

/// The folder that is unpacked into.
#[derive(Debug)]
pub struct Top {
    folder: OwnedFd,
    most_deep: usize,
}

impl Top {
    /// Opens a folder that is there.
    ///
    /// # Errors
    /// As the system says; a link is none.
    pub fn open(path: &Path, most_deep: usize) -> io::Result<Self> {
        let folder = openat(CWD, path, WALK, Mode::empty())?;
        Ok(Self { folder, most_deep })
    }

    /// Walks to a folder, within this one whatever links say.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn walk(&self, names: &[CString], missing: Missing) -> Result<Place, Fault> {
        let mut way: Vec<(CString, OwnedFd)> = Vec::new();
        let mut ahead: VecDeque<CString> = names.iter().cloned().collect();
        let (mut links, mut made) = (0, 0);
        while let Some(name) = ahead.pop_front() {
            if name.as_bytes() == b".." {
                way.pop();
                continue;
            }
            let at = way
                .last()
                .map_or_else(|| self.folder.as_fd(), |(_, fd)| fd.as_fd());
            if let Some(folder) = step(at, &name, missing, &mut made)? {
                if way.len() == self.most_deep {
                    return Err(Fault::Deep(self.most_deep));
                }
                way.push((name, folder));
                continue;
            }
            links += 1;
            if links > MOST_LINKS {
                return Err(Fault::Links);
            }
            if detour(at, &name, &mut ahead)? {
                way.clear();
            }
        }
        let folder = match way.last() {
            Some((_, folder)) => folder.try_clone()?,
            None => self.folder.try_clone()?,
        };
        let real = way.into_iter().map(|(name, _)| name).collect();
        Ok(Place { folder, real, made })
    }

    /// Opens a plain file, by links too, to read it.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn file(&self, path: &[u8]) -> Result<File, Fault> {
        let mut way = names(path, self.most_deep)?;
        for _ in 0..MOST_LINKS {
            let last = way
                .pop()
                .filter(|name| name.as_bytes() != b"..")
                .ok_or(Fault::NoFile)?;
            let place = self.walk(&way, Missing::Refuse)?;
            let at = place.folder.as_fd();
            match kind(at, &last)? {
                None => return Err(Fault::Nothing),
                Some(FileType::RegularFile) => {
                    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                    return Ok(File::from(openat(at, &last, flags, Mode::empty())?));
                }
                Some(FileType::Symlink) => {
                    let mut ahead = VecDeque::new();
                    let is_from_top = detour(at, &last, &mut ahead)?;
                    way = if is_from_top { Names::new() } else { place.real };
                    way.extend(ahead);
                }
                Some(_) => return Err(Fault::NoFile),
            }
        }
        Err(Fault::Links)
    }
}

/// One step down; `None` at what is no folder.
fn step(at: BorrowedFd<'_>, name: &CStr, missing: Missing, made: &mut u64) -> Result<Option<OwnedFd>, Fault> {
    match openat(at, name, WALK, Mode::empty()) {
        Ok(folder) => Ok(Some(folder)),
        Err(Errno::NOTDIR | Errno::LOOP) => Ok(None),
        Err(Errno::NOENT) if missing == Missing::Make => {
            rustix::fs::mkdirat(at, name, IMPLICIT)?;
            // Whatever the umask: it would be a part of the image.
            rustix::fs::chmodat(at, name, IMPLICIT, AtFlags::empty())?;
            *made += 1;
            Ok(Some(openat(at, name, WALK, Mode::empty())?))
        }
        Err(Errno::NOENT) => Err(Fault::Nothing),
        Err(e) => Err(e.into()),
    }
}

/// Puts where a link leads before what is still ahead. Whether that begins at the top.
fn detour(at: BorrowedFd<'_>, name: &CStr, ahead: &mut VecDeque<CString>) -> Result<bool, Fault> {
    let target = match rustix::fs::readlinkat(at, name, Vec::new()) {
        Ok(target) => target,
        Err(Errno::INVAL) => return Err(Fault::NoFolder),
        Err(e) => return Err(e.into()),
    };
    let target = target.as_bytes();
    let parts = target.split(|b| *b == b'/').rev();
    for part in parts.filter(|part| !matches!(*part, b"" | b".")) {
        ahead.push_front(CString::new(part).map_err(|_| Fault::ZeroByte)?);
    }
    Ok(target.first() == Some(&b'/'))
}

/// What bears a name, if anything does; a link itself.
///
/// # Errors
/// As the system says.
pub fn kind(at: BorrowedFd<'_>, name: &CStr) -> io::Result<Option<FileType>> {
    match statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
        Err(Errno::NOENT) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// The names in a folder, in no order.
///
/// # Errors
/// As the system says.
pub fn list(at: BorrowedFd<'_>) -> io::Result<Names> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = openat(at, c".", flags, Mode::empty())?;
    let mut room = vec![MaybeUninit::uninit(); NAMES_BYTES];
    let mut read = RawDir::new(folder, &mut room);
    let mut names = Names::new();
    while let Some(entry) = read.next() {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// Removes what bears a name, with all that is in it; nothing is well too.
///
/// # Errors
/// As the system says.
pub fn remove(at: BorrowedFd<'_>, name: &CStr) -> io::Result<()> {
    remove_with(at, name, &mut |_| {})
}

/// As [`remove`], with the inode number of each folder that goes.
///
/// # Errors
/// As the system says.
pub fn remove_with(at: BorrowedFd<'_>, name: &CStr, gone: &mut impl FnMut(u64)) -> io::Result<()> {
    match kind(at, name)? {
        None => Ok(()),
        Some(FileType::Directory) => {
            let folder = openat(at, name, WALK, Mode::empty())?;
            let stat = rustix::fs::fstat(&folder)?;
            if stat.st_dev != rustix::fs::fstat(at)?.st_dev {
                return Err(io::Error::other("something is mounted there: unmount it"));
            }
            // Without it only root could remove what is in a folder that nobody may write to.
            rustix::fs::chmodat(at, name, Mode::RWXU, AtFlags::empty())?;
            for inner in list(folder.as_fd())? {
                remove_with(folder.as_fd(), &inner, gone)?;
            }
            gone(stat.st_ino);
            Ok(unlinkat(at, name, AtFlags::REMOVEDIR)?)
        }
        Some(_) => Ok(unlinkat(at, name, AtFlags::empty())?),
    }
}
