//! What a file system and its device tell of themselves.

use rustix::fs::{fstat, fstatfs, major, minor};
use std::fs::File;
use std::io;
use std::path::Path;
use tare_wire::kernel::Device;

/// Where the kernel tells of block devices, by their numbers.
const DEVICES: &str = "/sys/dev/block";

const TMPFS: u32 = 0x0102_1994;
const RAMFS: u32 = 0x8584_58f6;

/// File systems by the numbers that statfs(2) has for them. The three ext share one.
const NAMES: [(u32, &str); 24] = [
    (0xef53, "ext2/ext3/ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683e, "btrfs"),
    (0xf2f5_2010, "f2fs"),
    (0x2fc1_2fc1, "zfs"),
    (0xca45_1a4e, "bcachefs"),
    (TMPFS, "tmpfs"),
    (RAMFS, "ramfs"),
    (0x794c_7630, "overlay"),
    (0x6175_6673, "aufs"),
    (0x6573_5546, "fuse"),
    (0x0102_1997, "9p"),
    (0x00c0_ffee, "hostfs"),
    (0x6969, "nfs"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb2"),
    (0x00c3_6400, "ceph"),
    (0x0116_1970, "gfs2"),
    (0x7461_636f, "ocfs2"),
    (0x3153_464a, "jfs"),
    (0x5265_4973, "reiserfs"),
    (0x3434, "nilfs2"),
    (0x4d44, "vfat"),
    (0x7366_746e, "ntfs3"),
];

/// Which file system a file is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSystem {
    magic: u32,
}

impl FileSystem {
    /// That of an open file or folder.
    ///
    /// # Errors
    /// As fstatfs(2).
    pub fn of(file: &File) -> io::Result<Self> {
        let magic = fstatfs(file)?.f_type;
        // Numbers of 32 bits, in a type that hangs on the architecture; what is none has no name.
        Ok(Self::from_magic(u32::try_from(magic).unwrap_or(0)))
    }

    /// That of this number.
    pub const fn from_magic(magic: u32) -> Self {
        Self { magic }
    }

    /// Its name, or its number.
    pub fn name(self) -> String {
        let known = NAMES.iter().find(|(magic, _)| *magic == self.magic);
        known.map_or_else(|| format!("{:#x}", self.magic), |(_, name)| (*name).to_owned())
    }

    /// Whether it holds files in memory alone.
    pub const fn is_memory(self) -> bool {
        matches!(self.magic, TMPFS | RAMFS)
    }
}

/// The device below a file, as far as the kernel tells.
pub fn device(file: &File) -> Option<Device> {
    let number = fstat(file).ok()?.st_dev;
    let number = format!("{}:{}", major(number), minor(number));
    described(Path::new(DEVICES), number)
}

/// The device with this number. A partition has the queue of its disk, one folder above.
fn described(devices: &Path, number: String) -> Option<Device> {
    // A link: `..` of it is that of where it leads.
    let folder = devices.join(&number).canonicalize().ok()?;
    let queue = [folder.join("queue"), folder.join("../queue")];
    let queue = queue.iter().find(|queue| queue.is_dir());
    let read = |name: &str| {
        let text = std::fs::read_to_string(queue?.join(name)).ok()?;
        Some(text.trim().to_owned())
    };
    Some(Device {
        rotational: read("rotational").map(|text| text == "1"),
        write_cache: read("write_cache"),
        logical_block_bytes: read("logical_block_size").and_then(|text| text.parse().ok()),
        number,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_have_names_or_numbers() {
        assert_eq!(FileSystem::from_magic(0x5846_5342).name(), "xfs");
        assert_eq!(FileSystem::from_magic(0x1234).name(), "0x1234");
        assert!(FileSystem::from_magic(TMPFS).is_memory());
        assert!(!FileSystem::from_magic(0xef53).is_memory());
    }

    #[test]
    fn a_partition_has_what_its_disk_tells() {
        let root = std::env::temp_dir().join(format!("tare-facts-{}", std::process::id()));
        let queue = root.join("disk/queue");
        std::fs::create_dir_all(&queue).unwrap();
        std::fs::create_dir_all(root.join("disk/part")).unwrap();
        std::os::unix::fs::symlink(root.join("disk/part"), root.join("8:1")).unwrap();
        std::fs::write(queue.join("rotational"), "1\n").unwrap();
        std::fs::write(queue.join("write_cache"), "write back\n").unwrap();
        let device = described(&root, "8:1".to_owned()).unwrap();
        let none = described(&root, "0:42".to_owned());
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!(device.rotational, Some(true));
        assert_eq!(device.write_cache.as_deref(), Some("write back"));
        assert_eq!(device.logical_block_bytes, None, "it does not tell");
        assert_eq!(none, None);
    }
}
