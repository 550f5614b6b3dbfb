//! Disks of machines: an image in the box's folder that holds an empty file system,
//! made without mounting it.

use super::contract::storage::{Disk, Format};
use super::contract::{Absent, BoxError};
use crate::carry;
use crate::places::DISK_FILE_SYSTEM;
use crate::program::run;
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
pub(super) const MODULES: [&str; 2] = ["virtio_blk", DISK_FILE_SYSTEM];

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
            .args(["-q", "-F", "-t", DISK_FILE_SYSTEM, "-m", "0"])
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
