//! The folder of a machine in which commands start: the agent's own, which they
//! inherit.

use crate::places::{DISK, DISK_FILE_SYSTEM, WORK_FOLDER, Work};
use rustix::mount::{MountFlags, mount};
use std::io;

impl Work {
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
