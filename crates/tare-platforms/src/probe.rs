//! What drivers ask alike of the host before they can make boxes.

use super::contract::Absent;
use std::io;
use tare_host::cgroup::{self, CgroupError, Layout};
use tare_host::program::{is_shortage, version_of};

/// Version of an engine's program, or that it is missing and the fix.
pub(super) fn installed(program: &str, fix: impl Into<String>) -> Result<String, Absent> {
    version_of(program, "--version").map_err(|e| not_run(program, &e, fix))
}

/// Why a program could not be asked: only one that was not found is missing.
pub(super) fn not_run(program: &str, error: &io::Error, fix: impl Into<String>) -> Absent {
    if error.kind() == io::ErrorKind::NotFound {
        return Absent::new(format!("no {program} on PATH"), fix);
    }
    let advice = if is_shortage(error) {
        "it may be installed: raise this process's limits (see 'ulimit -a' and 'free')".to_owned()
    } else {
        format!("see whether '{program} --version' works")
    };
    Absent::new(format!("cannot run {program}: {error}"), advice)
}

/// Refuses a host with other CPUs than x86.
pub(super) fn x86_only(engine: &str) -> Result<(), Absent> {
    if cfg!(target_arch = "x86_64") {
        return Ok(());
    }
    Err(Absent::new(
        format!("{engine} exists for x86 hosts only"),
        "use an x86 host, or another platform",
    ))
}

/// What every platform that makes cgroups by itself needs: root, and a hierarchy.
pub(super) fn cgroups_usable() -> Result<Layout, Absent> {
    if !rustix::process::geteuid().is_root() {
        return Err(Absent::new(
            "not root, so tare cannot create cgroups to set limits",
            "run tare as root, for example with sudo",
        ));
    }
    let layout = Layout::detect().map_err(|e| Absent::new(e.to_string(), "see 'tare doctor'"))?;
    if cgroup::is_read_only(&layout) {
        return Err(Absent::new(
            "cgroups are read-only here, as in a container without privileges",
            "run tare on the host, or start this container with --privileged --cgroupns=host",
        ));
    }
    Ok(layout)
}

/// What platforms need that ask for nothing but limits: root, or a cgroup of
/// version 2 that was delegated to this user.
pub(super) fn limits_usable() -> Result<Layout, Absent> {
    match Layout::detect() {
        // One that others share is not to be emptied of them.
        Ok(Layout::V2(_)) if !rustix::process::geteuid().is_root() && cgroup::lacks_own() => {
            Err(Absent::new(
                "not root, and no service manager of this user hands out a cgroup",
                "log in as this user (by ssh or a terminal, not by su), or run tare as root",
            ))
        }
        Ok(layout @ Layout::V2(_)) if !rustix::process::geteuid().is_root() => {
            let short = |e: CgroupError| {
                Absent::new(
                    format!("not root, and the cgroup of this user does not do: {e}"),
                    "run tare as root",
                )
            };
            cgroup::stay_below_own().map(|()| layout).map_err(short)
        }
        _ => cgroups_usable(),
    }
}
