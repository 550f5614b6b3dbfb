//! OCI runtimes by a bundle of one file: runc, crun and runsc (gVisor), in the
//! foreground on pipes.

use super::child::{ChildBox, Start};
use super::security::{self, Capabilities, Offer, Seccomp, Security};
use super::storage::{self, Storage, Work};
use super::{
    Absent, BoxError, BoxSpec, HELLO_DEADLINE, InnerNeeds, MemoryView, Network, Options, Platform, QuotaView,
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
pub(super) enum Runtime {
    Runc,
    Crun,
    Runsc,
}

impl Runtime {
    /// The networks that its boxes can have.
    const fn networks(self) -> &'static [Network] {
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

/// What a bundle can say. There is no filter of system calls in ours: it would be an engine's.
const SECURITY: Offer = Offer {
    seccomp: &[Seccomp::Off],
    capabilities: &[Capabilities::Default, Capabilities::All, Capabilities::None],
    userns: true,
};

pub(super) struct Oci {
    runtime: Runtime,
    /// Absent for gVisor, whose processes never meet the host's kernel.
    security: Option<Security>,
    storage: Option<Storage>,
    network: Network,
}

impl Oci {
    pub(super) fn open(mut options: Options, runtime: Runtime) -> Result<Self, String> {
        let security = match runtime {
            Runtime::Runc | Runtime::Crun => Some(Security::take(&mut options, &SECURITY)?),
            Runtime::Runsc => None,
        };
        let storage = Storage::take(&mut options)?;
        let network = options.take_network(runtime.networks())?;
        options.none()?;
        Ok(Self {
            runtime,
            security,
            storage,
            network,
        })
    }
}

impl Platform for Oci {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        cgroups_usable()?;
        let program = self.runtime.program();
        let version = installed(program, format!("install it (Debian: apt-get install {program})"))?;
        Ok(PlatformVersion {
            version,
            details: self
                .security
                .iter()
                .flat_map(Security::details)
                .chain(self.storage.map(Storage::detail))
                .collect(),
        })
    }

    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
        let requested = Instant::now();
        let premises = spec.premises()?;
        let rootfs = spec.rootfs(&premises.folder)?;
        let work = Work::make(self.storage, &premises.folder, &rootfs)?;
        if let Some(security) = &self.security {
            security.own(spec, &rootfs)?;
            work.iter().try_for_each(|work| work.own(security, spec))?;
        }
        let layout = Layout::detect()?;
        let cgroup = Cgroup::at(&layout, &spec.name);
        let config = config(spec, &cgroup.path(&layout), self, work.as_ref()).to_string();
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

    fn security(&self) -> Option<Security> {
        self.security
    }

    fn storage(&self) -> Option<Storage> {
        self.storage
    }

    fn inner_needs(&self) -> InnerNeeds {
        InnerNeeds {
            programs: match self.runtime {
                Runtime::Runc => &["runc"],
                Runtime::Crun => &["crun"],
                // Its memory limit can only be read from outside.
                Runtime::Runsc => &[],
            },
            ..InnerNeeds::default()
        }
    }

    fn quota_view(&self) -> QuotaView {
        match self.runtime {
            // gVisor's kernel accounts by a clock of its own.
            Runtime::Runsc => QuotaView::HostOnly,
            Runtime::Runc | Runtime::Crun => QuotaView::Inside,
        }
    }

    fn memory_view(&self) -> MemoryView {
        match self.runtime {
            Runtime::Runsc => MemoryView::HostLimit,
            Runtime::Runc | Runtime::Crun => MemoryView::Touch,
        }
    }
}

/// The bundle's configuration; what is peculiar in it is told in `docs/platforms.md`.
fn config(spec: &BoxSpec, cgroup: &Path, apart: &Oci, work: Option<&Work>) -> Value {
    let security = apart.security;
    let granted = security.map_or(Capabilities::Default, |security| security.capabilities);
    let capabilities: Vec<&str> = capabilities(granted, spec.holds_boxes);
    let cgroups = if spec.holds_boxes { "rw" } else { "ro" };
    let kinds = ["pid", "network", "ipc", "uts", "mount"];
    let kinds = kinds
        .iter()
        .filter(|kind| apart.network != Network::Host || **kind != "network");
    let namespaces: Vec<Value> = kinds.map(|kind| json!({ "type": kind })).collect();
    let mount = |destination: &str, kind: &str, options: &[&str]| json!({ "destination": destination, "type": kind, "source": kind, "options": options });
    let mut config = json!({
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
    });
    if let Some(work) = work {
        add_work(&mut config, work);
    }
    if security.is_some_and(|security| security.has_userns()) {
        add_userns(&mut config["linux"]);
    }
    config
}

fn add_work(config: &mut Value, work: &Work) {
    config["process"]["cwd"] = storage::FOLDER.into();
    let mount = match work {
        Work::Own => return,
        Work::Volume(folder) => {
            json!({ "destination": storage::FOLDER, "type": "bind", "source": folder, "options": ["bind", "rw"] })
        }
        Work::Tmpfs => {
            json!({ "destination": storage::FOLDER, "type": "tmpfs", "source": "tmpfs", "options": ["mode=755"] })
        }
    };
    if let Some(mounts) = config["mounts"].as_array_mut() {
        mounts.push(mount);
    }
}

fn add_userns(linux: &mut Value) {
    let mapping = json!([{ "containerID": 0, "hostID": security::FIRST_USER, "size": security::USERS }]);
    if let Some(namespaces) = linux["namespaces"].as_array_mut() {
        namespaces.push(json!({ "type": "user" }));
    }
    linux["uidMappings"] = mapping.clone();
    linux["gidMappings"] = mapping;
}

fn capabilities(granted: Capabilities, holds_boxes: bool) -> Vec<&'static str> {
    match granted {
        Capabilities::Default => {}
        // Runtimes take one that the host lacks for a failure.
        Capabilities::All => return security::names(security::of_host()),
        Capabilities::None => return Vec::new(),
    }
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

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    fn config_with(given: &[(&str, &str)]) -> Value {
        let given = given
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let oci = Oci::open(Options::new(given.collect()), Runtime::Runc).unwrap();
        config(&spec(), Path::new("/tare-0-1"), &oci, None)
    }

    #[test]
    fn a_bundle_has_the_rights_that_were_asked_for() {
        let granted = |config: &Value| {
            config["process"]["capabilities"]["effective"]
                .as_array()
                .unwrap()
                .len()
        };
        assert_eq!(granted(&config_with(&[])), CAPABILITIES.len());
        assert_eq!(granted(&config_with(&[("capabilities", "none")])), 0);
        assert!(config_with(&[])["linux"]["uidMappings"].is_null());
        let apart = config_with(&[("userns", "on")]);
        let last = apart["linux"]["namespaces"].as_array().unwrap().last().unwrap();
        assert_eq!(last["type"], "user");
        assert_eq!(apart["linux"]["gidMappings"][0]["hostID"], security::FIRST_USER);
    }

    #[test]
    fn commands_start_in_the_work_folder_if_there_is_one() {
        let mut config = config_with(&[]);
        assert_eq!(config["process"]["cwd"], "/");
        let mounts = config["mounts"].as_array().unwrap().len();
        add_work(&mut config, &Work::Own);
        assert_eq!(config["process"]["cwd"], "/work");
        assert_eq!(config["mounts"].as_array().unwrap().len(), mounts);
        add_work(&mut config, &Work::Volume("/state/box/work".into()));
        assert_eq!(config["mounts"][mounts]["source"], "/state/box/work");
    }

    #[test]
    fn gvisor_has_no_such_options() {
        let given = [("capabilities".to_owned(), "none".to_owned())].into();
        assert!(Oci::open(Options::new(given), Runtime::Runsc).is_err());
    }
}
