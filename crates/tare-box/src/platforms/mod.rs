//! Platforms: one trait, one file per platform, and a registry, the only place
//! that knows them by name.

mod apart;
mod child;
mod disk;
mod docker;
mod elsewhere;
#[cfg(test)]
mod example;
#[cfg(test)]
mod example_tests;
mod fake;
mod guest;
mod libvirt;
mod lxc;
mod microvmm;
mod native;
mod nested;
mod nspawn;
mod oci;
mod podman;
pub(crate) mod program;
mod registry;
mod security;
mod service;
mod sockets;
mod ssh;
mod storage;
mod uml;
mod vm;
mod vmware;

pub(crate) use docker::daemon::want as want_own_engines;
pub use elsewhere::elsewhere;
pub use registry::{Entry, OpenError, REGISTRY, open, untested};

use crate::carry;
use crate::cgroup::{self, CgroupError, Layout, Limits, Meter};
use crate::link::{Link, LinkError};
use crate::net::{HostReach, NetError, Network};
pub(crate) use disk::{DEVICE as DISK, FILE_SYSTEM as DISK_FILE_SYSTEM};
use program::{installed, run, version_of};
use registry::Options;
pub use security::{Capabilities, Seccomp, Security};
pub(crate) use security::{Seen, broken, of_host};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
pub use storage::Storage;
pub(crate) use storage::{FOLDER as WORK_FOLDER, misplaced};
use tare_model::platform::{PlatformPath, Provisioning};
use tare_model::results::PlatformVersion;
use tare_model::size::InstanceType;

/// Why a platform cannot be used, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}; {fix}")]
pub struct Absent {
    /// What is missing.
    pub reason: String,
    /// How to get it.
    pub fix: String,
}

impl Absent {
    fn new(reason: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            fix: fix.into(),
        }
    }
}

