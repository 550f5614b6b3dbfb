//! The root filesystem as a disk, for machines.

use crate::program::{self, Running, Time};
use crate::store::DISK;
use crate::{Image, ImageError, Stop};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const PARTIAL: &str = ".disk.partial";
const OUTPUT: &str = ".disk.output";
const LOCK: &str = ".disk.lock";
/// Room for what a machine writes: bonnie++ has a file of 4 GiB. The file is sparse: room takes none
/// on the host.
const ROOM_BYTES: u64 = 6 << 30;
/// The journal, in MiB. It is written whole when the disk is made, and would grow with the room.
const JOURNAL_MIB: &str = "size=32";
/// Inodes beside those of the image.
const ROOM_INODES: u64 = 65_536;
const KIB: u64 = 1024;
/// A gigabyte takes some 10 s.
const MOST: Duration = Duration::from_secs(900);

impl Image {
    /// The root filesystem as an ext4 filesystem in a file, with 6 GiB of room: made once,
    /// without mounting anything, and kept beside the image. Machines must write to a copy or an
    /// overlay of it.
    ///
    /// # Errors
    /// [`ImageError::Program`] with what `mke2fs` said, [`ImageError::Busy`] and others.
    pub fn disk(&self, stop: Stop) -> Result<PathBuf, ImageError> {
        self.disk_by("mke2fs".as_ref(), stop)
    }

    pub(super) fn disk_by(&self, mke2fs: &OsStr, stop: Stop) -> Result<PathBuf, ImageError> {
        let disk = self.folder().join(DISK);
        // An earlier tare made disks with less room. The file of a filesystem ends where something is
        // written last, which is somewhat before its end.
        let least = self.disk_bytes() - ROOM_BYTES / 2;
        let is_made = || fs::metadata(&disk).is_ok_and(|made| made.len() >= least);
        if is_made() {
            return Ok(disk);
        }
        let _lock = self.lock_beside(LOCK, MOST, stop, "makes the disk of the image")?;
        if is_made() {
            return Ok(disk);
        }
        let partial = self.folder().join(PARTIAL);
        self.make_disk(mke2fs, stop, &partial)
            .inspect_err(|_| drop(fs::remove_file(&partial)))?;
        fs::rename(&partial, &disk).map_err(ImageError::file("give its name to", &disk))?;
        Ok(disk)
    }

    fn make_disk(&self, mke2fs: &OsStr, stop: Stop, partial: &Path) -> Result<(), ImageError> {
        let output = self.folder().join(OUTPUT);
        let command = self.mke2fs(mke2fs, partial);
        Running::start(command, &output, Time { most: MOST, stop })?.wait()?;
        // Whatever the umask: the process of a machine may be a user of its own, who is shown this
        // file. The folder lets no other user in.
        let opened = fs::set_permissions(partial, fs::Permissions::from_mode(0o644));
        opened.map_err(ImageError::file("open to readers", partial))?;
        let synced = File::open(partial).and_then(|file| file.sync_all());
        synced.map_err(ImageError::file("bring to the disk", partial))?;
        fs::remove_file(&output).map_err(ImageError::file("remove", &output))
    }

    fn disk_bytes(&self) -> u64 {
        let bytes = self.manifest().bytes;
        bytes + bytes / 8 + ROOM_BYTES
    }

    fn mke2fs(&self, mke2fs: &OsStr, partial: &Path) -> Command {
        let manifest = self.manifest();
        let kib = self.disk_bytes() / KIB;
        let inodes = manifest.entries + ROOM_INODES;
        // The same image has the same disk, so far as mke2fs lets it.
        let uuid = uuid(manifest.digest.hex());
        let mut command = program::command(mke2fs, self.folder());
        command.args([
            "-q",
            "-F",
            "-t",
            "ext4",
            "-m",
            "0",
            "-N",
            &inodes.to_string(),
            "-J",
            JOURNAL_MIB,
            "-U",
            &uuid,
        ]);
        command
            .args(["-E", &format!("hash_seed={uuid},root_owner=0:0"), "-d"])
            .arg(self.rootfs());
        command.arg(partial).arg(format!("{kib}k"));
        command
    }
}

/// The first digits of a digest in the form of a UUID.
fn uuid(hex: &str) -> String {
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}
