//! The folder of the small files, which is removed with all of them.

use super::super::folder::Folder;
use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags, flock, mkdirat, openat, statat, unlinkat};
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU32, Ordering};

/// How the names of all such folders begin.
const PREFIX: &str = ".tare-file-";

/// A folder of files, locked as long as its process lives.
pub struct Nest {
    above: File,
    name: String,
    opened: File,
    is_ours: bool,
}

impl Nest {
    /// An empty folder in `folder`. Those that a process left which was killed are
    /// removed: nobody holds their locks.
    ///
    /// # Errors
    /// Where no folder can be made.
    pub fn new(folder: &Folder) -> io::Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        sweep(&folder.opened);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{number}", std::process::id());
        let above = folder.opened.try_clone()?;
        mkdirat(&above, &name, Mode::RWXU)?;
        let opened = open(&above, &name)?;
        // Where there are no locks, nobody takes it for a dead process's either. Before this
        // line one may: the folder is gone then, and the first file says so.
        let _ = flock(&opened, FlockOperation::NonBlockingLockExclusive);
        Ok(Self {
            above,
            name,
            opened,
            is_ours: true,
        })
    }

    /// Creates a file with this content.
    ///
    /// # Errors
    /// As open(2) and write(2).
    pub fn create(&self, name: &CStr, content: &[u8]) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.opened, name, flags, Mode::RUSR | Mode::WUSR)?);
        file.write_all(content)
    }

    /// The length of a file.
    ///
    /// # Errors
    /// As stat(2).
    pub fn length(&self, name: &CStr) -> io::Result<u64> {
        let told = statat(&self.opened, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(u64::try_from(told.st_size).unwrap_or(0))
    }

    /// # Errors
    /// As unlink(2).
    pub fn delete(&self, name: &CStr) -> io::Result<()> {
        Ok(unlinkat(&self.opened, name, AtFlags::empty())?)
    }

    /// Files that are in it.
    ///
    /// # Errors
    /// As getdents(2).
    pub fn count(&self) -> io::Result<u64> {
        Ok(entries(&self.opened)?.len() as u64)
    }
}

#[cfg(test)]
impl Nest {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Leaves everything where it is.
    pub fn forget(&mut self) {
        self.is_ours = false;
    }
}

impl Drop for Nest {
    fn drop(&mut self) {
        if self.is_ours {
            // What cannot be removed the next one tries again.
            let _ = remove(&self.above, &self.name, &self.opened);
        }
    }
}

/// Names for so many files.
pub fn names(files: u64) -> Vec<CString> {
    let name = |number: u64| CString::new(format!("{number:08}")).unwrap_or_default();
    (0..files).map(name).collect()
}

fn open(above: &File, name: &str) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(above, name, flags, Mode::empty())?.into())
}

/// The names in a folder.
fn entries(folder: &File) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    // Opens the folder again: its place in it is one of its own.
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_owned();
        if !matches!(name.to_bytes(), b"." | b"..") {
            names.push(name);
        }
    }
    Ok(names)
}

/// Removes a folder of files with all that is in it.
fn remove(above: &File, name: &str, opened: &File) -> io::Result<()> {
    for file in entries(opened)? {
        unlinkat(opened, &file, AtFlags::empty())?;
    }
    Ok(unlinkat(above, name, AtFlags::REMOVEDIR)?)
}

/// Removes the folders of dead processes. What cannot be removed is in nobody's way.
fn sweep(above: &File) {
    for name in entries(above).unwrap_or_default() {
        let Ok(name) = name.to_str() else { continue };
        if name.starts_with(PREFIX)
            && let Ok(opened) = open(above, name)
            && flock(&opened, FlockOperation::NonBlockingLockExclusive).is_ok()
        {
            let _ = remove(above, name, &opened);
        }
    }
}
