//! A box's directory on the host, in which all files lie that are made for it.

use super::contract::{BoxError, BoxSpec};
use crate::cgroup;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What is made on the host under a box's name: its directory and its cgroups.
/// Removed when dropped, whatever failed before there was a box.
pub(super) struct BoxDirectory {
    /// The box's name, stem of the names of all its cgroups.
    pub name: String,
    pub path: PathBuf,
    /// An empty folder that the engine makes elsewhere and may forget.
    pub elsewhere: Option<PathBuf>,
    gone: bool,
}

impl BoxDirectory {
    /// Takes the box's name and makes its directory.
    pub(super) fn make(spec: &BoxSpec) -> Result<Self, BoxError> {
        let path = spec.scratch.join(&spec.name);
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::AlreadyExists => BoxError::Taken(spec.name.clone()),
            _ => BoxError::host(format!("make {}", path.display()))(source),
        };
        fs::create_dir_all(&spec.scratch)
            .and_then(|()| fs::create_dir(&path))
            .map_err(failed)?;
        Ok(Self {
            name: spec.name.clone(),
            path,
            elsewhere: None,
            gone: false,
        })
    }

    /// Makes the root of the box in it, which holds the binary and nothing else.
    pub(super) fn rootfs(&self, spec: &BoxSpec) -> Result<PathBuf, BoxError> {
        let rootfs = self.path.join("rootfs");
        fs::create_dir_all(&rootfs).map_err(BoxError::host(format!("make {}", rootfs.display())))?;
        place_binary(spec, &rootfs.join("tare"))?;
        Ok(rootfs)
    }

    /// Ends what runs in the cgroups and removes all.
    pub(super) fn clear(&mut self) -> Result<(), BoxError> {
        if self.gone {
            // The name may be another's by now.
            return Ok(());
        }
        cgroup::sweep(&self.name)?;
        let failed = |path: &Path| BoxError::host(format!("remove {}", path.display()));
        fs::remove_dir_all(&self.path).map_err(failed(&self.path))?;
        if let Some(elsewhere) = self.elsewhere.as_ref().filter(|folder| folder.exists()) {
            fs::remove_dir(elsewhere).map_err(failed(elsewhere))?;
        }
        self.gone = true;
        Ok(())
    }
}

impl Drop for BoxDirectory {
    fn drop(&mut self) {
        // What cannot be removed now is swept by the next start.
        let _ = self.clear();
    }
}

/// Puts the binary there: a link to the run's own copy, as an engine's image is
/// shared by its containers, else a copy. The user's file is never linked, since
/// root in a box may do what it likes with its own.
fn place_binary(spec: &BoxSpec, target: &Path) -> Result<(), BoxError> {
    let is_ours = spec.binary.starts_with(&spec.scratch);
    if is_ours && fs::hard_link(&spec.binary, target).is_ok() {
        return Ok(());
    }
    copy_binary(&spec.binary, target)
}

/// Copies the binary.
pub(super) fn copy_binary(binary: &Path, target: &Path) -> Result<(), BoxError> {
    let what = format!("copy {} to {}", binary.display(), target.display());
    fs::copy(binary, target).map(drop).map_err(BoxError::host(what))
}

/// A path as it is told to a program that runs elsewhere, without links: programs
/// that tell it again tell it so.
pub(super) fn canonical(path: &Path) -> Result<PathBuf, BoxError> {
    path.canonicalize()
        .map_err(BoxError::host(format!("look up {}", path.display())))
}
