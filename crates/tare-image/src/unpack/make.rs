//! An entry becomes a file, a folder or a link.

use super::beneath::{self, Missing, Place, names};
use super::entry::{Head, Kind};
use super::stream::Spent;
use super::{Fault, Unpacker};
use crate::Stop;
use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, Timespec, Timestamps, Uid, XattrFlags, chownat, fchmod, fchown,
    fstat, futimens, linkat, mkdirat, openat, symlinkat, utimensat,
};
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use tar::Entry;

/// What is read and written at a time. Pieces that are all zero are left as holes.
const PIECE: usize = 64 * 1024;

/// Mode and time of a folder, which are set when all is in it.
#[derive(Debug, Clone)]
pub struct FolderMeta {
    mode: u32,
    mtime: Timespec,
}

impl FolderMeta {
    pub fn settle(&self, folder: BorrowedFd<'_>) -> Result<(), Fault> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(folder, c".", flags, Mode::empty())?;
        futimens(&folder, &times(self.mtime))?;
        Ok(fchmod(&folder, Mode::from_raw_mode(self.mode))?)
    }
}

/// Makes what an entry is, in the place of what bears its name.
pub fn entry<R: Read>(
    unpacker: &mut Unpacker,
    place: &Place,
    name: &CStr,
    head: &Head,
    data: &mut Entry<'_, R>,
) -> Result<(), Fault> {
    let at = place.folder.as_fd();
    match &head.kind {
        Kind::Folder => folder(unpacker, place, name, head),
        Kind::File => {
            remove(unpacker, at, name)?;
            // Holes take no bytes of the archive, but as much time.
            let holes = sparse_size(data).unwrap_or_default();
            unpacker.allowance.charge(holes).map_err(io::Error::other)?;
            file(unpacker, at, name, head, data)
        }
        Kind::Symlink(target) => {
            remove(unpacker, at, name)?;
            symlink(unpacker.is_root, at, name, head, target)
        }
        Kind::HardLink(target) => hard_link(unpacker, place, name, target),
        Kind::LeftOut | Kind::Note => Ok(()),
    }
}

/// Removes what bears a name. Nothing is to be set any more of the folders that go with it: their
/// inode numbers may be used again.
pub fn remove(unpacker: &mut Unpacker, at: BorrowedFd<'_>, name: &CStr) -> Result<(), Fault> {
    let folders = &mut unpacker.folders;
    let mut forget = |inode| {
        folders.remove(&inode);
    };
    Ok(beneath::remove_with(at, name, &mut forget)?)
}

fn folder(unpacker: &mut Unpacker, place: &Place, name: &CStr, head: &Head) -> Result<(), Fault> {
    let at = place.folder.as_fd();
    if beneath::kind(at, name)? != Some(FileType::Directory) {
        remove(unpacker, at, name)?;
        mkdirat(at, name, Mode::RWXU)?;
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(at, name, flags, Mode::empty())?;
    folder_meta(unpacker, &folder, head)
}

/// The owner of a folder; its mode and time are kept for the end.
pub fn folder_meta(unpacker: &mut Unpacker, folder: &OwnedFd, head: &Head) -> Result<(), Fault> {
    if unpacker.is_root {
        let (uid, gid) = owner(head);
        chownat(folder, c".", uid, gid, AtFlags::SYMLINK_NOFOLLOW)?;
    }
    let meta = FolderMeta {
        mode: head.mode,
        mtime: head.mtime,
    };
    unpacker.folders.insert(fstat(folder)?.st_ino, meta);
    Ok(())
}

fn file<R: Read>(
    unpacker: &Unpacker,
    at: BorrowedFd<'_>,
    name: &CStr,
    head: &Head,
    data: &mut Entry<'_, R>,
) -> Result<(), Fault> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(openat(at, name, flags, Mode::RUSR | Mode::WUSR)?);
    let size = sparse_size(data).unwrap_or_else(|| data.size());
    fill(&file, data, size, unpacker.stop)?;
    if unpacker.is_root {
        let (uid, gid) = owner(head);
        fchown(&file, uid, gid)?;
    }
    // A new owner takes the setuid bit and the capability off: they come after it.
    fchmod(&file, Mode::from_raw_mode(head.mode))?;
    if let Some(capability) = head.capability.as_ref().filter(|_| unpacker.is_root) {
        rustix::fs::fsetxattr(&file, c"security.capability", capability, XattrFlags::empty())?;
    }
    Ok(futimens(&file, &times(head.mtime))?)
}

/// How many bytes come out of a sparse file: more than are in the archive.
fn sparse_size<R: Read>(data: &Entry<'_, R>) -> Option<u64> {
    let is_sparse = data.header().entry_type().is_gnu_sparse();
    let header = data.header().as_gnu().filter(|_| is_sparse)?;
    header.real_size().ok()
}

/// Fills a new file with so many bytes.
///
/// # Errors
/// [`Fault::Short`] if there are not so many, [`Fault::System`].
pub fn fill(file: &File, data: &mut impl Read, size: u64, stop: Stop) -> Result<(), Fault> {
    let mut piece = vec![0; PIECE];
    let mut at = 0;
    while at < size {
        // Holes come from no reader that would look at it.
        if stop() {
            return Err(Fault::System(io::Error::other(Spent::Stopped)));
        }
        let read = match data.read(&mut piece) {
            Ok(0) => return Err(Fault::Short),
            Ok(read) => piece.get(..read).unwrap_or_default(),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(Fault::System(e)),
        };
        if read.iter().any(|byte| *byte != 0) {
            file.write_all_at(read, at)?;
        }
        at += read.len() as u64;
    }
    Ok(file.set_len(size)?)
}

fn symlink(is_root: bool, at: BorrowedFd<'_>, name: &CStr, head: &Head, target: &[u8]) -> Result<(), Fault> {
    let target = CString::new(target).map_err(|_| Fault::ZeroByte)?;
    symlinkat(&target, at, name)?;
    if is_root {
        let (uid, gid) = owner(head);
        chownat(at, name, uid, gid, AtFlags::SYMLINK_NOFOLLOW)?;
    }
    Ok(utimensat(
        at,
        name,
        &times(head.mtime),
        AtFlags::SYMLINK_NOFOLLOW,
    )?)
}

/// A second name. What it is of is looked for within the image, and is itself no link that
/// would be followed.
fn hard_link(unpacker: &mut Unpacker, place: &Place, name: &CStr, target: &[u8]) -> Result<(), Fault> {
    let mut way = names(target, unpacker.limits.depth)?;
    let last = way.pop().ok_or(Fault::FolderLink)?;
    let from = unpacker.top.walk(&way, Missing::Refuse)?;
    match beneath::kind(from.folder.as_fd(), &last)? {
        None => return Err(Fault::Nothing),
        Some(FileType::Directory) => return Err(Fault::FolderLink),
        Some(_) => {}
    }
    if from.real == place.real && *last == *name {
        return Ok(());
    }
    remove(unpacker, place.folder.as_fd(), name)?;
    Ok(linkat(
        &from.folder,
        &last,
        &place.folder,
        name,
        AtFlags::empty(),
    )?)
}

fn owner(head: &Head) -> (Option<Uid>, Option<Gid>) {
    (Some(Uid::from_raw(head.uid)), Some(Gid::from_raw(head.gid)))
}

fn times(mtime: Timespec) -> Timestamps {
    Timestamps {
        last_access: mtime,
        last_modification: mtime,
    }
}
