//! Files whose owners are others where they are mounted: for user namespaces, which have their users
//! among those of the host.

use rustix::fs::CWD;
use rustix::mount::{MoveMountFlags, OpenTreeFlags, move_mount, open_tree};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

/// Mounts a folder read-only on another: what belongs to user N there, belongs to user `first` + N
/// here, for the first `count` users and groups. Needs root and Linux 5.12; as a layer of an
/// overlay 5.19.
///
/// # Errors
/// As clone(2) and mount_setattr(2): `InvalidInput` where the file system cannot have other owners.
pub fn mount(folder: &Path, on: &Path, first: u32, count: u32) -> io::Result<()> {
    let users = user_namespace(first, count)?;
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let tree = open_tree(CWD, folder, flags)?;
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_IDMAP | libc::MOUNT_ATTR_RDONLY,
        attr_clr: 0,
        propagation: 0,
        userns_fd: u64::try_from(users.as_raw_fd()).map_err(io::Error::other)?,
    };
    // SAFETY: the kernel reads an empty string and a structure of the size that is told, both alive.
    let set = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if set != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(move_mount(
        &tree,
        "",
        CWD,
        on,
        MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH,
    )?)
}

/// A user namespace whose users and groups from 0 on are those of the host from `first` on. A process
/// makes it, which does nothing else and is gone when this returns.
fn user_namespace(first: u32, count: u32) -> io::Result<OwnedFd> {
    // SAFETY: as fork(2). The child has one thread, and makes system calls alone until it is killed.
    let pid = unsafe { libc::syscall(libc::SYS_clone, libc::CLONE_NEWUSER | libc::SIGCHLD, 0, 0, 0, 0) };
    if pid == 0 {
        loop {
            // SAFETY: it only waits.
            unsafe { libc::pause() };
        }
    }
    let pid = libc::pid_t::try_from(pid).map_err(io::Error::other)?;
    if pid < 0 {
        return Err(io::Error::last_os_error());
    }
    let made = ["uid_map", "gid_map"]
        .iter()
        .try_for_each(|map| fs::write(format!("/proc/{pid}/{map}"), format!("0 {first} {count}\n")))
        .and_then(|()| File::open(format!("/proc/{pid}/ns/user")));
    // SAFETY: the process is our child, which nobody else waits for.
    unsafe {
        libc::kill(pid, libc::SIGKILL);
        libc::waitpid(pid, std::ptr::null_mut(), 0);
    }
    made.map(OwnedFd::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::mount::{UnmountFlags, unmount};
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn owners_are_others_where_it_is_mounted() {
        let folder = std::env::temp_dir().join(format!("tare-shifted-{}", std::process::id()));
        let on = folder.join("on");
        fs::create_dir_all(&on).unwrap();
        let own = fs::metadata(&folder).unwrap().uid();
        match mount(&folder, &on, 1000, 65_536) {
            Ok(()) => {
                let seen = fs::metadata(&on).unwrap().uid();
                let refused = fs::write(on.join("file"), "");
                unmount(&on, UnmountFlags::DETACH).unwrap();
                assert_eq!(seen, own + 1000);
                assert!(refused.is_err());
            }
            Err(e) => eprintln!("skipped: {e}"),
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
