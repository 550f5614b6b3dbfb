//! Where the folder lies in which a container's commands work, as an option of its
//! path: what a file costs differs by that more than by anything else.

use super::registry::Options;
use super::security::Security;
use super::{BoxError, BoxSpec};
use std::fs;
use std::path::{Path, PathBuf};

/// The option's name.
pub(super) const OPTION: &str = "storage";
/// The folder in the box. It is the agent's own, which its commands inherit.
pub(crate) const FOLDER: &str = "/work";
/// The detail that tells of it.
const DETAIL: &str = "work-folder";
/// Its place among the files of the box, where it is a folder of the host.
const VOLUME: &str = "work";

/// Where it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// With the other files of the box, as its engine keeps them.
    Own,
    /// In a folder of the host, mounted in the box.
    Volume,
    /// In memory, which counts as the box's.
    Tmpfs,
}

impl Storage {
    const ALL: [Self; 3] = [Self::Own, Self::Volume, Self::Tmpfs];

    const fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Volume => "volume",
            Self::Tmpfs => "tmpfs",
        }
    }

    /// Takes the option out of those of a path. Without it a box has no such folder.
    pub(super) fn take(options: &mut Options) -> Result<Option<Self>, String> {
        options.choose(OPTION, &Self::ALL, Self::name)
    }

    /// What a report is to tell of it.
    pub(super) fn detail(self) -> (String, String) {
        (DETAIL.to_owned(), self.name().to_owned())
    }
}

/// The work folder of one box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Work {
    Own,
    /// The folder of the host.
    Volume(PathBuf),
    Tmpfs,
}

impl Work {
    /// Makes what is needed in the folder of a box and in its root; `None` if no
    /// work folder was asked for.
    pub(super) fn make(
        storage: Option<Storage>,
        folder: &Path,
        rootfs: &Path,
    ) -> Result<Option<Self>, BoxError> {
        let Some(storage) = storage else {
            return Ok(None);
        };
        // Also the place to mount on: not every engine makes one.
        make(&rootfs.join(FOLDER.trim_start_matches('/')))?;
        Self::of(storage, folder).map(Some)
    }

    /// Makes what is needed on the host, where the engine makes the rest.
    pub(super) fn of(storage: Storage, folder: &Path) -> Result<Self, BoxError> {
        Ok(match storage {
            Storage::Own => Self::Own,
            Storage::Tmpfs => Self::Tmpfs,
            Storage::Volume => {
                let volume = super::canonical(folder)?.join(VOLUME);
                make(&volume)?;
                Self::Volume(volume)
            }
        })
    }

    /// Gives a folder of the host to root in the box.
    pub(super) fn own(&self, security: &Security, spec: &BoxSpec) -> Result<(), BoxError> {
        match self {
            Self::Volume(volume) => security.own(spec, volume),
            Self::Own | Self::Tmpfs => Ok(()),
        }
    }
}

fn make(folder: &Path) -> Result<(), BoxError> {
    fs::create_dir(folder).map_err(BoxError::host(format!("make {}", folder.display())))
}

/// What is wrong with a work folder, by the box's table of mounts; `None` if nothing is.
pub(crate) fn misplaced(asked: Storage, mounts: &str) -> Option<String> {
    let mut lines = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let kind = lines
        .find(|fields| fields.get(1) == Some(&FOLDER))
        .and_then(|fields| fields.get(2).map(|kind| (*kind).to_owned()));
    let kept = match asked {
        Storage::Own => kind.is_none(),
        Storage::Tmpfs => kind.as_deref() == Some("tmpfs"),
        Storage::Volume => kind.is_some(),
    };
    (!kept).then(|| {
        let seen = kind.map_or_else(
            || "nothing is mounted".to_owned(),
            |kind| format!("a {kind} is mounted"),
        );
        format!(
            "{OPTION}={} was asked for, and {seen} on {FOLDER} in the box",
            asked.name()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_folder_is_made_where_it_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let rootfs = folder.path().join("rootfs");
        fs::create_dir(&rootfs).unwrap();
        assert_eq!(Work::make(None, folder.path(), &rootfs).unwrap(), None);
        assert!(!rootfs.join("work").exists());
        let work = Work::make(Some(Storage::Volume), folder.path(), &rootfs).unwrap();
        let volume = folder.path().canonicalize().unwrap().join("work");
        assert!(volume.is_dir() && rootfs.join("work").is_dir());
        assert_eq!(work, Some(Work::Volume(volume)));
    }

    #[test]
    fn the_table_of_mounts_tells_where_it_lies() {
        let none = "overlay / overlay rw 0 0\n";
        let memory = "overlay / overlay rw 0 0\ntmpfs /work tmpfs rw 0 0\n";
        let disk = "/dev/sda1 /work ext4 rw 0 0\n";
        let kept = |asked, mounts| misplaced(asked, mounts).is_none();
        assert!(kept(Storage::Own, none) && !kept(Storage::Own, memory));
        assert!(kept(Storage::Tmpfs, memory) && !kept(Storage::Tmpfs, disk));
        assert!(kept(Storage::Volume, disk) && !kept(Storage::Volume, none));
    }
}