/// Why a box could not be made, or could not be managed.
#[derive(Debug, thiserror::Error)]
pub enum BoxError {
    /// Its cgroup.
    #[error(transparent)]
    Cgroup(#[from] CgroupError),
    /// Its link.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// Its network.
    #[error(transparent)]
    Net(#[from] NetError),
    /// A file or a process of the host.
    #[error("cannot {what}: {source}")]
    Host {
        /// What was tried, with the path or name.
        what: String,
        /// The cause.
        source: std::io::Error,
    },
    /// Another box bears the name.
    #[error("there is a box named {0} already: destroy it first, or give another name")]
    Taken(String),
    /// The engine refused.
    #[error("{engine}: {message}")]
    Engine {
        /// The engine.
        engine: &'static str,
        /// Its words.
        message: String,
    },
    /// The agent did not come up; what the engine printed may say why.
    #[error("{source}{}", said(.console))]
    NoHello {
        /// What was seen of the link.
        source: LinkError,
        /// The last lines of the engine's messages or of the VM's console.
        console: String,
    },
}

fn said(console: &str) -> String {
    if console.is_empty() {
        String::new()
    } else {
        format!("; last words: {console}")
    }
}

impl BoxError {
    fn host(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Host { what, source }
    }

    /// Whether the user asked to stop.
    pub fn is_interruption(&self) -> bool {
        matches!(
            self,
            Self::Link(LinkError::Interrupted)
                | Self::NoHello {
                    source: LinkError::Interrupted,
                    ..
                }
        )
    }
}

/// What a box is to be.
#[derive(Debug, Clone)]
pub struct BoxSpec {
    /// Unique name, with the run's id: `tare-RUN-N`.
    pub name: String,
    /// The run's name: `tare-RUN`.
    pub run: String,
    /// CPUs and memory.
    pub instance: InstanceType,
    /// How the CPUs are granted.
    pub provisioning: Provisioning,
    /// CPUs of the host for a pinned box.
    pub pinned_set: Vec<u32>,
    /// Folder of the run, for the box's files.
    pub scratch: PathBuf,
    /// The tare binary.
    pub binary: PathBuf,
    /// Whether boxes are to be made in it, which takes more rights than work does.
    pub holds_boxes: bool,
}

impl BoxSpec {
    /// The limits in force for containers and processes.
    pub fn limits(&self) -> Limits {
        Limits {
            memory_bytes: Some(self.instance.memory_bytes),
            ..self.cpu_limits()
        }
    }

    /// The limits in force for a VMM's process: its memory is limited by the size of the VM.
    fn cpu_limits(&self) -> Limits {
        match self.provisioning {
            Provisioning::Vanilla => Limits {
                quota: Some(self.instance.cpus),
                ..Limits::default()
            },
            Provisioning::Pinned => Limits {
                cpuset: Some(self.pinned_set.clone()),
                ..Limits::default()
            },
        }
    }

    /// Takes the box's name and makes its folder.
    fn premises(&self) -> Result<Premises, BoxError> {
        let folder = self.scratch.join(&self.name);
        let failed = |source: std::io::Error| match source.kind() {
            std::io::ErrorKind::AlreadyExists => BoxError::Taken(self.name.clone()),
            _ => BoxError::host(format!("make {}", folder.display()))(source),
        };
        std::fs::create_dir_all(&self.scratch)
            .and_then(|()| std::fs::create_dir(&folder))
            .map_err(failed)?;
        Ok(Premises {
            name: self.name.clone(),
            folder,
            elsewhere: None,
            gone: false,
        })
    }

    /// The root of a box in its `folder`: it holds the binary and nothing else.
    fn rootfs(&self, folder: &Path) -> Result<PathBuf, BoxError> {
        let rootfs = folder.join("rootfs");
        std::fs::create_dir_all(&rootfs).map_err(BoxError::host(format!("make {}", rootfs.display())))?;
        self.place_binary(&rootfs.join("tare"))?;
        Ok(rootfs)
    }

    /// Puts the binary there: a link to the run's own copy, as an engine's image is
    /// shared by its containers, else a copy. The user's file is never linked, since
    /// root in a box may do what it likes with its own.
    fn place_binary(&self, target: &Path) -> Result<(), BoxError> {
        let is_ours = self.binary.starts_with(&self.scratch);
        if is_ours && std::fs::hard_link(&self.binary, target).is_ok() {
            return Ok(());
        }
        copy_binary(&self.binary, target)
    }
}

/// What is made on the host under a box's name: its folder and its cgroups.
/// Removed when dropped, whatever failed before there was a box.
struct Premises {
    /// Stem of the names of all its cgroups.
    name: String,
    folder: PathBuf,
    /// An empty folder that the engine makes elsewhere and may forget.
    elsewhere: Option<PathBuf>,
    gone: bool,
}

impl Premises {
    /// Ends what runs in the cgroups and removes all.
    fn clear(&mut self) -> Result<(), BoxError> {
        if self.gone {
            // The name may be another's by now.
            return Ok(());
        }
        cgroup::sweep(&self.name)?;
        let failed = |path: &Path| BoxError::host(format!("remove {}", path.display()));
        std::fs::remove_dir_all(&self.folder).map_err(failed(&self.folder))?;
        if let Some(elsewhere) = self.elsewhere.as_ref().filter(|folder| folder.exists()) {
            std::fs::remove_dir(elsewhere).map_err(failed(elsewhere))?;
        }
        self.gone = true;
        Ok(())
    }
}

impl Drop for Premises {
    fn drop(&mut self) {
        // What cannot be removed now is swept by the next start.
        let _ = self.clear();
    }
}

/// How the limits of a kind of box are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuotaView {
    /// Processes in the box see the host's clock and CPUs: their own readings count too.
    Inside,
    /// Only the host's counters tell the truth (a VM's clock runs on while its vCPU waits).
    HostOnly,
}

/// How a memory limit is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryView {
    /// What is below the limit can be touched, the limit itself cannot.
    Touch,
    /// The limit is the size of a machine: its firmware tells it, and it cannot be touched.
    Ram,
    /// The limit in force by the host: touching it would end the box, not a process in it.
    HostLimit,
}

