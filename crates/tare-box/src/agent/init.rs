//! Duties of the first process of a VM.

use crate::places::{BINARY, MODULE_LIST};
use rustix::mount::{MountFlags, mount, mount_move};
use rustix::system::RebootCommand;
use std::ffi::CString;
use std::fs;
use std::io;

/// `HOSTFS_SUPER_MAGIC`: the file system by which User-Mode Linux sees the host's files.
const HOSTFS: rustix::fs::FsWord = 0x00c0_ffee;

/// What is mounted before anything else, with whether the box can do without.
const MOUNTS: [(&str, &str, bool); 8] = [
    ("proc", "/proc", true),
    ("sysfs", "/sys", true),
    ("devtmpfs", "/dev", true),
    ("tmpfs", "/dev/shm", false),
    ("tmpfs", "/run", false),
    ("tmpfs", "/tmp", false),
    ("tmpfs", "/var/tmp", false),
    ("cgroup2", "/sys/fs/cgroup", false),
];

/// Loads the modules that the machine's devices need and mounts what a system
/// needs; `new_root`: on a root that processes can leave behind.
pub(super) fn prepare(new_root: bool) -> io::Result<()> {
    fs::read_to_string(MODULE_LIST)
        .unwrap_or_default()
        .lines()
        .try_for_each(load_module)?;
    if new_root {
        leave_first_root().map_err(|e| io::Error::new(e.kind(), format!("change the root: {e}")))?;
    }
    // A kernel that is a process has a folder of the host as its root, in which
    // the host puts files: nothing may hide them.
    let has_host_folder = rustix::fs::statfs("/")?.f_type == HOSTFS;
    let mounts = MOUNTS
        .into_iter()
        .filter(|(kind, ..)| !(has_host_folder && *kind == "tmpfs"));
    for (kind, target, needed) in mounts {
        let mounted = fs::create_dir_all(target).and_then(|()| {
            Ok(mount(
                kind,
                target,
                kind,
                MountFlags::empty(),
                None::<&std::ffi::CStr>,
            )?)
        });
        match mounted {
            Err(e) if needed => {
                return Err(io::Error::new(e.kind(), format!("mount {kind} on {target}: {e}")));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Moves to a file system in memory. The kernel's first root, in which an
/// initramfs is unpacked, cannot be exchanged by pivot_root(2), by which container
/// runtimes enter their roots.
fn leave_first_root() -> io::Result<()> {
    const NEW: &str = "/root";
    let options = c"size=90%,mode=755";
    mount("tmpfs", NEW, "tmpfs", MountFlags::empty(), Some(options))?;
    fs::copy(BINARY, format!("{NEW}{BINARY}"))?;
    std::env::set_current_dir(NEW)?;
    mount_move(".", "/")?;
    rustix::process::chroot(".")?;
    Ok(())
}

fn load_module(path: &str) -> io::Result<()> {
    /// `MODULE_INIT_COMPRESSED_FILE` of finit_module(2).
    const COMPRESSED: i32 = 4;
    let file = fs::File::open(path)?;
    let flags = if path.ends_with(".ko") { 0 } else { COMPRESSED };
    match rustix::system::finit_module(&file, &CString::default(), flags) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => Ok(()),
        Err(e) => Err(io::Error::other(format!("load kernel module {path}: {e}"))),
    }
}

/// Ends the machine. A VMM that ends on a reset does so at once, where powering
/// off needs a driver; one that would start anew on a reset is powered off.
pub(super) fn end(power_off: bool) {
    rustix::fs::sync();
    let _ = rustix::system::reboot(if power_off {
        RebootCommand::PowerOff
    } else {
        RebootCommand::Restart
    });
}
