//! The folder of a machine in which commands start: the agent's own, which they
//! inherit.

use rustix::mount::{MountFlags, mount};
use std::io;
use tare_box::places::{DISK, DISK_FILE_SYSTEM, WORK_FOLDER, Work};

/// Makes the folder and goes there.
pub fn enter(work: Work) -> io::Result<()> {
    std::fs::create_dir_all(WORK_FOLDER)?;
    let on_top = match work {
        Work::Own => None,
        Work::Tmpfs => Some(("tmpfs", "tmpfs", Some(c"mode=755"))),
        Work::Disk => Some((DISK, DISK_FILE_SYSTEM, None)),
    };
    if let Some((source, kind, options)) = on_top {
        mount(source, WORK_FOLDER, kind, MountFlags::empty(), options)
            .map_err(|e| io::Error::new(e.kind(), format!("mount {source} on {WORK_FOLDER}: {e}")))?;
    }
    std::env::set_current_dir(WORK_FOLDER)
}
