//! Removes folders with what is in them, and nothing else: boxes write to some, and things
//! of the host's may be mounted in them.

use rustix::fs::{
    AtFlags, Dir, FileType, IFlags, Mode, OFlags, ResolveFlags, ioctl_getflags, ioctl_setflags, openat,
    openat2, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};
use std::ffi::{CStr, CString, OsString};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Folders within one another that are open at a time: a box may lay far more.
const DEPTH: u32 = 32;

/// Names that are taken from a folder at a time: a box may lay millions.
const NAMES: usize = 4096;

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Removes a folder of ours, if it is there. What is mounted in it is unmounted first; where
/// that fails nothing behind it is touched, and the folder stays.
///
/// # Errors
/// Those of the file system; `CrossesDevices` for what is still mounted.
pub fn folder(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    let absolute = std::path::absolute(path)?;
    let (Some(above), Some(name)) = (absolute.parent(), absolute.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    // As the table of mounts has it. The folder itself is no link: its target would not be ours.
    let path = above.canonicalize()?.join(name);
    unmount_inside(&path)?;
    let top = rustix::fs::open(&path, FOLDER, Mode::empty())?;
    empty(&top, &top, 0, &mut 0)?;
    fs::remove_dir(&path)
}

/// Empties a folder. What lies too deep is put into `top`, where it is found later.
fn empty(folder: &OwnedFd, top: &OwnedFd, depth: u32, set_aside: &mut u64) -> io::Result<()> {
    unlock(folder);
    loop {
        let names = names(folder)?;
        if names.is_empty() {
            return Ok(());
        }
        for name in names {
            if unlinked(folder, &name)? {
                continue;
            }
            let below = enter(folder, &name)?;
            if depth == DEPTH {
                unlock(&below);
                put_aside(folder, &name, top, set_aside)?;
                continue;
            }
            empty(&below, top, depth + 1, set_aside)?;
            unlinkat(folder, &name, AtFlags::REMOVEDIR)?;
        }
    }
}

/// Removes what is no folder; false for one.
fn unlinked(folder: &OwnedFd, name: &CStr) -> io::Result<bool> {
    let unlink = || match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::ISDIR) => Ok(false),
        Err(e) => Err(e),
    };
    match unlink() {
        // Some file systems say so of a folder, all of a file that root of a box has locked.
        Err(Errno::PERM) => {
            let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => return Ok(false),
                FileType::RegularFile => {
                    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                    unlock(&openat(folder, name, flags, Mode::empty())?);
                }
                _ => {}
            }
            Ok(unlink()?)
        }
        done => Ok(done?),
    }
}

/// Takes the flags from a file or a folder by which nobody can remove it or what is in it.
fn unlock(file: &OwnedFd) {
    const LOCKS: IFlags = IFlags::IMMUTABLE.union(IFlags::APPEND);
    // Not every file system has flags.
    if let Ok(flags) = ioctl_getflags(file)
        && flags.intersects(LOCKS)
    {
        let _ = ioctl_setflags(file, flags.difference(LOCKS));
    }
}

/// Opens a folder in another, unless something else is mounted there.
fn enter(folder: &OwnedFd, name: &CString) -> io::Result<OwnedFd> {
    let stay = ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
    match openat2(folder, name, FOLDER, Mode::empty(), stay) {
        // Kernels before 5.6: then at least another device is told.
        Err(Errno::NOSYS) => {
            let [own, other] = [(c".", AtFlags::empty()), (name, AtFlags::SYMLINK_NOFOLLOW)]
                .map(|(name, flags)| statat(folder, name, flags).map(|stat| stat.st_dev));
            if own? != other? {
                return Err(io::ErrorKind::CrossesDevices.into());
            }
            Ok(openat(folder, name, FOLDER, Mode::empty())?)
        }
        opened => Ok(opened?),
    }
}

/// Moves a folder to the top, under a name that nothing has there.
fn put_aside(folder: &OwnedFd, name: &CString, top: &OwnedFd, set_aside: &mut u64) -> io::Result<()> {
    loop {
        *set_aside += 1;
        match renameat(folder, name, top, format!("set-aside-{set_aside}")) {
            Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
            moved => return Ok(moved?),
        }
    }
}

