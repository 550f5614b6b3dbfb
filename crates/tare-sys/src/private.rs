//! Whether a folder is its user's alone. Programs in such a folder are run, as root where root
//! runs tare, so that whoever can change it can do all that root can.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What others may do in a folder that is its user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Others {
    /// Read what is in it.
    Read,
    /// Nothing: there are files with the setuid bit in it.
    Nothing,
}

/// Why a folder is not this user's alone: who beside him and root can do more in it than others
/// may, or put another in its place. `None` if it is.
///
/// # Errors
/// If it, or a folder above it, cannot be looked at.
pub fn exposed(folder: &Path, others: Others) -> io::Result<Option<String>> {
    let us = rustix::process::geteuid().as_raw();
    for (above, at) in folder.canonicalize()?.ancestors().enumerate() {
        let meta = fs::metadata(at)?;
        let mode = meta.mode() & 0o7777;
        let at = at.display();
        // The folder itself is ours; those above may be root's.
        if meta.uid() != us && (above == 0 || meta.uid() != 0) {
            return Ok(Some(format!("{at} belongs to user {}", meta.uid())));
        }
        if above == 0 && others == Others::Nothing && mode & 0o077 != 0 {
            return Ok(Some(format!(
                "others can reach {at} (mode {mode:o}): chmod 700 it"
            )));
        }
        // In a sticky folder, such as /tmp, only the owner renames what is there.
        let keeps_names = above > 0 && mode & 0o1000 != 0;
        if mode & 0o022 != 0 && !keeps_names {
            return Ok(Some(format!("others can write to {at} (mode {mode:o})")));
        }
    }
    Ok(None)
}
