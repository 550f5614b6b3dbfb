//! The store: images by the digest of what is in them, in a folder of the user's own.
//!
//! ```text
//! STORE/images/HEX/rootfs/        the root filesystem
//!                  config.json    how it is run
//!                  manifest.json  names, source, digest, size, when it was made
//!                  disk.ext4      its disk, once it was asked for
//!                  .disk.lock     held while that is made
//! STORE/locks/HEX                 held while an image of a name is made
//!             NAME.failed         what mmdebstrap said when it failed
//! STORE/.building-HEX/            an image that is being made, locked by whoever does
//! ```
//!
//! An image is used under a shared lock of its folder and removed under one of one's own. The
//! store itself is locked while names change and folders come and go, never for long.

mod folders;
mod image;
mod inside;
mod lock;
mod manifest;
mod names;
#[cfg(test)]
mod tests;

pub(crate) use folders::remove_tree;
pub(crate) use image::DISK;
pub use image::Image;
pub use manifest::Manifest;

use crate::unpack::Limits;
use crate::{Config, Digest, ImageError, Stop, tree};
use folders::{Building, remove_unused, subfolders};
use lock::{Lock, Patience};
use rustix::fs::{AtFlags, Timestamps};
use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tare_sys::private::{self, Others};

const IMAGES: &str = "images";
const LOCKS: &str = "locks";
const BUILDING: &str = ".building-";
pub(crate) const ROOTFS: &str = "rootfs";
const CONFIG: &str = "config.json";

/// How long the lock of the store itself is waited for, which is never held for more than the
/// removal of images takes.
const MOMENT: Duration = Duration::from_secs(60);
/// How long another process may take to make an image of the same name.
const MAKING: Duration = Duration::from_secs(1800);
/// The shortest part of a digest that names an image.
const FEWEST_DIGITS: usize = 8;

/// A folder of images.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    limit_bytes: u64,
    limits: Limits,
    stop: Stop,
    making: Duration,
}

/// An image as the store lists it.
#[derive(Debug, Clone)]
pub struct Listed {
    pub manifest: Manifest,
    /// When it was last used.
    pub used: SystemTime,
    /// Whether it is in use now.
    pub in_use: bool,
    /// What it occupies on the disk, with its own disk if there is one.
    pub bytes: u64,
}

/// What a source has put into the folder of an image.
#[derive(Debug)]
pub(crate) struct Filled {
    /// How it is run.
    pub config: Config,
    /// Where it came from, in words.
    pub source: String,
    /// What of it was left out.
    pub left_out: u64,
}

impl Store {
    /// Opens a store and makes it if it is not there. `limit_bytes` is what its images may
    /// occupy together before those go that were not used for longest.
    ///
    /// # Errors
    /// [`ImageError::Open`] if others could write to it, [`ImageError::File`].
    pub fn open(path: &Path, limit_bytes: u64) -> Result<Self, ImageError> {
        let judged = |exposed: std::io::Result<Option<String>>| match exposed {
            Ok(None) => Ok(()),
            Ok(Some(why)) => Err(ImageError::Open {
                path: path.to_owned(),
                why,
            }),
            Err(source) => Err(ImageError::file("look at", path)(source)),
        };
        judged(private::misleading(path))?;
        for folder in [path.to_owned(), path.join(IMAGES), path.join(LOCKS)] {
            let mut make = fs::DirBuilder::new();
            let made = make.recursive(true).mode(0o700).create(&folder);
            made.map_err(ImageError::file("make the folder", &folder))?;
        }
        judged(private::exposed(path, Others::Nothing))?;
        let path = path.canonicalize().map_err(ImageError::file("look at", path))?;
        let limits = Limits {
            bytes: Limits::default().bytes.min(limit_bytes),
            ..Limits::default()
        };
        Ok(Self {
            path,
            limit_bytes,
            limits,
            stop: || false,
            making: MAKING,
        })
    }

    /// Asks for the user's wish to stop in every long wait.
    #[must_use]
    pub fn with_stop(self, stop: Stop) -> Self {
        Self { stop, ..self }
    }

    /// Waits no longer than this for another process that makes an image of the same name.
    #[must_use]
    pub fn with_patience(self, making: Duration) -> Self {
        Self { making, ..self }
    }

    /// What an image may hold at most.
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// The user's wish to stop.
    pub(crate) fn stop(&self) -> Stop {
        self.stop
    }

    /// Where the output of a program is kept that made no image of that name.
    pub(crate) fn failed_output(&self, name: &str) -> PathBuf {
        self.path.join(LOCKS).join(format!("{name}.failed"))
    }

