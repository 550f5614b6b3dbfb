//! A box's directory on the host, in which all files lie that are made for it.

use super::contract::{BoxError, BoxSpec, Security};
use super::{agent_file, image_root};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use tare_host::places::BINARY;
use tare_host::{cgroup, remove};

/// [`BINARY`] from the root on.
const BINARY_IN_ROOT: &str = BINARY.split_at(1).1;

/// Removes a container of this name from its engine, and says whether it was there.
pub(super) type Removal = fn(&str) -> Result<bool, BoxError>;

/// What is made on the host under a box's name: its directory and its cgroups.
/// Removed when dropped, whatever failed before there was a box.
pub(super) struct BoxDirectory {
    /// The box's name, stem of the names of all its cgroups.
    pub name: String,
    pub path: PathBuf,
    /// Folders that the engine makes elsewhere, or mounts something on, and may forget.
    pub elsewhere: Vec<PathBuf>,
    /// Removes by the box's name what an engine keeps that was killed on the way.
    pub remove_from_engine: Option<Removal>,
    /// Whether the box has a user namespace.
    has_userns: bool,
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
        // Closed to others: root in a box may make files that change the user of whoever runs them.
        let mut closed = fs::DirBuilder::new();
        closed.mode(0o700).recursive(true);
        closed
            .create(&spec.scratch)
            .and_then(|()| closed.recursive(false).create(&path))
            .map_err(failed)?;
        Ok(Self {
            name: spec.name.clone(),
            path,
            elsewhere: Vec::new(),
            remove_from_engine: None,
            has_userns: false,
            gone: false,
        })
    }

    /// As [`BoxDirectory::make`], of a box that is set apart by these means.
    pub(super) fn make_apart(spec: &BoxSpec, security: Option<&Security>) -> Result<Self, BoxError> {
        let mut made = Self::make(spec)?;
        made.has_userns = security.is_some_and(Security::has_userns);
        Ok(made)
    }

    /// Makes the root of the box in it: a copy of the binary, and beside it what the image holds,
    /// if there is one.
    pub(super) fn rootfs(&self, spec: &BoxSpec) -> Result<PathBuf, BoxError> {
        let rootfs = self.bare_rootfs(spec)?;
        put_binary(spec, &rootfs)?;
        Ok(rootfs)
    }

    /// As [`BoxDirectory::rootfs`] for a machine, which has the image as a disk: a copy of the
    /// binary and nothing else.
    pub(super) fn rootfs_without_image(&self, spec: &BoxSpec) -> Result<PathBuf, BoxError> {
        let rootfs = self.empty_rootfs()?;
        put_binary(spec, &rootfs)?;
        Ok(rootfs)
    }

    /// As [`BoxDirectory::rootfs`] for a box of which tare tells the mounts: the binary is
    /// [shared](super::shared::shared_binary) where that is possible.
    pub(super) fn shared_rootfs(&self, spec: &BoxSpec, shared: Option<PathBuf>) -> Result<Root, BoxError> {
        let Some(binary) = shared else {
            return self.rootfs(spec).map(|path| Root { path, binary: None });
        };
        Ok(Root {
            path: self.rootfs_without_binary(spec)?,
            binary: Some(binary),
        })
    }

    /// As [`BoxDirectory::rootfs`], with a place for the binary in its stead.
    pub(super) fn rootfs_without_binary(&self, spec: &BoxSpec) -> Result<PathBuf, BoxError> {
        let path = self.bare_rootfs(spec)?;
        image_root::make_file(&path.join(BINARY_IN_ROOT))?;
        Ok(path)
    }

    /// The root of the box as it is before tare puts anything into it: empty, or an image.
    fn bare_rootfs(&self, spec: &BoxSpec) -> Result<PathBuf, BoxError> {
        let rootfs = self.empty_rootfs()?;
        if let Some(image) = spec.root_image() {
            let lay = if self.has_userns {
                image_root::lay_for_others
            } else {
                image_root::lay
            };
            lay(image.rootfs(), &self.path, &rootfs)?;
        }
        Ok(rootfs)
    }

    fn empty_rootfs(&self) -> Result<PathBuf, BoxError> {
        let rootfs = self.path.join("rootfs");
        fs::create_dir_all(&rootfs).map_err(BoxError::host(format!("make {}", rootfs.display())))?;
        Ok(rootfs)
    }

    /// An empty file of the box's own, to be mounted over what the box may not see: root there can
    /// change the mode of what is mounted, if it can mount it again.
    pub(super) fn empty_file(&self) -> Result<PathBuf, BoxError> {
        let path = canonical(&self.path)?.join("empty");
        File::create(&path).map_err(BoxError::host(format!("make {}", path.display())))?;
        Ok(path)
    }

    /// Ends what runs in the cgroups and removes all.
    pub(super) fn clear(&mut self) -> Result<(), BoxError> {
        if self.gone {
            // The name may be another's by now.
            return Ok(());
        }
        cgroup::sweep(&self.name)?;
        if let Some(remove) = self.remove_from_engine {
            remove(&self.name)?;
        }
        let failed = |path: &Path| BoxError::host(format!("remove {}", path.display()));
        for path in [&self.path].into_iter().chain(&self.elsewhere) {
            remove::folder(path).map_err(failed(path))?;
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

/// The root of a box on the host.
pub(super) struct Root {
    pub path: PathBuf,
    /// What is to be mounted read-only as [`BINARY`] of the box; absent where the binary is in the root.
    pub binary: Option<PathBuf>,
}

/// Copies the binary into the root of a box. Never a link: root in a box may do what it likes with
/// what is in its root, and so may an image.
fn put_binary(spec: &BoxSpec, rootfs: &Path) -> Result<(), BoxError> {
    let place = rootfs.join(BINARY_IN_ROOT);
    image_root::make_file(&place)?;
    copy_binary(&spec.binary, &place)
}

/// Copies the binary.
pub(super) fn copy_binary(binary: &Path, target: &Path) -> Result<(), BoxError> {
    let what = format!("copy {} to {}", binary.display(), target.display());
    agent_file::copy(binary, target).map_err(BoxError::host(what))
}

/// A path as it is told to a program that runs elsewhere, without links: programs
/// that tell it again tell it so.
pub(super) fn canonical(path: &Path) -> Result<PathBuf, BoxError> {
    path.canonicalize()
        .map_err(BoxError::host(format!("look up {}", path.display())))
}
