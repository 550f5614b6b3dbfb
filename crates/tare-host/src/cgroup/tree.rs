//! Cgroups within one another, by descriptors: root of a box may make some of its own, so far
//! within one another that no path leads to the last.

use rustix::fs::{AtFlags, Dir, Mode, OFlags, open, openat, unlinkat};
use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Removes a folder and those below it; true if it is gone.
pub(super) fn remove(top: &Path) -> bool {
    let below = |above: &OwnedFd, name: &CStr| {
        // Of one that is in use the next try is told.
        let _ = unlinkat(above, name, AtFlags::REMOVEDIR);
    };
    let _ = walk(top, |_| {}, below);
    match fs::remove_dir(top) {
        Ok(()) => true,
        Err(e) => e.kind() == io::ErrorKind::NotFound,
    }
}

/// Lets go on what is frozen in a folder and in those below it.
pub(super) fn thaw(top: &Path) {
    let thaw_one = |folder: &OwnedFd| {
        // One of the two files exists at most; neither in hierarchies without a freezer.
        for (file, thawed) in [(c"freezer.state", "THAWED"), (c"cgroup.freeze", "0")] {
            if let Ok(file) = openat(folder, file, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()) {
                let _ = File::from(file).write_all(thawed.as_bytes());
            }
        }
    };
    let _ = walk(top, thaw_one, |_, _| {});
}

/// Processes in a folder and in those below it; those of another process namespace are 0 and left out.
pub(super) fn processes(top: &Path) -> Vec<u32> {
    let lists = texts(top, c"cgroup.procs");
    let numbers = lists.iter().flat_map(|text| text.lines());
    let pids = numbers.filter_map(|line| line.parse::<u32>().ok());
    pids.filter(|pid| *pid > 0).collect()
}

/// What the file of this name says in a folder and in those below it; those that lack it are left out.
pub(super) fn texts(top: &Path, name: &CStr) -> Vec<String> {
    let mut texts = Vec::new();
    let of_one = |folder: &OwnedFd| {
        let mut text = String::new();
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        if let Ok(file) = openat(folder, name, flags, Mode::empty())
            && File::from(file).read_to_string(&mut text).is_ok()
        {
            texts.push(text);
        }
    };
    let _ = walk(top, of_one, |_, _| {});
    texts
}

/// Goes through a folder and all below it, the deepest first: `visit` gets each, `leave` the
/// one above and the name of each but `top` behind it. Two descriptors are open at a time.
fn walk(
    top: &Path,
    mut visit: impl FnMut(&OwnedFd),
    mut leave: impl FnMut(&OwnedFd, &CStr),
) -> io::Result<()> {
    let mut at = open(top, FOLDER, Mode::empty())?;
    let mut way: Vec<CString> = Vec::new();
    let mut pending = vec![subfolders(&at)?];
    while let Some(rest) = pending.last_mut() {
        if let Some(name) = rest.pop() {
            // It may have gone meanwhile.
            if let Ok(below) = openat(&at, &name, FOLDER, Mode::empty()) {
                pending.push(subfolders(&below).unwrap_or_default());
                way.push(name);
                at = below;
            }
            continue;
        }
        visit(&at);
        pending.pop();
        if let Some(name) = way.pop() {
            at = openat(&at, c"..", FOLDER, Mode::empty())?;
            leave(&at, &name);
        }
    }
    Ok(())
}

fn subfolders(folder: &OwnedFd) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if entry.file_type().is_dir() && name != c"." && name != c".." {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::mkdirat;

    #[test]
    fn folders_to_which_no_path_leads_are_found_and_removed() {
        let made = tempfile::tempdir().unwrap();
        let top = made.path().join("top");
        fs::create_dir_all(top.join("beside/below")).unwrap();
        let mut at = open(&top, FOLDER, Mode::empty()).unwrap();
        let name = "a".repeat(200);
        for _ in 0..1200 {
            mkdirat(&at, &name, Mode::from_raw_mode(0o700)).unwrap();
            at = openat(&at, &name, FOLDER, Mode::empty()).unwrap();
        }
        let deepest = openat(
            &at,
            c"cgroup.procs",
            OFlags::WRONLY | OFlags::CREATE,
            Mode::from_raw_mode(0o600),
        );
        File::from(deepest.unwrap()).write_all(b"0\n17\n").unwrap();
        assert_eq!(processes(&top), [17]);
        assert!(!remove(&top), "a file is in the way");
        unlinkat(&at, c"cgroup.procs", AtFlags::empty()).unwrap();
        assert!(remove(&top) && remove(&top));
    }
}
