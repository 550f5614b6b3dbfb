//! Places in a box on which whoever makes it and the agent in it have agreed.

pub mod root;

use std::fmt;
use std::str::FromStr;

/// The agent's own file, in every root and in the initramfs.
pub const BINARY: &str = "/tare";

/// The host name of a box that no other box looks for.
pub const HOSTNAME: &str = "tare";

/// Where the binary that the boxes of a run share is mounted, in the folder of the run. It goes
/// with the run.
pub const SHARED: &str = "shared/mounted";

/// Files of the kernel that containers do not get to see.
pub const HIDDEN: [&str; 5] = [
    "/proc/kcore",
    "/proc/keys",
    "/proc/timer_list",
    "/proc/sched_debug",
    "/proc/latency_stats",
];

/// What of the kernel a box may not see: those paths that the engines of containers hide. What
/// is not there is passed over.
pub const MASKED: [&str; 11] = [
    "/proc/acpi",
    "/proc/asound",
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/sys/firmware",
    "/sys/devices/virtual/powercap",
];

/// And what it may not change.
pub const READ_ONLY: [&str; 5] = [
    "/proc/bus",
    "/proc/fs",
    "/proc/irq",
    "/proc/sys",
    "/proc/sysrq-trigger",
];

/// List of kernel modules in the initramfs, one path per line, in the order of loading.
pub const MODULE_LIST: &str = "/modules/load";

/// The folder in which commands start, where an option asks for one. It is the
/// agent's own, which its commands inherit.
pub const WORK_FOLDER: &str = "/work";

/// What an agent on the host's kernel that has an image as its root still sees of the host.
pub const HOST_PLACES: [&str; 3] = ["/dev", "/proc", "/sys"];

/// A machine's disk to work on as the guest names it: the first that it has.
pub const DISK: &str = "/dev/vda";
/// And its second one, if it has two.
pub const SECOND_DISK: &str = "/dev/vdb";
/// The file system on it.
pub const DISK_FILE_SYSTEM: &str = "ext4";

/// Folder of the folders with the files of inner boxes, one for each.
pub const INNER_BOXES: &str = "/run/tare";

/// Where a box that is no host sees the image that it holds for those in it. A machine has it on its
/// first disk, and a second one for [`INNER_BOXES`].
pub const HELD_IMAGE: &str = "/image";

/// Where the work folder of a machine lies, which its agent makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// With the other files of the machine.
    Own,
    /// In memory.
    Tmpfs,
    /// On the machine's disk.
    Disk,
}

impl Work {
    const ALL: [Self; 3] = [Self::Own, Self::Tmpfs, Self::Disk];

    const fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Tmpfs => "tmpfs",
            Self::Disk => "disk",
        }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Work {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|work| work.name() == text);
        found.ok_or_else(|| format!("'{text}' is not one of {}", Self::ALL.map(Self::name).join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_as_it_is_written() {
        for work in Work::ALL {
            assert_eq!(work.to_string().parse(), Ok(work));
        }
        assert!("volume".parse::<Work>().is_err());
    }
}
