//! What an engine is able to do, before a container is asked of it.

use super::super::apart::Apart;
use super::super::contract::{Absent, NO_CPU_SETS, Storage, Support};
use super::engine::Engine;
use bollard::models::{SystemInfo, SystemInfoCgroupDriverEnum};
use bollard::query_parameters as query;
use std::collections::HashMap;
use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use tare_host::host;
use tare_host::net::Network;

/// Whether an engine knows a runtime: by a name that was configured, or one of
/// containerd's, which are not listed.
pub(super) fn knows<T>(name: &str, runtimes: Option<&HashMap<String, T>>) -> Result<(), Absent> {
    let Some(runtimes) = runtimes.filter(|r| !r.contains_key(name) && !name.contains('.')) else {
        return Ok(());
    };
    let mut names: Vec<&str> = runtimes.keys().map(String::as_str).collect();
    names.sort_unstable();
    Err(Absent::new(
        format!("the engine has no runtime '{name}', only {}", names.join(", ")),
        "choose one of these, or add it to \"runtimes\" in the engine's daemon.json",
    ))
}

/// Whether the engine has the network that its containers have by default: `bridge`,
/// or as Podman may call it.
pub(super) fn has_bridge(engine: &Engine) -> Result<(), Absent> {
    let call = engine.api.list_networks(None::<query::ListNetworksOptions>);
    let networks = engine
        .wait(call)
        .map_err(|e| Absent::new(e.to_string(), "look at the engine's log"))?;
    let mut names = networks.into_iter().filter_map(|network| network.name);
    if names.any(|name| name == Network::Bridge.name() || name == engine.name) {
        return Ok(());
    }
    Err(Absent::new(
        format!("{} has no bridge of its own (as with --bridge=none)", engine.name),
        "start it with one, or use network=none or network=host",
    ))
}

/// Refuses options that an engine does not allow since it maps users or is an ordinary user's.
pub(super) fn allows(apart: &Apart, info: &SystemInfo) -> Result<(), Absent> {
    let options = info.security_options.iter().flatten();
    let has = |name: &str| {
        options
            .clone()
            .any(|option| option.split(',').next() == Some(name))
    };
    if has("name=rootless") {
        if info.cgroup_driver == Some(SystemInfoCgroupDriverEnum::NONE) {
            return Err(Absent::new(
                "the rootless engine sets no limits (cgroup driver 'none')",
                "start it by systemd --user on a host with cgroup v2, or use root's engine",
            ));
        }
        if !matches!(apart.network, Network::None | Network::Published) {
            return Err(Absent::new(
                "the network of a rootless engine's containers cannot be reached from the host",
                "use network=none or network=published, or root's engine",
            ));
        }
    }
    let excluded = [
        ("network=host", apart.network == Network::Host),
        ("pidns=off", apart.security.shares_processes()),
        ("storage=volume", apart.storage == Some(Storage::Volume)),
    ];
    match excluded.iter().find(|(_, is_chosen)| *is_chosen) {
        Some((option, _)) if has("name=userns") => Err(Absent::new(
            format!("the engine maps users (userns-remap), which excludes {option}"),
            format!("omit {option}, or start the engine without userns-remap"),
        )),
        _ => Ok(()),
    }
}

/// Why its containers cannot stand in a cgroup that tare makes; `None` where they can.
pub(super) fn supports_weight(engine: &Engine, info: &SystemInfo) -> Support {
    if info.cgroup_driver != Some(SystemInfoCgroupDriverEnum::CGROUPFS) {
        return Err("its engine lets systemd create cgroups, which cannot contain tare's");
    }
    let is_here = info.kernel_version.as_deref() == Some(&host::facts().kernel);
    let own = fs::read_link("/proc/self/ns/cgroup").ok();
    let same = is_here && own.is_some() && cgroup_namespace(&engine.socket) == own;
    if !same {
        return Err("its engine sees other cgroups than tare does");
    }
    Ok(())
}

/// A rootless engine has the controllers that systemd delegates to its user.
pub(super) fn supports_pinning(info: &SystemInfo) -> Support {
    if info.cpu_set == Some(false) {
        return Err(NO_CPU_SETS);
    }
    Ok(())
}

/// The view of cgroups of whoever listens on a socket.
fn cgroup_namespace(socket: &Path) -> Option<PathBuf> {
    let connection = UnixStream::connect(socket).ok()?;
    let listening = rustix::net::sockopt::socket_peercred(&connection).ok()?;
    fs::read_link(format!("/proc/{}/ns/cgroup", listening.pid.as_raw_nonzero())).ok()
}