/// What a platform needs of an outer box.
#[derive(Debug, Clone, Copy)]
pub struct InnerNeeds {
    /// Programs by which its boxes are made; they go in with their libraries.
    pub programs: &'static [&'static str],
    /// Other files that these look for.
    pub files: &'static [&'static str],
    /// Memory beyond that of the inner box: a kernel's share, the engine, the files carried in.
    pub memory_bytes: u64,
}

impl Default for InnerNeeds {
    fn default() -> Self {
        Self {
            programs: &[],
            files: &[],
            memory_bytes: 192 << 20,
        }
    }
}

/// A way to run the agent.
///
/// Call order: [`probe`](Platform::probe) at any time, without side effects on
/// boxes; then any number of [`launch`](Platform::launch). Boxes are made from
/// the main thread, one at a time: an engine's process is tied to the life of
/// the thread that started it.
pub trait Platform {
    /// Whether boxes can be made here, and by which versions.
    ///
    /// # Errors
    /// [`Absent`], with what to do about it.
    fn probe(&mut self) -> Result<PlatformVersion, Absent>;

    /// Makes a box with its limits in force and greets its agent.
    ///
    /// # Errors
    /// [`BoxError`]; nothing is left behind.
    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError>;

    /// Removes what a dead run left in this platform's engine, beyond cgroups
    /// and files, which are swept for all platforms alike. Returns what was removed.
    ///
    /// # Errors
    /// [`BoxError`]; an engine that is not there is no error.
    fn sweep(&mut self, _run: &str) -> Result<Vec<String>, BoxError> {
        Ok(Vec::new())
    }

    /// Removes what is kept between runs (images). Returns what was removed.
    ///
    /// # Errors
    /// [`BoxError`].
    fn clean(&mut self) -> Result<Vec<String>, BoxError> {
        Ok(Vec::new())
    }

    /// How this platform's CPU limits can be proven.
    fn quota_view(&self) -> QuotaView {
        QuotaView::Inside
    }

    /// How its memory limit can be proven.
    fn memory_view(&self) -> MemoryView {
        MemoryView::Touch
    }

    /// What a box costs in time, as far as is known beforehand: the time to make
    /// one and until the host is quiet again, and the length of a trial over its aim.
    fn cost(&self) -> (Duration, f64) {
        (Duration::from_millis(100), 1.1)
    }

    /// Whether boxes can be made here by what is carried in from the host, and by which versions.
    ///
    /// # Errors
    /// [`Absent`], with what to do about it.
    fn probe_carried(&mut self) -> Result<PlatformVersion, Absent> {
        self.probe()
    }

    /// What a box must have for boxes of this platform to be made in it.
    fn inner_needs(&self) -> InnerNeeds {
        InnerNeeds::default()
    }

    /// Numbers within a box of these CPUs of the host.
    fn cpus_inside(&self, set: &[u32]) -> Vec<u32> {
        set.to_vec()
    }

    /// What sets its boxes apart from the host, where options of its path tell.
    fn security(&self) -> Option<Security> {
        None
    }

    /// Where the folder lies in which commands start, where an option of its path tells.
    fn storage(&self) -> Option<Storage> {
        None
    }

    /// Whether boxes have the host's own files, or those of the host that they are.
    fn has_host_files(&self) -> bool {
        false
    }

    /// Whether its boxes are hosts of their own: any platform can be had in them
    /// with the engine that is there, and limits are in force only further in.
    fn is_host(&self) -> bool {
        false
    }
}

