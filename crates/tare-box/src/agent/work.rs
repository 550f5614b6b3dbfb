//! The folder of a machine in which commands start: the agent's own, which they
//! inherit.

use crate::platforms::{DISK, DISK_FILE_SYSTEM, Storage, WORK_FOLDER};
use rustix::mount::{MountFlags, mount};
use std::fmt;
use std::io;
use std::str::FromStr;

/// Where it lies.
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

    /// What a machine's agent is to do for this storage; `None` for one that no machine has.
    pub(crate) fn of_machine(storage: Storage) -> Option<Self> {
        match storage {
            Storage::Own => Some(Self::Own),
            Storage::Tmpfs => Some(Self::Tmpfs),
            Storage::Disk(_) => Some(Self::Disk),
            Storage::Volume | Storage::Overlay => None,
        }
    }

    /// Makes the folder and goes there.
    pub(super) fn enter(self) -> io::Result<()> {
        std::fs::create_dir_all(WORK_FOLDER)?;
        let on_top = match self {
            Self::Own => None,
            Self::Tmpfs => Some(("tmpfs", "tmpfs", Some(c"mode=755"))),
            Self::Disk => Some((DISK, DISK_FILE_SYSTEM, None)),
        };
        if let Some((source, kind, options)) = on_top {
            mount(source, WORK_FOLDER, kind, MountFlags::empty(), options)
                .map_err(|e| io::Error::new(e.kind(), format!("mount {source} on {WORK_FOLDER}: {e}")))?;
        }
        std::env::set_current_dir(WORK_FOLDER)
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
        found.ok_or_else(|| format!("'{text}' is none of {}", Self::ALL.map(Self::name).join(", ")))
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
