//! OCI runtimes by a bundle of one file: runc, crun and runsc (gVisor), in the
//! foreground on pipes.

use super::child::{ChildBox, Start};
use super::{
    Absent, BoxError, BoxSpec, HELLO_DEADLINE, InnerNeeds, MemoryView, Network, Platform, QuotaView,
    RunningBox, cgroups_usable, installed,
};
use crate::cgroup::{Cgroup, Layout, Limits, PERIOD_US, cpu_list};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use tare_model::results::PlatformVersion;

/// What Docker grants by default: figures of the runtimes shall differ by the runtime.
const CAPABILITIES: [&str; 14] = [
    "CAP_AUDIT_WRITE",
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_MKNOD",
    "CAP_NET_BIND_SERVICE",
    "CAP_NET_RAW",
    "CAP_SETFCAP",
    "CAP_SETGID",
    "CAP_SETPCAP",
    "CAP_SETUID",
    "CAP_SYS_CHROOT",
];

/// A runtime and what is peculiar to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Oci {
    Runc,
    Crun,
    Runsc,
}

impl Oci {
    /// The networks that its boxes can have.
    pub(super) const fn networks(self) -> &'static [Network] {
        match self {
            Self::Runc | Self::Crun => &Network::ALL,
            // It takes over a network that is there before it starts, and no later one.
            Self::Runsc => &[Network::None, Network::Host],
        }
    }

    const fn program(self) -> &'static str {
        match self {
            Self::Runc => "runc",
            Self::Crun => "crun",
            Self::Runsc => "runsc",
        }
    }

    /// The runtime with its own options, before a subcommand.
    fn command(self, network: Network) -> Command {
        let mut command = Command::new(self.program());
        if self == Self::Runsc {
            // A sandbox's own network cannot be had in the root's namespace.
            command.arg(match network {
                Network::Host => "--network=host",
                Network::None | Network::Bridge => "--network=none",
            });
        }
        if self == Self::Crun
            && let Ok(layout) = Layout::detect()
            && let Some(unified) = layout.unified_beside_v1()
        {
            // crun refuses controllers of version 2 beside those of version 1: it is shown none.
            tare_sys::hide_mount(&mut command, unified);
        }
        command
    }
}

/// A runtime with its options.
pub(super) struct Bundle {
    pub runtime: Oci,
    pub network: Network,
}

impl Platform for Bundle {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        cgroups_usable()?;
        let program = self.runtime.program();
        let version = installed(program, format!("install it (Debian: apt-get install {program})"))?;
        Ok(PlatformVersion {
            version,
            ..PlatformVersion::default()
        })
    }

    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
        let requested = Instant::now();
        let premises = spec.premises()?;
        spec.rootfs(&premises.folder)?;
        let layout = Layout::detect()?;
        let cgroup = Cgroup::at(&layout, &spec.name);
        let config = config(spec, &cgroup.path(&layout), self.network).to_string();
        fs::write(premises.folder.join("config.json"), config)
            .map_err(BoxError::host("write the container's configuration"))?;
        let mut command = self.runtime.command(self.network);
        command
            .arg("--root")
            .arg(premises.folder.join("state"))
            .args(["run", "--bundle"])
            .arg(&premises.folder)
            .arg(&spec.name);
        let start = Start {
            command,
            premises,
            limits: None,
            hello_within: HELLO_DEADLINE,
            requested,
        };
        let mut made = ChildBox::over_pipes(start)?;
        made.use_cgroup(cgroup);
        made.connect(self.network, spec)?;
        Ok(Box::new(made))
    }

    fn inner_needs(&self) -> InnerNeeds {
        InnerNeeds {
            programs: match self.runtime {
                Oci::Runc => &["runc"],
                Oci::Crun => &["crun"],
                // Its memory limit can only be read from outside.
                Oci::Runsc => &[],
            },
            ..InnerNeeds::default()
        }
    }

    fn quota_view(&self) -> QuotaView {
        match self.runtime {
            // gVisor's kernel accounts by a clock of its own.
            Oci::Runsc => QuotaView::HostOnly,
            Oci::Runc | Oci::Crun => QuotaView::Inside,
        }
    }

    fn memory_view(&self) -> MemoryView {
        match self.runtime {
            Oci::Runsc => MemoryView::HostLimit,
            Oci::Runc | Oci::Crun => MemoryView::Touch,
        }
    }
}

/// The bundle's configuration; what is peculiar in it is told in `docs/platforms.md`.
fn config(spec: &BoxSpec, cgroup: &Path, network: Network) -> Value {
    let capabilities: Vec<&str> = capabilities(spec.holds_boxes);
    let cgroups = if spec.holds_boxes { "rw" } else { "ro" };
    let kinds = ["pid", "network", "ipc", "uts", "mount"];
    let kinds = kinds
        .iter()
        .filter(|kind| network != Network::Host || **kind != "network");
    let namespaces: Vec<Value> = kinds.map(|kind| json!({ "type": kind })).collect();
    let mount = |destination: &str, kind: &str, options: &[&str]| json!({ "destination": destination, "type": kind, "source": kind, "options": options });
    json!({
        "ociVersion": "1.0.2",
        "hostname": "tare",
        "root": { "path": "rootfs", "readonly": false },
        "process": {
            "terminal": false,
            "user": { "uid": 0, "gid": 0 },
            "args": ["/tare", "agent"],
            "env": [format!("PATH={}", crate::carry::PATH)],
            "cwd": "/",
            "capabilities": { "bounding": capabilities, "effective": capabilities, "permitted": capabilities },
        },
        "mounts": [
            mount("/proc", "proc", &["nosuid", "noexec", "nodev"]),
            mount("/dev", "tmpfs", &["nosuid", "strictatime", "mode=755", "size=65536k"]),
            mount("/sys", "sysfs", &["nosuid", "noexec", "nodev", "ro"]),
            mount("/sys/fs/cgroup", "cgroup", &["nosuid", "noexec", "nodev", "relatime", cgroups]),
        ],
        "linux": {
            "cgroupsPath": cgroup,
            "resources": resources(&spec.limits()),
            "namespaces": namespaces,
        },
    })
}

fn capabilities(holds_boxes: bool) -> Vec<&'static str> {
    let more = super::TO_HOLD_BOXES.iter().filter(|_| holds_boxes);
    CAPABILITIES.iter().chain(more).copied().collect()
}

fn resources(limits: &Limits) -> Value {
    let mut cpu = serde_json::Map::new();
    if let Some(quota) = limits.quota {
        cpu.insert("quota".into(), quota.quota_us(PERIOD_US).into());
        cpu.insert("period".into(), PERIOD_US.into());
    }
    if let Some(cpus) = &limits.cpuset {
        cpu.insert("cpus".into(), cpu_list(cpus).into());
    }
    json!({
        "devices": [{ "allow": false, "access": "rwm" }],
        "cpu": cpu,
        // Swap counts memory too: equal values mean none.
        "memory": { "limit": limits.memory_bytes, "swap": limits.memory_bytes },
    })
}
