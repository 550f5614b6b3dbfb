//! Disks of machines, as files in the box's folder: an empty file system to work on, made
//! without mounting it, and an image as the root, which is not written to.

use super::contract::storage::{Cache, Disk, Format};
use super::contract::{Absent, BoxError, BoxImage, Support};
use super::directory::canonical;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tare_host::places::DISK_FILE_SYSTEM;
use tare_host::program::run;
use tare_host::{carry, interrupt};

/// Size of the disk. Its image is sparse: it takes on the host what is written to it, and
/// 66 MiB from the start, most of it the journal.
const BYTES: u64 = 4 << 30;
/// Size of that for boxes in a machine: as much room as the disk of an image has.
const INNER_BYTES: u64 = 6 << 30;
/// Time for a program that makes an image, which takes a tenth of a second.
const DEADLINE: Duration = Duration::from_secs(60);
/// Names of the files in the folder of a box.
const WORK: &str = "disk";
const ROOT: &str = "root.qcow2";
/// The one program that makes files in QEMU's own format.
const QEMU_IMG: &str = "qemu-img";
/// A disk without a format of QEMU's.
const PLAIN: Disk = Disk {
    format: Format::Raw,
    cache: Cache::ALL[0],
};
/// The kernel modules by which a guest has the disk and its file system.
pub(super) const MODULES: [&str; 2] = ["virtio_blk", DISK_FILE_SYSTEM];

/// A disk, in its file.
#[derive(Debug, Clone)]
pub(super) struct Drive {
    pub disk: Disk,
    pub path: PathBuf,
    /// Whether others have it too.
    pub is_read_only: bool,
}

impl Drive {
    /// A disk of the machine's own.
    pub(super) fn to_write(disk: Disk, path: PathBuf) -> Self {
        Self {
            disk,
            path,
            is_read_only: false,
        }
    }
}

/// Why no machine of QEMU here can have an image as its root; `None` where it can.
pub(super) fn supports_image() -> Support {
    supports_base()?;
    needs(
        QEMU_IMG,
        "qemu-img, which creates the disk of a box, is missing: install it (Debian: apt-get install qemu-utils)",
    )
}

/// Whether there can be a disk here that holds an image.
pub(super) fn supports_base() -> Support {
    needs(
        "mke2fs",
        "mke2fs, which creates a disk of it, is missing: install it (Debian: apt-get install e2fsprogs)",
    )
}

fn needs(program: &str, otherwise: &'static str) -> Support {
    carry::find_program(program).map(drop).map_err(|_| otherwise)
}

/// The disk that holds an image, which all boxes share and none may write; made for the first.
pub(super) fn base(image: &BoxImage) -> Result<PathBuf, BoxError> {
    image.disk(interrupt::requested)
}

/// That disk, for a machine which holds the image for boxes in it and writes nothing to it.
pub(super) fn held(image: &BoxImage) -> Result<Drive, BoxError> {
    Ok(Drive {
        disk: PLAIN,
        path: canonical(&base(image)?)?,
        is_read_only: true,
    })
}

/// An empty disk in a box's folder for what is written by boxes in it.
pub(super) fn of_inner_boxes(folder: &Path) -> Result<Drive, BoxError> {
    PLAIN.make_of(INNER_BYTES, folder)
}

/// An image as a disk of a box's own: what the box writes goes into a file in its folder.
pub(super) fn of_image(image: &BoxImage, folder: &Path) -> Result<Drive, BoxError> {
    let base = base(image)?;
    let path = canonical(folder)?.join(ROOT);
    let mut create = program(QEMU_IMG);
    create
        .args([
            "create",
            "-q",
            "-f",
            Format::Qcow2.name(),
            "-F",
            Format::Raw.name(),
            "-b",
        ])
        .arg(base)
        .arg(&path);
    run(create, DEADLINE)?;
    let disk = Disk {
        format: Format::Qcow2,
        cache: Cache::ALL[0],
    };
    Ok(Drive::to_write(disk, path))
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
            Format::Qcow2 => found(QEMU_IMG, "qemu-utils"),
        }
    }

    /// Makes the image in a box's folder, with which it goes.
    pub(super) fn make(self, folder: &Path) -> Result<Drive, BoxError> {
        self.make_of(BYTES, folder)
    }

    fn make_of(self, bytes: u64, folder: &Path) -> Result<Drive, BoxError> {
        let path = folder.join(WORK);
        File::create(&path)
            .and_then(|file| file.set_len(bytes))
            .map_err(BoxError::host(format!("make {}", path.display())))?;
        let mut format = program("mke2fs");
        format
            .args(["-q", "-F", "-t", DISK_FILE_SYSTEM, "-m", "0"])
            // Else the guest's kernel writes the rest of it while work is measured.
            .args(["-E", "lazy_itable_init=0,lazy_journal_init=0"])
            .arg(&path);
        run(format, DEADLINE)?;
        if self.format == Format::Qcow2 {
            let raw = folder.join("disk.raw");
            fs::rename(&path, &raw).map_err(BoxError::host(format!("rename {}", path.display())))?;
            let mut convert = program(QEMU_IMG);
            convert
                .args(["convert", "-f", Format::Raw.name(), "-O", self.format.name()])
                .args([&raw, &path]);
            run(convert, DEADLINE)?;
            fs::remove_file(&raw).map_err(BoxError::host(format!("remove {}", raw.display())))?;
        }
        Ok(Drive::to_write(self, path))
    }
}

fn program(name: &str) -> Command {
    let mut command = Command::new(name);
    command.env("PATH", carry::PATH);
    command
}
