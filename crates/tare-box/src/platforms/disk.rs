//! Disks of machines: an image in the box's folder that holds an empty file system,
//! made without mounting it.

use super::program::run;
use super::{Absent, BoxError};
use crate::carry;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Size of the disk. Its image is sparse: it takes on the host what is written to it, and
/// 66 MiB from the start, most of it the journal.
const BYTES: u64 = 4 << 30;
/// Time for a program that makes an image, which takes a tenth of a second.
const DEADLINE: Duration = Duration::from_secs(60);
/// The image's name in the folder of a box.
const IMAGE: &str = "disk";
/// The kernel modules by which a guest has the disk and its file system.
pub(super) const MODULES: [&str; 2] = ["virtio_blk", FILE_SYSTEM];

/// The disk as the guest names it: the only one that it has.
pub(crate) const DEVICE: &str = "/dev/vda";
/// The file system on it.
pub(crate) const FILE_SYSTEM: &str = "ext4";
/// Where the guest's kernel tells whether what was written must be flushed.
pub(crate) const WRITE_CACHE: &str = "/sys/block/vda/queue/write_cache";

/// How an image's file holds the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Byte by byte.
    Raw,
    /// By tables, in QEMU's own format.
    Qcow2,
}

impl Format {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Qcow2 => "qcow2",
        }
    }
}

/// What the host does with what the guest writes: QEMU's modes, by its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    /// Kept in the host's memory until the guest flushes: QEMU's own choice.
    Writeback,
    /// Past the host's memory; the disk's own cache is flushed when the guest flushes.
    None,
    /// Kept in the host's memory too, and on the disk before the guest goes on.
    Writethrough,
    /// Past the host's memory, and on the disk before the guest goes on.
    Directsync,
    /// As writeback, and flushes are left out.
    Unsafe,
}

impl Cache {
    pub(super) const ALL: [Self; 5] = [
        Self::Writeback,
        Self::None,
        Self::Writethrough,
        Self::Directsync,
        Self::Unsafe,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Writeback => "writeback",
            Self::None => "none",
            Self::Writethrough => "writethrough",
            Self::Directsync => "directsync",
            Self::Unsafe => "unsafe",
        }
    }

    /// What the guest's kernel makes of it (see [`WRITE_CACHE`]).
    pub(crate) const fn seen_as(self) -> &'static str {
        match self {
            Self::Writethrough | Self::Directsync => "write through",
            Self::Writeback | Self::None | Self::Unsafe => "write back",
        }
    }
}

/// A disk of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disk {
    /// How its image holds it.
    pub format: Format,
    /// What the host does with what is written.
    pub cache: Cache,
}

/// The image of a disk.
#[derive(Debug, Clone)]
pub(super) struct Image {
    pub disk: Disk,
    pub path: PathBuf,
}

impl Disk {
    /// Whether its image can be made here.
    pub(super) fn probe(self) -> Result<(), Absent> {
        let found = |program, package| {
            let fix = format!("install it (Debian: apt-get install {package})");
            carry::find_program(program)
                .map(drop)
                .map_err(|e| Absent::new(e.to_string(), fix))
        };
        found("mke2fs", "e2fsprogs")?;
        match self.format {
            Format::Raw => Ok(()),
            Format::Qcow2 => found("qemu-img", "qemu-utils"),
        }
    }

    /// Makes the image in a box's folder, with which it goes.
    pub(super) fn make(self, folder: &Path) -> Result<Image, BoxError> {
        let path = folder.join(IMAGE);
        File::create(&path)
            .and_then(|file| file.set_len(BYTES))
            .map_err(BoxError::host(format!("make {}", path.display())))?;
        let mut format = program("mke2fs");
        format
            .args(["-q", "-F", "-t", FILE_SYSTEM, "-m", "0"])
            // Else the guest's kernel writes the rest of it while work is measured.
            .args(["-E", "lazy_itable_init=0,lazy_journal_init=0"])
            .arg(&path);
        run(format, DEADLINE)?;
        if self.format == Format::Qcow2 {
            let raw = folder.join("disk.raw");
            fs::rename(&path, &raw).map_err(BoxError::host(format!("rename {}", path.display())))?;
            let mut convert = program("qemu-img");
            convert
                .args(["convert", "-f", Format::Raw.name(), "-O", self.format.name()])
                .args([&raw, &path]);
            run(convert, DEADLINE)?;
            fs::remove_file(&raw).map_err(BoxError::host(format!("remove {}", raw.display())))?;
        }
        Ok(Image { disk: self, path })
    }
}

fn program(name: &str) -> Command {
    let mut command = Command::new(name);
    command.env("PATH", carry::PATH);
    command
}
