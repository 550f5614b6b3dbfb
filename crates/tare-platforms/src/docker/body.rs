//! What the engine is asked to make of a container.

use super::super::apart::Apart;
use super::super::contract::security::host_capabilities;
use super::super::contract::{BoxError, BoxImage, BoxSpec, Capabilities, Seccomp, Security};
use super::super::directory::canonical;
use super::super::security::{self, TO_HOLD_BOXES};
use super::super::storage::Work;
use super::LABEL;
use bollard::models::{ContainerCreateBody, HostConfig, HostConfigLogConfig, PortBinding};
use std::collections::HashMap;
use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use tare_host::cgroup::{Cgroup, Layout, PERIOD_US, Weight, cpu_list};
use tare_host::net::{self, Network};
use tare_host::places::{HELD_IMAGE, INNER_BOXES, WORK_FOLDER};

/// `around` is the cgroup in which the container's own is made; absent: that of the engine.
pub(super) fn body(
    spec: &BoxSpec,
    image: &str,
    runtime: Option<String>,
    apart: &Apart,
    around: Option<&Path>,
) -> ContainerCreateBody {
    let limits = spec.limits();
    let memory = limits.memory_bytes.and_then(|bytes| i64::try_from(bytes).ok());
    let quota = limits
        .quota
        .and_then(|cpus| i64::try_from(cpus.quota_us(PERIOD_US)).ok());
    let mut host_config = HostConfig {
        cpu_period: quota.and_then(|_| i64::try_from(PERIOD_US).ok()),
        cpu_quota: quota,
        cpuset_cpus: limits.cpuset.as_deref().map(cpu_list),
        memory,
        // Equal to the memory: no swap.
        memory_swap: memory,
        network_mode: Some(mode(apart.network).to_owned()),
        // Else the log driver writes the whole link to disk.
        log_config: Some(HostConfigLogConfig {
            typ: Some("none".to_owned()),
            config: None,
        }),
        runtime,
        cgroup_parent: around.map(|path| path.display().to_string()),
        auto_remove: Some(true),
        // The agent is the first process, whatever the daemon's configuration says.
        init: Some(false),
        ..HostConfig::default()
    };
    apply(&apart.security, &mut host_config);
    if spec.holds_boxes {
        let name = |capability: &str| capability.trim_start_matches("CAP_").to_owned();
        host_config.cap_add = Some(TO_HOLD_BOXES.map(name).to_vec());
        host_config.security_opt = Some(vec!["seccomp=unconfined".into(), "apparmor=unconfined".into()]);
        host_config.masked_paths = Some(Vec::new());
        host_config.readonly_paths = Some(Vec::new());
        host_config.binds = Some(vec!["/sys/fs/cgroup:/sys/fs/cgroup:rw".into()]);
    }
    let is_published = apart.network.is_published();
    if is_published {
        let bound = PortBinding {
            host_ip: Some(Ipv4Addr::LOCALHOST.to_string()),
            // Whichever is free.
            host_port: Some(String::new()),
        };
        host_config.port_bindings = Some(HashMap::from([(port(), Some(vec![bound]))]));
    }
    ContainerCreateBody {
        hostname: Some(spec.hostname.clone()),
        exposed_ports: is_published.then(|| vec![port()]),
        image: Some(image.to_owned()),
        entrypoint: Some(vec!["/tare".to_owned(), "agent".to_owned()]),
        labels: Some(HashMap::from([(LABEL.to_owned(), spec.run.clone())])),
        open_stdin: Some(true),
        // The container ends when the controller's connection does.
        stdin_once: Some(true),
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        tty: Some(false),
        host_config: Some(host_config),
        ..ContainerCreateBody::default()
    }
}

/// A cgroup of the box's own for that of the container, if it must have one or the box is to have more weight
/// than others: within the engine's cgroup a container's counts against other containers alone.
pub(super) fn around(spec: &BoxSpec, always: bool) -> Result<Option<PathBuf>, BoxError> {
    if !always && spec.weight == Weight::Usual {
        return Ok(None);
    }
    let layout = Layout::detect()?;
    let inner = Cgroup::within(&layout, &spec.name, &spec.limits())?;
    Ok(Some(inner.outermost().path(&layout)))
}

/// The engine's name for a network.
const fn mode(network: Network) -> &'static str {
    match network {
        Network::Published => Network::Bridge.name(),
        other => other.name(),
    }
}

/// The engine's name for the port that is published.
fn port() -> String {
    format!("{}/tcp", net::PORT)
}

/// Shows an image to the boxes in this one, whose files go to a folder of the host's: the root of
/// a container is an overlay, on which the kernel lays no other one.
pub(super) fn hold(
    body: &mut ContainerCreateBody,
    image: &BoxImage,
    directory: &Path,
) -> Result<(), BoxError> {
    let inner = canonical(directory)?.join("inner");
    fs::create_dir(&inner).map_err(BoxError::host(format!("make {}", inner.display())))?;
    if let Some(host) = &mut body.host_config {
        host.binds.get_or_insert_default().extend([
            format!("{}:{HELD_IMAGE}:ro", image.rootfs().display()),
            format!("{}:{INNER_BOXES}", inner.display()),
        ]);
    }
    Ok(())
}

/// Commands start in the work folder, which the engine makes where nothing is mounted.
pub(super) fn add_work(body: &mut ContainerCreateBody, work: &Work, security: &Security) {
    body.working_dir = Some(WORK_FOLDER.to_owned());
    let Some(host) = &mut body.host_config else {
        return;
    };
    match work {
        // An overlay of ours is not offered: the engine's own storage is one.
        Work::Own | Work::Overlay(_) => {}
        Work::Tmpfs => {
            host.tmpfs = Some(HashMap::from([(
                WORK_FOLDER.to_owned(),
                "mode=755,exec".to_owned(),
            )]));
        }
        Work::Volume(source) => {
            // Podman gives the folder to the root of the namespace that it chose.
            let options = if security.has_userns() { ":U" } else { "" };
            let bind = format!("{}:{}{options}", source.display(), WORK_FOLDER);
            host.binds.get_or_insert_default().push(bind);
        }
    }
}

fn apply(security: &Security, host: &mut HostConfig) {
    if security.seccomp == Seccomp::Off {
        host.security_opt = Some(vec!["seccomp=unconfined".to_owned()]);
    }
    match security.capabilities {
        Capabilities::Default => {}
        // The engine's own networks are the engine's affair: this one is of tare's tools.
        Capabilities::All | Capabilities::AllButNetwork => {
            host.cap_add = Some(security::all_by_engine(host_capabilities()))
        }
        Capabilities::None => host.cap_drop = Some(vec!["ALL".to_owned()]),
    }
    host.pid_mode = security.shares_processes().then(|| "host".to_owned());
    // The size is that of the other platforms; the range is Podman's choice.
    host.userns_mode = security
        .has_userns()
        .then(|| format!("auto:size={}", security::USERS));
}
