//! A root of its own for an agent on the host's kernel: an image, as the boxes beside it have it.

use rustix::mount::{
    MountFlags, MountPropagationFlags, mount, mount_bind, mount_bind_recursive, mount_change, mount_remount,
};
use std::io;
use std::path::{Path, PathBuf};
use tare_box::jail;
use tare_box::places::{BINARY, HOST_PLACES, WORK_FOLDER};

/// The root that an agent is to take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRoot {
    /// The folder, with places for all that is mounted in it.
    pub folder: PathBuf,
    /// The folder of the host in which commands start.
    pub work: PathBuf,
}

impl HostRoot {
    /// Takes it, and goes to the folder in which commands start. Nobody else sees these mounts,
    /// and of the host's none is left but those of [`HOST_PLACES`].
    pub(crate) fn enter(&self) -> io::Result<()> {
        tare_sys::leave_mounts().map_err(|e| told("leave the host's mounts", &e))?;
        self.mount_with(|| {
            HOST_PLACES.iter().try_for_each(|place| {
                mount_bind_recursive(*place, self.place(place))
                    .map_err(|e| told(&format!("mount {place}"), &e.into()))
            })
        })
    }

    /// Takes it with what else is mounted in it, in a mount namespace that this process has for itself.
    /// It is the root of a mount: Java looks for that of the files that it opens.
    pub(crate) fn mount_with(&self, mount_more: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        keep_mounts_apart()?;
        let root = &self.folder;
        show(root, root)?;
        mount_more()?;
        mount(
            "tmpfs",
            self.place("/run"),
            "tmpfs",
            MountFlags::NODEV,
            Some(c"mode=755"),
        )
        .map_err(|e| told("mount a tmpfs on /run", &e.into()))?;
        show(&self.work, &self.place(WORK_FOLDER))?;
        let binary = self.place(BINARY);
        // By its path: what /proc knows as ours lies in the mounts that were left.
        show(&std::env::current_exe()?, &binary)?;
        mount_remount(&binary, MountFlags::BIND | MountFlags::RDONLY, "")
            .map_err(|e| told("close the binary", &e.into()))?;
        jail::enter(root).map_err(|e| told("change the root", &e))?;
        std::env::set_current_dir(WORK_FOLDER)
    }

    pub(crate) fn place(&self, inside: &str) -> PathBuf {
        self.folder.join(inside.trim_start_matches('/'))
    }
}

/// Leaves the host's network and name, with this file in the place of its `/etc/hosts`.
pub(crate) fn leave_network(hosts: &Path) -> io::Result<()> {
    tare_sys::leave_network().map_err(|e| told("leave the host's network", &e))?;
    keep_mounts_apart()?;
    show(hosts, Path::new("/etc/hosts"))
}

/// Nobody else sees mounts of this process from now on.
fn keep_mounts_apart() -> io::Result<()> {
    let all = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", all).map_err(|e| told("keep mounts apart from the host's", &e.into()))
}

fn show(file: &Path, on: &Path) -> io::Result<()> {
    mount_bind(file, on).map_err(|e| told(&format!("mount {}", file.display()), &e.into()))
}

/// What failed, with its cause.
pub(crate) fn told(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot {what}: {error}"))
}
