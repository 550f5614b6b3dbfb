//! OCI runtimes by a bundle of one file: runc, crun, runsc (gVisor), and runc by containerd, in the
//! foreground on pipes.

mod config;
mod containerd;

use super::apart::can_be_had;
use super::child::{ChildBox, Start};
use super::contract::{
    Absent, BoxError, BoxSpec, Capabilities, HELLO_DEADLINE, InnerNeeds, MemoryView, Platform, QuotaView,
    RunningBox, Seccomp, Security, Storage, Support,
};
use super::directory::{BoxDirectory, canonical};
use super::options::Options;
use super::probe::{cgroups_usable, installed};
use super::security::Offer;
use super::shared::shared_binary;
use super::storage::Work;
use config::{CONFIG, Parts};
use std::fs;
use std::path::{Path, PathBuf};
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
    Containerd,
}

impl Runtime {
    /// Whether it puts a kernel of its own between the box and the host.
    fn is_sandbox(self) -> bool {
        self == Self::Runsc
    }

    /// The networks that its boxes can have.
    fn networks(self) -> &'static [Network] {
        if self.is_sandbox() {
            // It takes over a network that is there before it starts, and no later one.
            return &[Network::None, Network::Host];
        }
        &Network::OF_TOOLS
    }

    /// Where its boxes' work folder can lie. gVisor mounts no file system of the host's kernel.
    fn storages(self) -> &'static [Storage] {
        if self.is_sandbox() {
            return &Storage::OF_CONTAINERS;
        }
        &Storage::OF_BUNDLES
    }

    const fn program(self) -> &'static str {
        match self {
            Self::Runc | Self::Containerd => "runc",
            Self::Crun => "crun",
            Self::Runsc => "runsc",
        }
    }

    /// Version of the runtime, or of the engine above it with that of the runtime as a detail.
    fn version(self) -> Result<PlatformVersion, Absent> {
        let program = self.program();
        let runtime = installed(program, format!("install it (Debian: apt-get install {program})"))?;
        if self != Self::Containerd {
            return Ok(PlatformVersion {
                version: runtime,
                ..PlatformVersion::default()
            });
        }
        Ok(PlatformVersion {
            version: containerd::version()?,
            details: [("runtime".to_owned(), runtime)].into(),
        })
    }

    /// Runs the bundle in a folder as the box of this name, in the foreground.
    fn run(self, network: Network, cgroup: &Cgroup, bundle: &Path, name: &str) -> Result<Command, BoxError> {
        if self == Self::Containerd {
            return containerd::run(bundle, name);
        }
        let mut command = self.command(network, cgroup);
        command
            .arg("--root")
            .arg(bundle.join("state"))
            .args(["run", "--bundle"])
            .arg(bundle)
            .arg(name);
        Ok(command)
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
    /// Where runs have their folders.
    state: PathBuf,
}

impl Oci {
    pub(super) fn open(mut options: Options, runtime: Runtime, state: &Path) -> Result<Self, String> {
        let security = match runtime {
            Runtime::Runc | Runtime::Containerd => Some(Security::take(&mut options, &SECURITY)?),
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
            state: state.to_owned(),
        })
    }
}

impl Oci {
    /// The cgroup that the runtime is to make.
    fn cgroup(&self, layout: &Layout, spec: &BoxSpec) -> Result<Cgroup, CgroupError> {
        if self.runtime.is_sandbox() {
            // It reads its CPUs and its memory from there, and its boxes reach no cgroup.
            return Ok(Cgroup::at(layout, &spec.name));
        }
        Cgroup::within(layout, &spec.name, &spec.limits())
    }
}

impl Platform for Oci {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        cgroups_usable()?;
        let mut version = self.runtime.version()?;
        self.storage.map_or(Ok(()), Storage::probe)?;
        can_be_had(self.network)?;
        let security = self.security.iter().flat_map(Security::details);
        let storage = self.storage.into_iter().flat_map(Storage::details);
        version.details.extend(security.chain(storage));
        Ok(version)
    }

    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
        // Once per run, and no part of start-up latency.
        let shared = shared_binary(spec)?;
        let requested = Instant::now();
        let mut directory = BoxDirectory::make_apart(spec, self.security.as_ref())?;
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
            root: &canonical(&root.path)?,
            binary: root.binary.as_deref(),
            work: work.as_ref(),
        };
        let config = config::config(spec, &parts, self).to_string();
        fs::write(directory.path.join(CONFIG), config)
            .map_err(BoxError::host("write the container's configuration"))?;
        let command = self
            .runtime
            .run(self.network, &cgroup, &directory.path, &spec.name)?;
        if self.runtime == Runtime::Containerd {
            directory.remove_from_engine = Some(containerd::remove);
        }
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
        if self.runtime == Runtime::Containerd && made.processes().is_empty() {
            return Err(containerd::elsewhere());
        }
        if matches!(self.runtime, Runtime::Runc | Runtime::Containerd) {
            // They copy between their own standard streams and the container's, crun does not.
            made.shorten()?;
        }
        made.connect(self.network, spec)?;
        Ok(Box::new(made))
    }

    fn supports_image(&self) -> Support {
        self.security.map_or(Ok(()), |security| security.supports_image())
    }

    fn supports_held_image(&self) -> Support {
        if self.runtime.is_sandbox() {
            return Err(
                "gVisor cannot mount an image for a box inside it: choose runc or crun as the outer one, or omit the image",
            );
        }
        Ok(())
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
                // Only where it runs already.
                Runtime::Containerd => &[],
            },
            ..InnerNeeds::default()
        }
    }

    fn quota_view(&self) -> QuotaView {
        if self.runtime.is_sandbox() {
            // gVisor's kernel accounts by a clock of its own.
            return QuotaView::HostOnly;
        }
        QuotaView::Inside
    }

    fn memory_view(&self) -> MemoryView {
        if self.runtime.is_sandbox() {
            return MemoryView::HostLimit;
        }
        MemoryView::Touch
    }

    fn sweep(&mut self, run: &str) -> Result<Vec<String>, BoxError> {
        if self.runtime == Runtime::Containerd {
            return containerd::sweep(run, &self.state.join(run));
        }
        Ok(Vec::new())
    }
}
