//! Duties of the first process of a VM.

use rustix::mount::{MountFlags, mount, mount_bind, mount_move};
use rustix::system::RebootCommand;
use std::ffi::CString;
use std::fs;
use std::io;
use std::path::Path;
use tare_box::places::{
    BINARY, DISK, DISK_FILE_SYSTEM, HELD_IMAGE, HOSTNAME, INNER_BOXES, MODULE_LIST, SECOND_DISK, root,
};

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

/// The root of a machine.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum MachineRoot {
    /// That in which the kernel started the agent.
    #[default]
    First,
    /// One in memory, which boxes in this one can leave behind.
    Memory,
    /// A disk that holds an image, by its device.
    Disk(String),
}

/// Folders for passing files.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];
/// Where a root is mounted before it is one.
const NEW: &str = "/root";

/// Loads the modules that the machine's devices need, takes its root and mounts what a system
/// needs.
pub(crate) fn prepare(root: &MachineRoot) -> io::Result<()> {
    fs::read_to_string(MODULE_LIST)
        .unwrap_or_default()
        .lines()
        .try_for_each(load_module)?;
    let left = match root {
        MachineRoot::First => Ok(()),
        MachineRoot::Memory => enter_memory(),
        MachineRoot::Disk(device) => enter_disk(device),
    };
    left.map_err(|e| io::Error::new(e.kind(), format!("change the root: {e}")))?;
    // A kernel that is a process has a folder of the host as its root, in which
    // the host puts files: nothing may hide them.
    let has_host_folder = rustix::fs::statfs("/")?.f_type == HOSTFS;
    // What an image has in its folders for passing files stays to be seen, as in a container.
    let has_image = matches!(root, MachineRoot::Disk(_));
    let mounts = MOUNTS.into_iter().filter(|(kind, target, _)| {
        let is_hidden = has_host_folder || has_image && TEMPORARY.contains(target);
        !(is_hidden && *kind == "tmpfs")
    });
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
    // A kernel calls itself "(none)" until it is told, which Open MPI takes for no name. A box
    // runs without one too.
    let _ = fs::write("/proc/sys/kernel/hostname", HOSTNAME);
    Ok(())
}

/// Moves to a file system in memory. The kernel's first root, in which an
/// initramfs is unpacked, cannot be exchanged by pivot_root(2), by which container
/// runtimes enter their roots.
fn enter_memory() -> io::Result<()> {
    mount(
        "tmpfs",
        NEW,
        "tmpfs",
        MountFlags::empty(),
        Some(c"size=90%,mode=755"),
    )?;
    fs::copy(BINARY, format!("{NEW}{BINARY}"))?;
    move_to_new()
}

/// Moves to the file system on a disk.
fn enter_disk(device: &str) -> io::Result<()> {
    const NO_OPTIONS: Option<&std::ffi::CStr> = None;
    // An initramfs has both, a folder of the host neither.
    ["/dev", NEW].iter().try_for_each(fs::create_dir_all)?;
    mount("devtmpfs", "/dev", "devtmpfs", MountFlags::empty(), NO_OPTIONS)?;
    mount(device, NEW, DISK_FILE_SYSTEM, MountFlags::empty(), NO_OPTIONS)
        .map_err(|e| io::Error::new(e.kind(), format!("mount {device}: {e}")))?;
    let binary = format!("{NEW}{BINARY}");
    root::file(Path::new(&binary))?;
    mount_bind(BINARY, &binary)?;
    move_to_new()
}

/// Mounts the image that boxes in this machine are made of, and the disk that takes what they write.
pub(crate) fn show_image() -> io::Result<()> {
    let disks = [
        (DISK, HELD_IMAGE, MountFlags::RDONLY),
        (SECOND_DISK, INNER_BOXES, MountFlags::empty()),
    ];
    for (device, place, flags) in disks {
        fs::create_dir_all(place)?;
        mount(device, place, DISK_FILE_SYSTEM, flags, None::<&std::ffi::CStr>)
            .map_err(|e| io::Error::new(e.kind(), format!("mount {device} on {place}: {e}")))?;
    }
    Ok(())
}

fn move_to_new() -> io::Result<()> {
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
pub(crate) fn end(power_off: bool) {
    rustix::fs::sync();
    let _ = rustix::system::reboot(if power_off {
        RebootCommand::PowerOff
    } else {
        RebootCommand::Restart
    });
}