    /// All images, the last used first.
    ///
    /// # Errors
    /// [`ImageError::File`], [`ImageError::Damaged`].
    pub fn list(&self) -> Result<Vec<Listed>, ImageError> {
        let _store = self.lock()?;
        self.all()
    }

    /// As [`Store::list`], with the store locked: who looks whether an image is in use holds its
    /// lock for a moment.
    fn all(&self) -> Result<Vec<Listed>, ImageError> {
        let mut all = Vec::new();
        for folder in self.folders()? {
            all.push(self.listed(&folder)?);
        }
        all.sort_by_key(|listed| std::cmp::Reverse(listed.used));
        Ok(all)
    }

    /// An image by a name, its digest, or at least 8 digits of that; it stays as long as it is kept.
    ///
    /// # Errors
    /// [`ImageError::Unknown`], [`ImageError::Ambiguous`], as [`Store::list`].
    pub fn get(&self, name: &str) -> Result<Image, ImageError> {
        let _store = self.lock()?;
        let manifest = self.find(name)?;
        let folder = self.folder_of(&manifest.digest);
        let lock = self.share(&folder)?;
        Image::open(folder, lock, manifest)
    }

    /// An image by its name, if its source was in this state when it was made.
    ///
    /// # Errors
    /// As [`Store::list`].
    pub fn get_as(&self, name: &str, state: &str) -> Result<Option<Image>, ImageError> {
        let image = match self.get(name) {
            Ok(image) => image,
            Err(ImageError::Unknown { .. } | ImageError::Ambiguous(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let is_same = image
            .manifest()
            .states
            .get(name)
            .is_some_and(|known| known == state);
        Ok(is_same.then_some(image))
    }

    /// Gives an image a name, which another one loses that had it; `state` is that of its source.
    /// Returns the image as it is now.
    ///
    /// # Errors
    /// [`ImageError::Name`], as [`Store::list`].
    pub fn call(&self, image: &Image, name: &str, state: Option<&str>) -> Result<Image, ImageError> {
        names::check(name)?;
        let _store = self.lock()?;
        let folder = self.folder_of(&image.manifest().digest);
        let mut manifest = Manifest::read(&folder)?;
        let before = manifest.clone();
        manifest.give(name.to_owned(), state);
        if manifest != before {
            self.forget_names(&manifest)?;
            manifest.write(&folder)?;
        }
        let lock = self.share(&folder)?;
        Image::open(folder, lock, manifest)
    }

    /// Removes an image with all its names. Returns what it was.
    ///
    /// # Errors
    /// [`ImageError::InUse`], as [`Store::get`].
    pub fn remove(&self, name: &str) -> Result<Manifest, ImageError> {
        let _store = self.lock()?;
        let manifest = self.find(name)?;
        match self.take_away(&self.folder_of(&manifest.digest))? {
            true => Ok(manifest),
            false => Err(ImageError::InUse(name.to_owned())),
        }
    }

    /// Removes images until those left fit into the limit: those first that were not used for
    /// longest, none that is in use. Returns what was removed.
    ///
    /// # Errors
    /// As [`Store::list`].
    pub fn prune(&self) -> Result<Vec<Manifest>, ImageError> {
        let _store = self.lock()?;
        self.sweep()?;
        let mut all = self.all()?;
        let mut bytes: u64 = all.iter().map(|listed| listed.bytes).sum();
        let mut removed = Vec::new();
        while bytes > self.limit_bytes {
            let Some(last) = all.pop() else { break };
            if !last.in_use && self.take_away(&self.folder_of(&last.manifest.digest))? {
                bytes = bytes.saturating_sub(last.bytes);
                removed.push(last.manifest);
            }
        }
        Ok(removed)
    }

    /// Makes an image of a name. Whoever else makes one of that name is waited for; `found` then
    /// looks whether that is the image which is wanted. `fill` puts what it consists of into a
    /// new folder, below `rootfs`.
    pub(crate) fn make(
        &self,
        name: &str,
        found: impl FnOnce() -> Option<Image>,
        fill: impl FnOnce(&Path) -> Result<Filled, ImageError>,
    ) -> Result<Image, ImageError> {
        names::check(name)?;
        let _name = self.lock_name(name)?;
        if let Some(image) = found() {
            return Ok(image);
        }
        let building = self.building()?;
        let rootfs = building.path.join(ROOTFS);
        fs::create_dir(&rootfs).map_err(ImageError::file("make the folder", &rootfs))?;
        let filled = fill(&building.path)?;
        let manifest = self.describe(&building, name, filled)?;
        let image = self.publish(building, manifest)?;
        self.prune()?;
        Ok(image)
    }

    /// Writes what describes an image and brings all of it to the disk.
    fn describe(&self, building: &Building, name: &str, filled: Filled) -> Result<Manifest, ImageError> {
        let rootfs = building.path.join(ROOTFS);
        let measured = tree::measure(&rootfs, &filled.config, self.limits.depth, self.stop)?;
        // The root itself is one.
        if measured.entries <= 1 {
            return Err(ImageError::Empty {
                source_name: filled.source,
            });
        }
        if is_helm_chart(&rootfs) {
            return Err(ImageError::HelmChart {
                source_name: filled.source,
            });
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let manifest = Manifest {
            names: vec![name.to_owned()],
            source: filled.source,
            digest: measured.digest,
            bytes: measured.bytes,
            entries: measured.entries,
            left_out: filled.left_out,
            made_seconds: since.unwrap_or_default().as_secs(),
            states: BTreeMap::new(),
        };
        let config = building.path.join(CONFIG);
        let text = serde_json::to_vec_pretty(&filled.config).map_err(ImageError::Write)?;
        fs::write(&config, text).map_err(ImageError::file("write", &config))?;
        manifest.write(&building.path)?;
        // One call for all files: each by itself takes minutes on a disk.
        let synced = rustix::fs::syncfs(&building.lock).map_err(Into::into);
        synced.map_err(ImageError::file("bring to the disk", &building.path))?;
        Ok(manifest)
    }

    /// Gives a finished image its place, or its name to the same image that is there.
    fn publish(&self, building: Building, manifest: Manifest) -> Result<Image, ImageError> {
        let _store = self.lock()?;
        self.forget_names(&manifest)?;
        let folder = self.folder_of(&manifest.digest);
        if folder.exists() {
            let mut there = Manifest::read(&folder)?;
            for name in manifest.names {
                there.give(name, None);
            }
            there.write(&folder)?;
            let lock = self.share(&folder)?;
            return Image::open(folder, lock, there);
        }
        fs::rename(&building.path, &folder).map_err(ImageError::file("give its place to", &building.path))?;
        let images = self.path.join(IMAGES);
        let synced = lock::folder(&images).and_then(|fd| Ok(rustix::fs::fsync(&fd)?));
        synced.map_err(ImageError::file("bring to the disk", &images))?;
        drop(building);
        let lock = self.share(&folder)?;
        Image::open(folder, lock, manifest)
    }

    /// Takes the names of a new image from those that bear them.
    fn forget_names(&self, new: &Manifest) -> Result<(), ImageError> {
        for folder in self.folders()? {
            let mut old = Manifest::read(&folder)?;
            let before = old.names.len();
            if old.digest != new.digest {
                old.names.retain(|name| !new.names.contains(name));
                old.states.retain(|name, _| !new.names.contains(name));
            }
            if old.names.len() < before {
                old.write(&folder)?;
            }
        }
        Ok(())
    }

    /// A new folder to make an image in, locked.
    fn building(&self) -> Result<Building, ImageError> {
        let _store = self.lock()?;
        self.sweep()?;
        let random = RandomState::new().build_hasher().finish();
        let path = self.path.join(format!("{BUILDING}{random:016x}"));
        let made = fs::DirBuilder::new().mode(0o700).create(&path);
        made.map_err(ImageError::file("make the folder", &path))?;
        let lock = lock::folder(&path).and_then(|lock| lock::try_lock(&lock, false).map(|_| lock));
        let lock = lock.map_err(ImageError::file("lock", &path))?;
        Ok(Building { path, lock })
    }

    /// Removes what was being made by processes that are no more.
    fn sweep(&self) -> Result<(), ImageError> {
        for folder in subfolders(&self.path)? {
            let name = folder.file_name().unwrap_or_default().as_bytes();
            if name.starts_with(BUILDING.as_bytes()) {
                // A program that a dead process had started may be at work in there still: what
                // cannot be removed now is left to the next sweep, and no image fails for it.
                let _ = remove_unused(&folder);
            }
        }
        Ok(())
    }

    /// Removes an image that nobody uses; whether it did.
    fn take_away(&self, folder: &Path) -> Result<bool, ImageError> {
        // Under a name that a sweep knows, should this process end half-way.
        let lock = lock::folder(folder).map_err(ImageError::file("lock", folder))?;
        if !lock::try_lock(&lock, false).map_err(ImageError::file("lock", folder))? {
            return Ok(false);
        }
        let hex = folder.file_name().unwrap_or_default().to_string_lossy();
        let gone = self.path.join(format!("{BUILDING}removed-{hex}"));
        fs::rename(folder, &gone).map_err(ImageError::file("remove", folder))?;
        remove_tree(&gone).map_err(ImageError::file("remove", &gone))?;
        Ok(true)
    }

    fn find(&self, name: &str) -> Result<Manifest, ImageError> {
        let all = self.all()?;
        let digits = name.strip_prefix("sha256:").unwrap_or(name);
        let is_digits = digits.len() >= FEWEST_DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let by_name = all
            .iter()
            .find(|listed| listed.manifest.names.iter().any(|n| n == name));
        let by_digest = || {
            let fits = |listed: &&Listed| is_digits && listed.manifest.digest.hex().starts_with(digits);
            all.iter().filter(fits).collect::<Vec<_>>()
        };
        let found = by_name.map_or_else(by_digest, |listed| vec![listed]);
        match found[..] {
            [one] => Ok(one.manifest.clone()),
            [] => Err(ImageError::Unknown {
                name: name.to_owned(),
                known: names::known(&all),
            }),
            _ => Err(ImageError::Ambiguous(name.to_owned())),
        }
    }

    fn listed(&self, folder: &Path) -> Result<Listed, ImageError> {
        let meta = fs::metadata(folder).map_err(ImageError::file("look at", folder))?;
        let lock = lock::folder(folder).map_err(ImageError::file("lock", folder))?;
        let is_free = lock::try_lock(&lock, false).map_err(ImageError::file("lock", folder))?;
        let manifest = Manifest::read(folder)?;
        let disk = fs::metadata(folder.join(DISK));
        let bytes = manifest.bytes + disk.map_or(0, |disk| disk.blocks() * 512);
        Ok(Listed {
            used: meta.modified().unwrap_or(UNIX_EPOCH),
            in_use: !is_free,
            manifest,
            bytes,
        })
    }

    fn folder_of(&self, digest: &Digest) -> PathBuf {
        self.path.join(IMAGES).join(digest.hex())
    }

    fn folders(&self) -> Result<Vec<PathBuf>, ImageError> {
        subfolders(&self.path.join(IMAGES))
    }

    /// Marks an image as used now, and keeps it from removal.
    fn share(&self, folder: &Path) -> Result<Lock, ImageError> {
        let lock = lock::folder(folder).map_err(ImageError::file("lock", folder))?;
        let patience = self.patience(MOMENT);
        lock::wait_shared(&lock, folder, patience, "looks at the image")?;
        let now = rustix::fs::Timespec {
            tv_sec: 0,
            tv_nsec: rustix::fs::UTIME_NOW,
        };
        let times = Timestamps {
            last_access: now,
            last_modification: now,
        };
        let touched = rustix::fs::utimensat(&lock, "", &times, AtFlags::EMPTY_PATH);
        // A kernel before 5.8 knows no empty path there.
        let touched = touched
            .or_else(|_| rustix::fs::futimens(&lock, &times))
            .map_err(Into::into);
        touched.map_err(ImageError::file("mark as used", folder))?;
        Ok(lock)
    }

    fn lock(&self) -> Result<Lock, ImageError> {
        let lock = lock::folder(&self.path).map_err(ImageError::file("lock", &self.path))?;
        lock::wait(
            &lock,
            &self.path,
            self.patience(MOMENT),
            "changes the image store",
        )?;
        Ok(lock)
    }

    fn lock_name(&self, name: &str) -> Result<Lock, ImageError> {
        let path = self.path.join(LOCKS).join(Digest::of(name.as_bytes()).hex());
        let lock = lock::file(&path).map_err(ImageError::file("lock", &path))?;
        let what = format!("makes the image \"{name}\"");
        lock::wait(&lock, &path, self.patience(self.making), &what)?;
        Ok(lock)
    }

    fn patience(&self, most: Duration) -> Patience {
        Patience {
            most,
            stop: self.stop,
        }
    }
}

/// Whether there is nothing but a folder with what describes a Helm chart: a package of it is a tar
/// archive as well.
fn is_helm_chart(rootfs: &Path) -> bool {
    let Ok(mut inner) = fs::read_dir(rootfs) else {
        return false;
    };
    match (inner.next(), inner.next()) {
        (Some(Ok(only)), None) => {
            let is_folder = only.file_type().is_ok_and(|kind| kind.is_dir());
            is_folder && fs::symlink_metadata(only.path().join("Chart.yaml")).is_ok_and(|meta| meta.is_file())
        }
        _ => false,
    }
}