/// Some names in a folder, not those of itself and of the one above; none where it is empty.
fn names(folder: &OwnedFd) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_owned();
        if name.as_c_str() != c"." && name.as_c_str() != c".." {
            names.push(name);
        }
        if names.len() == NAMES {
            break;
        }
    }
    Ok(names)
}

/// Unmounts what is mounted in a folder, which is told without links, the deepest first.
fn unmount_inside(folder: &Path) -> io::Result<()> {
    let mounts = fs::read("/proc/self/mounts").unwrap_or_default();
    let mut inside: Vec<PathBuf> = mounts
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(1))
        .map(decoded)
        .filter(|at| at.starts_with(folder))
        .collect();
    // Of two on one place the later one is on top, and either call takes that.
    inside.sort_unstable_by_key(|at| std::cmp::Reverse(at.components().count()));
    for at in inside {
        unmount(&at, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW).map_err(|e| {
            io::Error::new(
                io::Error::from(e).kind(),
                format!("unmount {}: {e}", at.display()),
            )
        })?;
    }
    Ok(())
}

/// A path as the table of mounts has it: blanks, tabs, new lines and backslashes by their
/// octal numbers (getmntent(3)).
fn decoded(field: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = after.get(..3).filter(|_| byte == b'\\').and_then(octal);
        path.push(escaped.unwrap_or(byte));
        rest = if escaped.is_some() { &after[3..] } else { after };
    }
    OsString::from_vec(path).into()
}

fn octal(digits: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(digits).ok()?;
    u8::from_str_radix(text, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_path_in_the_table_of_mounts_is_read_as_it_is() {
        let read = |field: &str| decoded(field.as_bytes());
        assert_eq!(read("/a\\040b/c\\011d"), Path::new("/a b/c\td"));
        assert_eq!(read("/a\\134040"), Path::new("/a\\040"));
        assert_eq!(read("/a\\9\\"), Path::new("/a\\9\\"));
    }

    #[test]
    fn links_are_removed_and_not_what_they_lead_to() {
        let made = tempfile::tempdir().unwrap();
        let (ours, other) = (made.path().join("ours"), made.path().join("other"));
        fs::create_dir_all(ours.join("below")).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join("file"), "x").unwrap();
        symlink(&other, ours.join("below/link")).unwrap();
        symlink(&other, made.path().join("itself")).unwrap();
        folder(&ours).unwrap();
        assert!(folder(&made.path().join("itself")).is_err());
        assert!(!ours.exists() && other.join("file").exists());
        folder(&ours).unwrap();
    }

    #[test]
    fn more_names_than_are_taken_at_a_time_are_removed() {
        let made = tempfile::tempdir().unwrap();
        let top = made.path().join("top");
        fs::create_dir(&top).unwrap();
        for name in 0..NAMES + 10 {
            fs::write(top.join(name.to_string()), "").unwrap();
        }
        folder(&top).unwrap();
        assert!(!top.exists());
    }

    #[test]
    fn what_is_locked_is_removed() {
        let made = tempfile::tempdir().unwrap();
        let top = made.path().join("top");
        fs::create_dir_all(top.join("folder")).unwrap();
        let files = ["folder/file", "file", "folder"].map(|name| top.join(name));
        for (file, lock) in files
            .iter()
            .zip([IFlags::APPEND, IFlags::IMMUTABLE, IFlags::IMMUTABLE])
        {
            let open = match file.is_dir() {
                true => fs::File::open(file),
                false => fs::File::create(file),
            };
            let open: OwnedFd = open.unwrap().into();
            let flags = ioctl_getflags(&open).unwrap_or(IFlags::empty());
            if ioctl_setflags(&open, flags | lock).is_err() {
                eprintln!("skipped: files cannot be locked here");
                return;
            }
        }
        folder(&top).unwrap();
        assert!(!top.exists());
    }

    #[test]
    fn folders_far_within_one_another_are_removed() {
        let made = tempfile::tempdir().unwrap();
        let top = made.path().join("top");
        fs::create_dir(&top).unwrap();
        let mut at: OwnedFd = fs::File::open(&top).unwrap().into();
        for _ in 0..3000 {
            rustix::fs::mkdirat(&at, "a", Mode::from_raw_mode(0o700)).unwrap();
            at = openat(&at, "a", FOLDER, Mode::empty()).unwrap();
        }
        folder(&top).unwrap();
        assert!(!top.exists());
    }
}
