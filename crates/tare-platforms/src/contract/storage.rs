//! Where the folder lies in which a box's commands work, and what is seen of it in
//! the box.

use tare_host::places::{DISK, DISK_FILE_SYSTEM, WORK_FOLDER};

/// Where the guest's kernel tells whether what was written must be flushed.
pub(crate) const WRITE_CACHE: &str = "/sys/block/vda/queue/write_cache";

/// Where it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// With the other files of the box, as its engine keeps them.
    Own,
    /// In a folder of the host, mounted in the box.
    Volume,
    /// In memory, which counts as the box's.
    Tmpfs,
    /// In a folder of the host, below one of the kernel's overlays, as engines keep the
    /// files of their images.
    Overlay,
    /// On a disk of the machine's own.
    Disk(Disk),
}

impl Storage {
    /// The option's name.
    pub(crate) const OPTION: &'static str = "storage";

    /// Its name as the option's value.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Volume => "volume",
            Self::Tmpfs => "tmpfs",
            Self::Overlay => "overlay",
            Self::Disk(disk) => disk.format.name(),
        }
    }

    /// What a file that tells of it in the box is to hold, where there is one.
    pub(crate) fn told_by(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Disk(disk) => Some((WRITE_CACHE, disk.cache.seen_as())),
            _ => None,
        }
    }
}

/// How an image's file holds the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Byte by byte.
    Raw,
    /// By tables, in QEMU's own format.
    Qcow2,
}

impl Format {
    pub(crate) const fn name(self) -> &'static str {
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
    pub(crate) const ALL: [Self; 5] = [
        Self::Writeback,
        Self::None,
        Self::Writethrough,
        Self::Directsync,
        Self::Unsafe,
    ];

    pub(crate) const fn name(self) -> &'static str {
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

/// What is wrong with a work folder, by the box's table of mounts; `None` if nothing is.
pub(crate) fn misplaced(asked: Storage, mounts: &str) -> Option<String> {
    let mut lines = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let mounted = lines
        .find(|fields| fields.get(1) == Some(&WORK_FOLDER))
        .and_then(|fields| Some((fields.first().copied()?, fields.get(2).copied()?)));
    let kind = mounted.map(|(_, kind)| kind);
    let kept = match asked {
        Storage::Own => kind.is_none(),
        Storage::Tmpfs => kind == Some("tmpfs"),
        Storage::Volume => kind.is_some(),
        Storage::Overlay => kind == Some("overlay"),
        Storage::Disk(_) => mounted == Some((DISK, DISK_FILE_SYSTEM)),
    };
    (!kept).then(|| {
        let seen = mounted.map_or_else(
            || "nothing is mounted".to_owned(),
            |(device, kind)| format!("a {kind} is mounted from {device}"),
        );
        format!(
            "{}={} was requested, but {seen} on {WORK_FOLDER} in the box",
            Storage::OPTION,
            asked.name()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_mounts_tells_where_it_lies() {
        let none = "overlay / overlay rw 0 0\n";
        let memory = "overlay / overlay rw 0 0\ntmpfs /work tmpfs rw 0 0\n";
        let disk = "/dev/sda1 /work ext4 rw 0 0\n";
        let own_disk = "/dev/vda /work ext4 rw 0 0\n";
        let layers = "overlay /work overlay rw,lowerdir=/l 0 0\n";
        let kept = |asked, mounts| misplaced(asked, mounts).is_none();
        assert!(kept(Storage::Own, none) && !kept(Storage::Own, memory));
        assert!(kept(Storage::Tmpfs, memory) && !kept(Storage::Tmpfs, disk));
        assert!(kept(Storage::Volume, disk) && !kept(Storage::Volume, none));
        assert!(kept(Storage::Overlay, layers) && !kept(Storage::Overlay, none));
        let of_machine = Storage::Disk(Disk {
            format: Format::Raw,
            cache: Cache::Writeback,
        });
        assert!(kept(of_machine, own_disk) && !kept(of_machine, disk) && !kept(of_machine, memory));
    }
}
