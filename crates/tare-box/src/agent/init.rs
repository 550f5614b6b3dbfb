//! Duties of the first process of a VM.

use rustix::mount::{MountFlags, mount};
use rustix::system::RebootCommand;
use std::ffi::CString;
use std::fs;
use std::io;

/// List of kernel modules in the initramfs, one path per line, in the order of loading.
pub const MODULE_LIST: &str = "/modules/load";

/// `HOSTFS_SUPER_MAGIC`: the file system by which User-Mode Linux sees the host's files.
const HOSTFS: rustix::fs::FsWord = 0x00c0_ffee;

/// What is mounted before anything else, with whether the box can do without.
const MOUNTS: [(&str, &str, bool); 6] = [
    ("proc", "/proc", true),
    ("sysfs", "/sys", true),
    ("devtmpfs", "/dev", true),
    ("tmpfs", "/run", false),
    ("tmpfs", "/tmp", false),
    ("cgroup2", "/sys/fs/cgroup", false),
];

/// Mounts what a system needs and loads the modules that the VMM's devices need.
pub(super) fn prepare() -> io::Result<()> {
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
    fs::read_to_string(MODULE_LIST)
        .unwrap_or_default()
        .lines()
        .try_for_each(load_module)
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
