//! LXC system containers, by `lxc-start` in the foreground on pipes.

use super::child::{ChildBox, Start};
use super::{
    Absent, BoxError, BoxSpec, HELLO_DEADLINE, Network, Platform, RunningBox, cgroups_usable, installed,
};
use crate::cgroup::{Cgroup, Layout, Limits, PERIOD_US, cpu_list};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use tare_model::results::PlatformVersion;

pub(super) struct Lxc {
    pub network: Network,
}

impl Platform for Lxc {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        cgroups_usable()?;
        let version = installed("lxc-start", "install LXC (Debian: apt-get install lxc)")?;
        Ok(PlatformVersion {
            version: format!("LXC {version}"),
            ..PlatformVersion::default()
        })
    }

    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
        let requested = Instant::now();
        let premises = spec.premises()?;
        let config = premises.folder.join("config");
        let rootfs = spec.rootfs(&premises.folder)?;
        fs::write(&config, self::config(spec, &rootfs, self.network))
            .map_err(BoxError::host("write the container's configuration"))?;
        let mut command = Command::new("lxc-start");
        command
            .arg("-P")
            .arg(&premises.folder)
            .args(["-n", &spec.name, "-F", "-f"])
            .arg(&config);
        let start = Start {
            command,
            premises,
            limits: None,
            hello_within: HELLO_DEADLINE,
            requested,
        };
        let mut made = ChildBox::over_pipes(start)?;
        made.use_cgroup(Cgroup::at(&Layout::detect()?, &spec.name));
        made.connect(self.network, spec)?;
        Ok(Box::new(made))
    }
}

/// The container's configuration; each line's reason is in `docs/platforms.md`.
fn config(spec: &BoxSpec, rootfs: &Path, network: Network) -> String {
    let mut text = format!(
        "lxc.rootfs.path = dir:{root}\n\
         lxc.uts.name = tare\n\
         lxc.init.cmd = /tare agent\n\
         lxc.console.path = none\n\
         lxc.tty.max = 0\n\
         lxc.net.0.type = {network}\n\
         lxc.autodev = 1\n\
         lxc.mount.auto = proc:{proc} sys:mixed cgroup:{cgroup}:force\n\
         lxc.cgroup.dir.container = {name}\n\
         lxc.cgroup.dir.monitor = {name}-lxc\n\
         lxc.cgroup.dir.monitor.pivot = {name}-pivot\n",
        root = rootfs.display(),
        name = spec.name,
        network = network_type(network),
        proc = if spec.holds_boxes { "rw" } else { "mixed" },
        cgroup = if spec.holds_boxes { "rw" } else { "mixed" },
    );
    let limits = spec.limits();
    let v2 = matches!(Layout::detect(), Ok(Layout::V2(_)));
    let (version, settings) = if v2 {
        ("2", settings_v2(&limits))
    } else {
        ("", settings_v1(&limits))
    };
    for (key, value) in settings {
        let _ = writeln!(text, "lxc.cgroup{version}.{key} = {value}");
    }
    text
}

const fn network_type(network: Network) -> &'static str {
    match network {
        // What LXC calls none is no network of its own.
        Network::Host => "none",
        Network::None | Network::Bridge => "empty",
    }
}

fn settings_v1(limits: &Limits) -> Vec<(&'static str, String)> {
    let mut settings = Vec::new();
    if let Some(quota) = limits.quota {
        settings.push(("cpu.cfs_period_us", PERIOD_US.to_string()));
        settings.push(("cpu.cfs_quota_us", quota.quota_us(PERIOD_US).to_string()));
    }
    settings.extend(limits.cpuset.iter().map(|cpus| ("cpuset.cpus", cpu_list(cpus))));
    if let Some(bytes) = limits.memory_bytes {
        settings.push(("memory.limit_in_bytes", bytes.to_string()));
        if Path::new("/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes").exists() {
            settings.push(("memory.memsw.limit_in_bytes", bytes.to_string()));
        }
    }
    settings
}

fn settings_v2(limits: &Limits) -> Vec<(&'static str, String)> {
    let mut settings = Vec::new();
    settings.extend(
        limits
            .quota
            .map(|quota| ("cpu.max", format!("{} {PERIOD_US}", quota.quota_us(PERIOD_US)))),
    );
    settings.extend(limits.cpuset.iter().map(|cpus| ("cpuset.cpus", cpu_list(cpus))));
    if let Some(bytes) = limits.memory_bytes {
        settings.push(("memory.max", bytes.to_string()));
        settings.push(("memory.swap.max", "0".to_owned()));
    }
    settings
}
