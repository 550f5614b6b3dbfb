//! Where this process makes its cgroups: at the top of each hierarchy, or below
//! its own cgroup. A box within a box must be below the outer one's, or the outer
//! limits would not hold for it, nor would it end with the outer one. And a user who
//! is not root may make them only below the one that was delegated to him.

use super::{Cgroup, CgroupError, Layout, UNIFIED, processes_in, v2};
use rustix::fs::{Access, access, getxattr};
use rustix::io::Errno;
use std::sync::OnceLock;

/// The cgroup that this process was in when it was told to stay below it.
static OWN: OnceLock<Cgroup> = OnceLock::new();

/// From now on this process makes cgroups below the one that it is in now. Where
/// there are no cgroups to be seen, nothing is done.
///
/// # Errors
/// [`CgroupError`] if no limits can be set below it.
pub fn stay_below_own() -> Result<(), CgroupError> {
    let Ok(layout) = Layout::detect() else {
        return Ok(());
    };
    let own = OWN.get_or_init(|| own(&layout));
    match layout {
        Layout::V1(_) => Ok(()),
        Layout::V2(_) => {
            let folder = own.folder(UNIFIED);
            v2::delegate(&folder)?;
            v2::has_limits(&folder)
        }
    }
}

/// Whether this process is in a cgroup of version 2 that was not handed to its user: he may not make others in it, or
/// others run in it, whom that would move. A service manager marks what it hands out (systemd.resource-control(5), since 251).
pub fn lacks_own() -> bool {
    let Ok(layout @ Layout::V2(_)) = Layout::detect() else {
        return false;
    };
    let folder = own(&layout).folder(UNIFIED);
    let is_ours = access(folder.join("cgroup.subtree_control"), Access::WRITE_OK).is_ok();
    let mut mark = [0; 2];
    let is_marked =
        getxattr(&folder, c"user.delegate", &mut mark).is_ok_and(|length| mark[..length] == *b"1");
    // None but this one, which may be in the leaf by now.
    let is_alone = || processes_in(&folder).iter().all(|pid| *pid == std::process::id());
    !(is_ours && (is_marked || is_alone()))
}

/// The cgroup that this process is in, or that of which it is in the leaf.
fn own(layout: &Layout) -> Cgroup {
    let top = Cgroup::top(layout);
    let own = Cgroup::of_process(layout, std::process::id()).map(|own| own.whole(v2::LEAF));
    let mut own = own.unwrap_or_else(|_| top.clone());
    for (controller, mount) in top.folders {
        let folder = own.folders.entry(controller).or_insert_with(|| mount.clone());
        // A container's runtime may have mounted this cgroup alone, as if it were the top.
        if !folder.exists() {
            *folder = mount;
        }
    }
    own
}

/// Whether cgroups that this process makes stand beside those of all others on the host, where
/// alone a weight counts against theirs, or why not.
pub fn supports_weight() -> Result<(), &'static str> {
    if !rustix::process::geteuid().is_root() {
        return Err("it takes root");
    }
    let is_top = || Layout::detect().is_ok_and(|layout| is_writable_top(&layout));
    if OWN.get().is_some() || !is_top() {
        return Err("tare cannot create cgroups at the top of the host's hierarchy");
    }
    Ok(())
}

/// Whether cgroups that this process makes can have sets of CPUs, which systemd hands to root's services alone unless told otherwise.
pub fn has_cpu_sets() -> bool {
    Layout::detect().is_ok_and(|layout| match layout {
        Layout::V1(_) => true,
        Layout::V2(_) => v2::has_cpu_sets(&base(&layout).folder(UNIFIED)),
    })
}

/// Whether what is mounted is the host's own top, and not the cgroup of a container that looks
/// like one, and can be written.
fn is_writable_top(layout: &Layout) -> bool {
    let folder = Cgroup::top(layout).folder("cpu");
    let is_top = match layout {
        // Only the top has this file.
        Layout::V1(_) => folder.join("release_agent").exists(),
        // All but the top have this one.
        Layout::V2(_) => !folder.join("cgroup.type").exists(),
    };
    is_top && access(&folder, Access::WRITE_OK).is_ok()
}

/// Whether a hierarchy is read-only, as a container without privileges sees it.
pub fn is_read_only(layout: &Layout) -> bool {
    let folders = Cgroup::top(layout).folders;
    folders
        .values()
        .any(|folder| access(folder, Access::WRITE_OK) == Err(Errno::ROFS))
}

/// The cgroup below which this process makes its own.
pub(super) fn base(layout: &Layout) -> Cgroup {
    OWN.get().cloned().unwrap_or_else(|| Cgroup::top(layout))
}
