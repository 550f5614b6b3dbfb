//! OCI runtimes by a bundle of one file: runc, crun and runsc (gVisor), in the
//! foreground on pipes.

mod config;

use super::apart::can_be_had;
use super::child::{ChildBox, Start};
use super::contract::{
    Absent, BoxError, BoxSpec, Capabilities, HELLO_DEADLINE, InnerNeeds, MemoryView, Platform, QuotaView,
    RunningBox, Seccomp, Security, Storage, Support,
};
use super::directory::BoxDirectory;
use super::options::Options;
use super::probe::{cgroups_usable, installed};
use super::security::Offer;
use super::shared::shared_binary;
use super::storage::Work;
use config::Parts;
use std::fs;
use std::process::Command;
use std::time::Instant;
use tare_host::cgroup::{Cgroup, CgroupError, Layout};
use tare_host::net::Network;
use tare_model::results::PlatformVersion;

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
            Self::Runc | Self::Crun => &Network::OF_TOOLS,
            // It takes over a network that is there before it starts, and no later one.
            Self::Runsc => &[Network::None, Network::Host],
        }
    }

    /// Where its boxes' work folder can lie. gVisor mounts no file system of the host's kernel.
    const fn storages(self) -> &'static [Storage] {
        match self {
            Self::Runc | Self::Crun => &Storage::OF_BUNDLES,
            Self::Runsc => &Storage::OF_CONTAINERS,
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
    fn command(self, network: Network, cgroup: &Cgroup) -> Command {
        let mut command = Command::new(self.program());
        if self == Self::Runsc {
            // A sandbox's own network cannot be had in the root's namespace.
            let has_hosts = network == Network::Host;
            command.arg(if has_hosts {
                "--network=host"
            } else {
                "--network=none"
            });
        }
        if self == Self::Crun
            && let Ok(layout) = Layout::detect()
            && let Some(unified) = layout.unified_beside_v1()
        {
            // crun refuses controllers of version 2 beside those of version 1: it is shown none,
            // and so leaves its box where it is itself.
            // Not where the box's own processes are looked for.
            cgroup.outermost().hold_in_unified(&mut command);
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
    pidns: true,
};

/// In the host's PID namespace what a killed agent leaves would outlive it: crun does not end the rest of a container.
const OF_CRUN: Offer = Offer {
    pidns: false,
    ..SECURITY
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
            Runtime::Runc => Some(Security::take(&mut options, &SECURITY)?),
            Runtime::Crun => Some(Security::take(&mut options, &OF_CRUN)?),
            Runtime::Runsc => None,
        };
        let storage = Storage::take(&mut options, runtime.storages())?;
        let network = options.take_network(runtime.networks())?;
        let security = security.map(|security| security.tied_by(network));
        options.none()?;
        Ok(Self {
            runtime,
            security,
            storage,
            network,
        })
    }
}

impl Oci {
    /// The cgroup that the runtime is to make.
    fn cgroup(&self, layout: &Layout, spec: &BoxSpec) -> Result<Cgroup, CgroupError> {
        match self.runtime {
            Runtime::Runc | Runtime::Crun => Cgroup::within(layout, &spec.name, &spec.limits()),
            // It reads its CPUs and its memory from there, and its boxes reach no cgroup.
            Runtime::Runsc => Ok(Cgroup::at(layout, &spec.name)),
        }
    }
}

impl Platform for Oci {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        cgroups_usable()?;
        let program = self.runtime.program();
        let version = installed(program, format!("install it (Debian: apt-get install {program})"))?;
        self.storage.map_or(Ok(()), Storage::probe)?;
        can_be_had(self.network)?;
        Ok(PlatformVersion {
            version,
            details: self
                .security
                .iter()
                .flat_map(Security::details)
                .chain(self.storage.into_iter().flat_map(Storage::details))
                .collect(),
        })
    }

    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
        // Once per run, and no part of start-up latency.
        let shared = shared_binary(spec)?;
        let requested = Instant::now();
        let directory = BoxDirectory::make_apart(spec, self.security.as_ref())?;
        let root = directory.shared_rootfs(spec, shared)?;
        let work = Work::make(self.storage, &directory.path, &root.path)?;
        if let Some(security) = &self.security {
            security.own_root(spec, &root.path)?;
            work.iter().try_for_each(|work| work.own(security, spec))?;
        }
        let layout = Layout::detect()?;
        let cgroup = self.cgroup(&layout, spec)?;
        let parts = Parts {
            cgroup: &cgroup.path(&layout),
            binary: root.binary.as_deref(),
            work: work.as_ref(),
        };
        let config = config::config(spec, &parts, self).to_string();
        fs::write(directory.path.join("config.json"), config)
            .map_err(BoxError::host("write the container's configuration"))?;
        let mut command = self.runtime.command(self.network, &cgroup);
        command
            .arg("--root")
            .arg(directory.path.join("state"))
            .args(["run", "--bundle"])
            .arg(&directory.path)
            .arg(&spec.name);
        let start = Start {
            command,
            directory,
            limits: None,
            build_id: spec.build_id(),
            hello_within: HELLO_DEADLINE,
            requested,
        };
        let mut made = ChildBox::over_pipes(start)?;
        made.use_cgroup(cgroup);
        if self.runtime == Runtime::Runc {
            // It copies between its own standard streams and the container's, crun does not.
            made.shorten()?;
        }
        made.connect(self.network, spec)?;
        Ok(Box::new(made))
    }

    fn supports_image(&self) -> Support {
        self.security.map_or(Ok(()), |security| security.supports_image())
    }

    fn supports_held_image(&self) -> Support {
        match self.runtime {
            Runtime::Runc | Runtime::Crun => Ok(()),
            Runtime::Runsc => Err(
                "gVisor cannot mount an image for a box inside it: choose runc or crun as the outer one, or omit the image",
            ),
        }
    }

    fn security(&self) -> Option<Security> {
        self.security
    }

    fn network(&self) -> Network {
        self.network
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
