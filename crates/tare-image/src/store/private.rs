//! Whether a store is its user's alone: programs in it are run, as root where root runs tare, and
//! it holds files with the setuid bit, which nobody else may reach.

use crate::ImageError;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Whether nobody but this user and root can reach what is in a folder, or put another in its
/// place.
///
/// # Errors
/// [`ImageError::Open`], [`ImageError::File`].
pub fn check(folder: &Path) -> Result<(), ImageError> {
    let us = rustix::process::geteuid().as_raw();
    let open = |why: String| ImageError::Open {
        path: folder.to_owned(),
        why,
    };
    let canonical = folder
        .canonicalize()
        .map_err(ImageError::file("look at", folder))?;
    for (above, at) in canonical.ancestors().enumerate() {
        let meta = fs::metadata(at).map_err(ImageError::file("look at", at))?;
        let mode = meta.mode() & 0o7777;
        let at = at.display();
        if meta.uid() != us && meta.uid() != 0 {
            return Err(open(format!("{at} belongs to user {}", meta.uid())));
        }
        if above == 0 && mode & 0o077 != 0 {
            return Err(open(format!(
                "others can reach {at} (mode {mode:o}): chmod 700 it"
            )));
        }
        // In a sticky folder, such as /tmp, only the owner renames what is there.
        if mode & 0o022 != 0 && mode & 0o1000 == 0 {
            return Err(open(format!("others can write to {at} (mode {mode:o})")));
        }
    }
    Ok(())
}
