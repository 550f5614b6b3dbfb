//! Places directly in the root of a box, on which something is to be mounted or written: whatever
//! an image has there, they are no links, which would lead out of the root.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;

/// An empty file, in the place of all that is there.
///
/// # Errors
/// Those of the file system.
pub fn file(path: &Path) -> io::Result<()> {
    give_way(path, |_| false)?;
    File::create_new(path).map(drop)
}

/// A folder: the one that is there, if it is one.
///
/// # Errors
/// Those of the file system.
pub fn folder(path: &Path) -> io::Result<()> {
    give_way(path, Metadata::is_dir)?;
    match fs::create_dir(path) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Removes what is not to be kept at a path.
fn give_way(path: &Path, is_kept: impl Fn(&Metadata) -> bool) -> io::Result<()> {
    match path.symlink_metadata() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
        Ok(meta) if is_kept(&meta) => Ok(()),
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_of_the_image_leads_nowhere() {
        let scratch = tempfile::tempdir().unwrap();
        let outside = scratch.path().join("outside");
        fs::write(&outside, "kept").unwrap();
        let place = scratch.path().join("tare");
        std::os::unix::fs::symlink(&outside, &place).unwrap();
        file(&place).unwrap();
        assert!(place.symlink_metadata().unwrap().is_file());
        assert_eq!(fs::read_to_string(&outside).unwrap(), "kept");
        let place = scratch.path().join("work");
        std::os::unix::fs::symlink(scratch.path(), &place).unwrap();
        folder(&place).unwrap();
        folder(&place).unwrap();
        assert!(place.symlink_metadata().unwrap().is_dir());
    }
}