/// A box around another: what its limits are and how they can be proven.
#[derive(Debug)]
pub struct Layer {
    /// The path down to it.
    pub path: PlatformPath,
    /// How its limits can be proven.
    pub views: (QuotaView, MemoryView),
    /// What it was to be.
    pub spec: BoxSpec,
    /// Memory of it that what is around the inner box may have taken.
    pub reserved_bytes: u64,
}

/// What is done with each box around another.
pub type OnLayer<'a> = dyn FnMut(&mut dyn RunningBox, &Layer) -> Result<(), LinkError> + 'a;

/// A box with an agent in it.
pub trait RunningBox {
    /// The link to its agent.
    fn link(&mut self) -> &mut Link;

    /// Start-up latency: from the request to the agent's hello.
    fn hello_after(&self) -> Duration;

    /// Names that the command line or a cgroup of every process bears that is
    /// there because of the box; none where they are on another host.
    fn marks(&self) -> Vec<String>;

    /// The host's counters of its CPU usage; `None` where the host cannot tell.
    fn meter(&self) -> Option<Meter>;

    /// Acts on each box that this one is in, the outermost first. They answer as
    /// long as nothing is asked of this one.
    ///
    /// # Errors
    /// That of the act.
    fn on_each_outer(&mut self, _act: &mut OnLayer<'_>) -> Result<(), LinkError> {
        Ok(())
    }

    /// CPUs of the host that its processes may run on; `None` where the host cannot tell.
    fn host_allowed_cpus(&self) -> Option<Vec<u32>> {
        None
    }

    /// The host's memory limit in force, in bytes; `None` where there is none or
    /// the host cannot tell.
    fn host_memory_limit(&self) -> Option<u64> {
        None
    }

    /// Its address, at which other boxes of the run reach it; `None` without a network.
    /// In the host's own network: the host to itself.
    fn address(&self) -> Option<IpAddr> {
        None
    }

    /// How the host reaches a box with an address.
    fn host_reach(&self) -> HostReach {
        HostReach::Direct
    }

    /// Folder of the host that is the box's root, where files are better put by
    /// the host than over the link.
    fn host_root(&self) -> Option<&Path> {
        None
    }

    /// Brings a file into the box.
    ///
    /// # Errors
    /// [`BoxError`].
    fn carry(&mut self, path: &str, mode: u32, content: &[u8], within: Duration) -> Result<(), BoxError> {
        match self.host_root() {
            Some(root) => carry::put(root, path, mode, content)
                .map_err(BoxError::host(format!("carry {path} into the box"))),
            None => Ok(self.link().write_file(path, mode, content, within)?),
        }
    }

    /// Stops the box, so that it uses no CPU.
    ///
    /// # Errors
    /// [`BoxError`].
    fn freeze(&mut self) -> Result<(), BoxError>;

    /// Lets a stopped box go on.
    ///
    /// # Errors
    /// [`BoxError`].
    fn thaw(&mut self) -> Result<(), BoxError>;

    /// Ends the box and removes all that was made for it, whatever its state.
    ///
    /// # Errors
    /// [`BoxError`] if something is left.
    fn destroy(&mut self) -> Result<(), BoxError>;
}

/// Capabilities that a container's first process needs to make containers in turn,
/// beyond those that containers usually have.
const TO_HOLD_BOXES: [&str; 3] = ["CAP_SYS_ADMIN", "CAP_NET_ADMIN", "CAP_SYS_PTRACE"];

/// Time that an agent has to answer after its box was requested. A VM without
/// hardware help boots in two seconds on a quiet host.
pub const HELLO_DEADLINE: Duration = Duration::from_secs(60);

/// Time for short requests to an agent.
pub const ANSWER_DEADLINE: Duration = Duration::from_secs(20);

/// Time for a box to end by itself once its link has ended.
const END_DEADLINE: Duration = Duration::from_secs(10);

/// A path as it is told to a program that runs elsewhere, without links: programs
/// that tell it again tell it so.
fn canonical(path: &Path) -> Result<PathBuf, BoxError> {
    path.canonicalize()
        .map_err(BoxError::host(format!("look up {}", path.display())))
}

