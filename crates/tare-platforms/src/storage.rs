//! Where the folder lies in which a box's commands work, as an option of its path:
//! what a file costs differs by that more than by anything else.

use super::contract::storage::{Cache, Disk, Format};
use super::contract::{Absent, BoxError, BoxSpec, Security, Storage};
use super::directory::canonical;
use super::image_root::make_folder;
use super::options::Options;
use rustix::mount::{FsOpenFlags, fsopen};
use std::fs;
use std::path::{Path, PathBuf};
use tare_host::places::{self, WORK_FOLDER};

/// The option that tells how a disk is cached.
pub(super) const CACHE: &str = "cache";
/// The details that tell of them.
const DETAIL: &str = "work-folder";
const CACHE_DETAIL: &str = "work-cache";
/// Its place among the files of the box, where it is a folder of the host.
const VOLUME: &str = "work";

impl Storage {
    /// What containers can have.
    pub(super) const OF_CONTAINERS: [Self; 3] = [Self::Own, Self::Volume, Self::Tmpfs];
    /// What those can have whose mounts tare tells by itself.
    pub(super) const OF_BUNDLES: [Self; 4] = [Self::Own, Self::Volume, Self::Tmpfs, Self::Overlay];
    /// What machines can have.
    const OF_MACHINES: [Self; 4] = [
        Self::Own,
        Self::Tmpfs,
        Self::disk(Format::Raw),
        Self::disk(Format::Qcow2),
    ];

    const fn disk(format: Format) -> Self {
        Self::Disk(Disk {
            format,
            cache: Cache::ALL[0],
        })
    }

    /// Takes the option out of those of a path, one of those that the platform can
    /// have. Without it a box has no such folder.
    pub(super) fn take(options: &mut Options, able: &[Self]) -> Result<Option<Self>, String> {
        options.choose(Self::OPTION, able, Self::name)
    }

    /// As [`Storage::take`], for a machine, with the mode of its disk.
    pub(super) fn take_of_machine(options: &mut Options) -> Result<Option<Self>, String> {
        let storage = Self::take(options, &Self::OF_MACHINES)?;
        let cache = options.choose(CACHE, &Cache::ALL, Cache::name)?;
        match (storage, cache) {
            (Some(Self::Disk(disk)), Some(cache)) => Ok(Some(Self::Disk(Disk { cache, ..disk }))),
            (_, Some(_)) => Err(format!(
                "option '{CACHE}' needs a disk: add {option}=raw or {option}=qcow2",
                option = Self::OPTION
            )),
            (storage, None) => Ok(storage),
        }
    }

    /// Whether it can be had here.
    pub(super) fn probe(self) -> Result<(), Absent> {
        match self {
            Self::Own | Self::Volume | Self::Tmpfs => Ok(()),
            // The kernel loads what it needs for one when it is asked.
            Self::Overlay => fsopen(c"overlay", FsOpenFlags::FSOPEN_CLOEXEC)
                .map(drop)
                .map_err(|e| {
                    Absent::new(
                        format!("the kernel makes no overlay: {e}"),
                        "load its module (modprobe overlay), or choose another storage",
                    )
                }),
            Self::Disk(disk) => disk.probe(),
        }
    }

    /// What a report is to tell of it.
    pub(super) fn details(self) -> impl Iterator<Item = (String, String)> {
        let cache = match self {
            Self::Disk(disk) => Some((CACHE_DETAIL, disk.cache.name())),
            _ => None,
        };
        let told = [Some((DETAIL, self.name())), cache];
        told.into_iter()
            .flatten()
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
    }

    /// What a machine's agent is told of it; `None` for one that no machine has.
    pub(super) fn told_to_agent(self) -> Option<places::Work> {
        match self {
            Self::Own => Some(places::Work::Own),
            Self::Tmpfs => Some(places::Work::Tmpfs),
            Self::Disk(_) => Some(places::Work::Disk),
            Self::Volume | Self::Overlay => None,
        }
    }
}

/// The work folder of one container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Work {
    Own,
    /// The folder of the host.
    Volume(PathBuf),
    Tmpfs,
    /// The folder of the host that holds the [`LAYERS`].
    Overlay(PathBuf),
}

/// Folders of an overlay, by the names that the kernel has for them.
pub(super) const LAYERS: [&str; 3] = ["lowerdir", "upperdir", "workdir"];

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
        make_folder(&rootfs.join(WORK_FOLDER.trim_start_matches('/')))?;
        Self::of(storage, folder)
    }

    /// Makes what is needed on the host, where the engine makes the rest; `None` for a
    /// disk, which no container has.
    pub(super) fn of(storage: Storage, folder: &Path) -> Result<Option<Self>, BoxError> {
        let place = || {
            let place = canonical(folder)?.join(VOLUME);
            make(&place).map(|()| place)
        };
        Ok(match storage {
            Storage::Own => Some(Self::Own),
            Storage::Tmpfs => Some(Self::Tmpfs),
            Storage::Volume => Some(Self::Volume(place()?)),
            Storage::Overlay => {
                let place = place()?;
                LAYERS.iter().try_for_each(|layer| make(&place.join(layer)))?;
                Some(Self::Overlay(place))
            }
            Storage::Disk(_) => None,
        })
    }

    /// Gives a folder of the host to root in the box.
    pub(super) fn own(&self, security: &Security, spec: &BoxSpec) -> Result<(), BoxError> {
        match self {
            Self::Volume(volume) | Self::Overlay(volume) => security.own(spec, volume),
            Self::Own | Self::Tmpfs => Ok(()),
        }
    }
}

/// The options of the mount that puts the layers of an overlay together.
pub(super) fn layers(place: &Path) -> [String; 3] {
    LAYERS.map(|layer| format!("{layer}={}", place.join(layer).display()))
}

fn make(folder: &Path) -> Result<(), BoxError> {
    fs::create_dir(folder).map_err(BoxError::host(format!("make {}", folder.display())))
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

    fn of_machine(given: &[(&str, &str)]) -> Result<Option<Storage>, String> {
        let owned = given
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Storage::take_of_machine(&mut Options::new(owned.collect()))
    }

    #[test]
    fn a_disk_has_a_cache_that_is_told() {
        let details = |given: &[(&str, &str)]| {
            let storage = of_machine(given).unwrap().unwrap();
            let told: Vec<String> = storage.details().map(|(_, value)| value).collect();
            (told.join(" "), storage.told_by().map(|(_, content)| content))
        };
        assert_eq!(
            details(&[("storage", "raw")]),
            ("raw writeback".to_owned(), Some("write back"))
        );
        assert_eq!(
            details(&[("storage", "qcow2"), ("cache", "directsync")]),
            ("qcow2 directsync".to_owned(), Some("write through"))
        );
        assert_eq!(details(&[("storage", "tmpfs")]), ("tmpfs".to_owned(), None));
        assert_eq!(of_machine(&[]), Ok(None));
    }

    #[test]
    fn a_cache_without_a_disk_is_refused() {
        for given in [
            &[("cache", "none")][..],
            &[("storage", "tmpfs"), ("cache", "none")],
        ] {
            let refused = of_machine(given).unwrap_err();
            assert!(refused.contains("storage=raw or storage=qcow2"), "{refused}");
        }
        assert!(
            of_machine(&[("storage", "volume")])
                .unwrap_err()
                .contains("own, tmpfs, raw, qcow2")
        );
        assert!(
            of_machine(&[("storage", "raw"), ("cache", "off")])
                .unwrap_err()
                .contains("directsync")
        );
    }
}
