//! An agent on the host that runs programs of an image for boxes that do not confine them: a part of a
//! workload that runs outside of all boxes. It has the host's network, which it is there for, and of the host nothing else.

use crate::root::{HostRoot, told};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount, mount_bind, mount_remount};
use rustix::thread::{
    CapabilitySet, CapabilitySets, remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::Command;
use tare_box::places::{BINARY, MASKED, READ_ONLY};

/// What the agent needs to start a command as the image's user and to end it.
const OF_AGENT: CapabilitySet = CapabilitySet::SETUID
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::KILL);

/// What no program needs of a file system of the kernel's.
const PLAIN: MountFlags = MountFlags::NOSUID
    .union(MountFlags::NODEV)
    .union(MountFlags::NOEXEC);

const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
const STREAMS: [(&str, &str); 4] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];

/// Starts the agent anew in this root and in namespaces of its own, and waits until it ends. What is
/// executed there is a file that it cannot write.
pub(crate) fn serve_in(root: &HostRoot) -> io::Result<()> {
    tare_sys::leave_all_but_network().map_err(|e| told("leave the host's namespaces", &e))?;
    root.mount_with(|| {
        make_devices(&root.place("/dev"))?;
        let sys = PLAIN | MountFlags::RDONLY;
        mount("sysfs", root.place("/sys"), "sysfs", sys, None).map_err(|e| told("mount /sys", &e.into()))
    })?;
    let _ = tare_sys::leave_keyring();
    let mut agent = Command::new(BINARY);
    agent.args(["agent", "--confined"]);
    tare_sys::die_with_unseen_parent(&mut agent)?;
    let ended = agent.status().map_err(|e| told("start the confined agent", &e))?;
    match ended.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("the confined agent: {ended}"))),
    }
}

fn make_devices(dev: &Path) -> io::Result<()> {
    let plain = MountFlags::NOSUID | MountFlags::NOEXEC;
    mount("tmpfs", dev, "tmpfs", plain, Some(c"mode=755,size=64k"))?;
    for name in DEVICES {
        let (device, on) = (Path::new("/dev").join(name), dev.join(name));
        File::create_new(&on)?;
        mount_bind(device, &on)?;
        // It is the host's: its mode and its owner are not to be changed.
        mount_remount(&on, MountFlags::BIND | MountFlags::RDONLY | plain, "")?;
    }
    for (name, target) in STREAMS {
        std::os::unix::fs::symlink(target, dev.join(name))?;
    }
    let shared = dev.join("shm");
    fs::create_dir(&shared)?;
    // As large as Docker's.
    mount("tmpfs", shared, "tmpfs", PLAIN, Some(c"mode=1777,size=64m"))?;
    Ok(())
}

/// As the first process of its namespace: mounts its /proc, and gives up what rights are left.
pub(crate) fn enter() -> io::Result<()> {
    mount("proc", "/proc", "proc", PLAIN, None).map_err(|e| told("mount /proc", &e.into()))?;
    for path in MASKED {
        hide(Path::new(path)).map_err(|e| told(&format!("hide {path}"), &e))?;
    }
    for path in READ_ONLY.iter().filter(|path| Path::new(path).exists()) {
        mount_bind(*path, *path)
            .and_then(|()| mount_remount(*path, MountFlags::BIND | MountFlags::RDONLY | PLAIN, ""))
            .map_err(|e| told(&format!("close {path}"), &e.into()))?;
    }
    give_up_rights().map_err(|e| told("give up rights", &e.into()))
}

fn hide(path: &Path) -> io::Result<()> {
    match path.metadata() {
        Err(_) => Ok(()),
        Ok(meta) if meta.is_dir() => Ok(mount("tmpfs", path, "tmpfs", PLAIN | MountFlags::RDONLY, None)?),
        Ok(_) => Ok(mount_bind("/dev/null", path)?),
    }
}

/// What is executed from now on has no capability and gets none.
fn give_up_rights() -> Result<(), Errno> {
    for capability in CapabilitySet::all().iter() {
        match remove_capability_from_bounding_set(capability) {
            // A kernel that does not have it.
            Err(Errno::INVAL) => {}
            done => done?,
        }
    }
    set_no_new_privs(true)?;
    let sets = CapabilitySets {
        effective: OF_AGENT,
        permitted: OF_AGENT,
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, sets)
}
