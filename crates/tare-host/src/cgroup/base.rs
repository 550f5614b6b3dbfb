//! Where this process makes its cgroups: at the top of each hierarchy, or below
//! its own cgroup. A box within a box must be below the outer one's, or the outer
//! limits would not hold for it, nor would it end with the outer one. And a user who
//! is not root may make them only below the one that was delegated to him.

use super::{Cgroup, CgroupError, Layout, UNIFIED, v2};
use rustix::fs::{Access, access};
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
        Layout::V2(_) => v2::delegate(&own.folder(UNIFIED)),
    }
}

fn own(layout: &Layout) -> Cgroup {
    let top = Cgroup::top(layout);
    let mut own = Cgroup::of_process(layout, std::process::id()).unwrap_or_else(|_| top.clone());
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

/// The cgroup below which this process makes its own.
pub(super) fn base(layout: &Layout) -> Cgroup {
    OWN.get().cloned().unwrap_or_else(|| Cgroup::top(layout))
}
