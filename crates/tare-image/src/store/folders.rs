//! Folders of the store: made, listed, removed.

use super::lock::{self, Lock};
use crate::ImageError;
use crate::unpack::beneath;
use std::ffi::CString;
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The folder of an image that is being made: removed when dropped, unless it has its place.
#[derive(Debug)]
pub struct Building {
    pub path: PathBuf,
    pub lock: Lock,
}

impl Drop for Building {
    fn drop(&mut self) {
        // What is left is swept by the next that makes an image.
        drop(remove_tree(&self.path));
    }
}

/// The folders in a folder, sorted.
pub fn subfolders(path: &Path) -> Result<Vec<PathBuf>, ImageError> {
    let read = || -> std::io::Result<Vec<PathBuf>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                all.push(entry.path());
            }
        }
        all.sort();
        Ok(all)
    };
    read().map_err(ImageError::file("list", path))
}

/// Removes a folder that nobody has locked.
pub fn remove_unused(folder: &Path) -> Result<(), ImageError> {
    let lock = lock::folder(folder).map_err(ImageError::file("lock", folder))?;
    if lock::try_lock(&lock, false).map_err(ImageError::file("lock", folder))? {
        remove_tree(folder).map_err(ImageError::file("remove", folder))?;
    }
    Ok(())
}

/// Removes a folder with all that is in it.
///
/// # Errors
/// As the system says.
pub fn remove_tree(path: &Path) -> std::io::Result<()> {
    let parent = lock::folder(path.parent().unwrap_or_else(|| Path::new("/")))?;
    let name = CString::new(path.file_name().unwrap_or_default().as_bytes())?;
    beneath::remove(parent.as_fd(), &name)
}
