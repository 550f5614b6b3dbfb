//! One layer: its entries in order, and what its whiteouts hide of the layers below.

use super::beneath::{self, Missing, Names, WALK, names};
use super::entry::{Head, Kind};
use super::fresh::{Fresh, PathHash};
use super::{Fault, UnpackError, Unpacker, make};
use rustix::fs::{FileType, Mode, openat};
use std::ffi::{CStr, CString};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use tar::{Archive, Entry};

/// What a name begins with that hides another of the layers below.
const WHITEOUT: &[u8] = b".wh.";
/// The name that hides all that the layers below have in its folder.
const OPAQUE: &[u8] = b".wh..wh..opq";
/// Names of aufs's own, which mean nothing to others.
const AUFS: &[u8] = b".wh..wh.";
/// Room for the headers of one file: its names, attributes and the map of a sparse file. All of
/// them are kept in memory.
const HEADER_BYTES: u64 = 4 << 20;

pub fn unpack(unpacker: &mut Unpacker, stream: &mut impl Read) -> Result<(), UnpackError> {
    let allowance = unpacker.allowance.clone();
    let mut archive = Archive::new(stream);
    let mut fresh = Fresh::default();
    let mut is_first = true;
    allowance.header(HEADER_BYTES);
    for entry in archive.entries().map_err(UnpackError::Archive)? {
        let mut entry = entry.map_err(|e| match is_first {
            true => unpacker.unreadable(e),
            false => unpacker.broken(e),
        })?;
        is_first = false;
        allowance.header(u64::MAX);
        let path = entry.path_bytes().into_owned();
        let target_bytes = entry.link_name_bytes().map_or(0, |target| target.len());
        unpacker.count(path.len() + target_bytes)?;
        one(unpacker, &mut fresh, &path, &mut entry).map_err(|fault| unpacker.told(&path, fault))?;
        // Else it would be counted to the header of the next.
        io::copy(&mut entry, &mut io::sink()).map_err(|e| unpacker.broken(e))?;
        allowance.header(HEADER_BYTES);
    }
    Ok(())
}

fn one<R: Read>(
    unpacker: &mut Unpacker,
    fresh: &mut Fresh,
    path: &[u8],
    entry: &mut Entry<'_, R>,
) -> Result<(), Fault> {
    let head = Head::read(entry)?;
    if head.kind == Kind::Note {
        return Ok(());
    }
    // Names that end a path are taken before its dots: `.wh...` would hide what is above.
    let last = path.rsplit(|b| *b == b'/').find(|name| !name.is_empty());
    if let Some(hidden) = last.and_then(|name| name.strip_prefix(WHITEOUT)) {
        return whiteout(unpacker, fresh, path, hidden);
    }
    let mut names = names(path, unpacker.limits.depth)?;
    if is_left_out(unpacker, fresh, &head.kind) {
        fresh.leave_out(&names);
        return leave_out(unpacker, names);
    }
    let Some(name) = names.pop() else {
        return top(unpacker, &head);
    };
    let place = unpacker.top.walk(&names, Missing::Make)?;
    fresh.remember(&place.real, &name);
    unpacker.made += place.made;
    make::entry(unpacker, &place, &name, &head, entry)
}

/// A second name of what was left out is left out as well.
fn is_left_out(unpacker: &Unpacker, fresh: &Fresh, kind: &Kind) -> bool {
    match kind {
        Kind::LeftOut => true,
        Kind::HardLink(target) => {
            names(target, unpacker.limits.depth).is_ok_and(|target| fresh.is_left_out(&target))
        }
        _ => false,
    }
}

/// Nothing is left of what had its name.
fn leave_out(unpacker: &mut Unpacker, mut names: Names) -> Result<(), Fault> {
    unpacker.counts.left_out += 1;
    let name = names.pop().ok_or(Fault::Top)?;
    match unpacker.top.walk(&names, Missing::Refuse) {
        Ok(place) => make::remove(unpacker, place.folder.as_fd(), &name),
        Err(Fault::Nothing | Fault::NoFolder) => Ok(()),
        Err(fault) => Err(fault),
    }
}

/// The entry of the root folder itself.
fn top(unpacker: &mut Unpacker, head: &Head) -> Result<(), Fault> {
    if head.kind != Kind::Folder {
        return Err(Fault::Top);
    }
    let place = unpacker.top.walk(&[], Missing::Refuse)?;
    make::folder_meta(unpacker, &place.folder, head)
}

fn whiteout(unpacker: &mut Unpacker, fresh: &mut Fresh, path: &[u8], hidden: &[u8]) -> Result<(), Fault> {
    let mut way = names(path, unpacker.limits.depth)?;
    let last = way.pop().ok_or(Fault::Whiteout)?;
    let is_opaque = last.as_bytes() == OPAQUE;
    if !is_opaque && last.as_bytes().starts_with(AUFS) {
        return Ok(());
    }
    if matches!(hidden, b"" | b"." | b"..") {
        return Err(Fault::Whiteout);
    }
    let place = match unpacker.top.walk(&way, Missing::Refuse) {
        Ok(place) => place,
        // There is nothing to hide.
        Err(Fault::Nothing | Fault::NoFolder) => return Ok(()),
        Err(fault) => return Err(fault),
    };
    let (at, folder) = (place.folder.as_fd(), fresh.path(&place.real));
    if is_opaque {
        return hide_old(unpacker, fresh, at, folder);
    }
    let name = CString::new(hidden).map_err(|_| Fault::ZeroByte)?;
    hide(unpacker, fresh, at, folder, &name)
}

/// All of a folder that is of the layers below. Once per layer: an archive may say so for each
/// of its files.
fn hide_old(
    unpacker: &mut Unpacker,
    fresh: &mut Fresh,
    at: BorrowedFd<'_>,
    folder: PathHash,
) -> Result<(), Fault> {
    if !fresh.begin_to_clear(folder) {
        return Ok(());
    }
    for name in beneath::list(at)? {
        hide(unpacker, fresh, at, folder, &name)?;
    }
    Ok(())
}

/// What bears a name, as far as it is of the layers below: what this layer made stays,
/// wherever in the archive its whiteouts stand.
fn hide(
    unpacker: &mut Unpacker,
    fresh: &mut Fresh,
    at: BorrowedFd<'_>,
    folder: PathHash,
    name: &CStr,
) -> Result<(), Fault> {
    let path = fresh.inner(folder, name);
    if !fresh.is_made(path) {
        return make::remove(unpacker, at, name);
    }
    if beneath::kind(at, name)? == Some(FileType::Directory) {
        let inner = openat(at, name, WALK, Mode::empty())?;
        hide_old(unpacker, fresh, inner.as_fd(), path)?;
    }
    Ok(())
}