fn copy_binary(binary: &Path, target: &Path) -> Result<(), BoxError> {
    let what = format!("copy {} to {}", binary.display(), target.display());
    std::fs::copy(binary, target)
        .map(drop)
        .map_err(BoxError::host(what))
}

/// What every platform that makes cgroups by itself needs: root, and a hierarchy.
fn cgroups_usable() -> Result<Layout, Absent> {
    if !rustix::process::geteuid().is_root() {
        return Err(Absent::new(
            "not root, so that no cgroup can be made to set limits",
            "run tare as root, for example with sudo",
        ));
    }
    Layout::detect().map_err(|e| Absent::new(e.to_string(), "see 'tare doctor'"))
}

/// What platforms need that ask for nothing but limits: root, or a cgroup of
/// version 2 that was delegated to this user.
fn limits_usable() -> Result<Layout, Absent> {
    match Layout::detect() {
        Ok(layout @ Layout::V2(_)) if !rustix::process::geteuid().is_root() => {
            cgroup::stay_below_own().map(|()| layout).map_err(|e| {
                Absent::new(
                    format!("not root, and no cgroup is delegated to this user: {e}"),
                    "run tare as root, or in a cgroup of your own: systemd-run --user --scope -p Delegate=yes tare ...",
                )
            })
        }
        _ => cgroups_usable(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_model::size::Cpus;

    /// A box for tests of what drivers write.
    pub(super) fn spec() -> BoxSpec {
        BoxSpec {
            name: "tare-0-1".to_owned(),
            run: "tare-0".to_owned(),
            instance: InstanceType {
                cpus: Cpus::from_milli(1500),
                memory_bytes: 512 << 20,
            },
            provisioning: Provisioning::Vanilla,
            pinned_set: Vec::new(),
            scratch: PathBuf::new(),
            binary: PathBuf::new(),
            holds_boxes: false,
        }
    }

    #[test]
    fn options_that_do_not_exist_are_refused() {
        for path in [
            "firecracker?x=1",
            "cloud-hypervisor?kernel=6.1",
            "vmware?type=esx",
            "vmware?types=ws",
        ] {
            let opened = open(&path.parse().unwrap(), Path::new("/none"));
            assert!(matches!(opened, Err(OpenError::Option { .. })), "{path}");
        }
        assert!(open(&"vmware?type=player".parse().unwrap(), Path::new("/none")).is_ok());
    }

    #[test]
    fn a_network_that_a_platform_cannot_give_is_refused_with_those_that_it_can() {
        let refused = |path: &str, able: &str| match open(&path.parse().unwrap(), Path::new("/none")) {
            Err(OpenError::Option { detail, .. }) => assert!(detail.ends_with(able), "{path}: {detail}"),
            other => panic!("{path}: {:?}", other.err()),
        };
        refused(
            "runc?network=internet",
            "choose one of none, host, bridge, macvlan",
        );
        refused(
            "docker?network=macvlan",
            "choose one of none, host, bridge, published",
        );
        refused("native?network=none", "choose one of host");
        refused("runsc?network=bridge", "choose one of none, host");
        refused("vm?network=host", "choose one of none, bridge");
        refused("libvirt?network=bridge", "choose one of none");
        refused(
            "vm/runc?network=bridge",
            "choose one of network=none, network=host",
        );
        for path in [
            "native?network=host",
            "docker?network=bridge",
            "vm?network=bridge/runc?network=host",
        ] {
            assert!(open(&path.parse().unwrap(), Path::new("/none")).is_ok(), "{path}");
        }
    }

    #[test]
    fn a_path_is_untested_if_one_of_its_platforms_is() {
        let tested = |path: &str| !untested(&path.parse().unwrap());
        assert!(tested("vm/runc") && !tested("vmware") && !tested("firecracker/runc"));
    }
}
