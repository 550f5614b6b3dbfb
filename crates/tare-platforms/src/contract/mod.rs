//! What holds between platforms and all that use them: the traits of a platform
//! and of a running box, what a box is to be and why there is none.
//!
//! It knows no platform. Whoever makes boxes or works with them rests on it.

mod error;
mod image;
pub(crate) mod security;
mod spec;
pub(crate) mod storage;

pub use error::{Absent, BoxError};
pub use image::BoxImage;
pub use security::{Capabilities, Seccomp, Security};
pub use spec::BoxSpec;
pub use storage::Storage;

use crate::architecture::Architecture;
use crate::link::{Link, LinkError};
use schemars::JsonSchema;
use serde::Serialize;
use std::fs;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;
use tare_host::carry;
use tare_host::cgroup::{self, Meter};
use tare_host::net::{HostReach, Network};
use tare_model::platform::PlatformPath;
use tare_model::results::PlatformVersion;

/// Time that an agent has to answer after its box was requested. A VM without
/// hardware help boots in two seconds on a quiet host.
pub const HELLO_DEADLINE: Duration = Duration::from_secs(60);

/// Time for short requests to an agent.
pub const ANSWER_DEADLINE: Duration = Duration::from_secs(20);

/// The name of a file that is on its way into a box, in the folder that the host shares with it.
const CARRIED: &str = "carried";

/// Time for a box to end by itself once its link has ended.
pub(crate) const END_DEADLINE: Duration = Duration::from_secs(10);

/// Whether a platform supports something, or why not and, where something can be done, what.
pub type Support = Result<(), &'static str>;

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

/// How the memory of a machine is backed by the host's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GuestMemory {
    /// All of it is there before the guest starts, not each page when the guest first touches it.
    pub prealloc: bool,
    /// In huge pages that the host has reserved, not in those that it chooses.
    pub hugepages: bool,
}

impl GuestMemory {
    pub(crate) const PREALLOC: &str = "prealloc";
    pub(crate) const HUGE_PAGES: &str = "hugepages";
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

/// What became of that which platforms keep between runs, and crashed runs left: what `tare clean --json`
/// prints.
#[derive(Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Cleaned {
    /// What was removed.
    pub removed: Vec<String>,
    /// What is in use and was left, each with who uses it.
    pub left: Vec<String>,
}

/// Why boxes cannot have CPUs of their own, and what to do.
pub(crate) const NO_CPU_SETS: &str = "this user has no cpuset controller: have systemd delegate it (docs/platforms.md, Ordinary users), or use --provisioning vanilla";

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

    /// Removes what is kept between runs (images), but not what the runs `alive`, of other
    /// state folders, may use.
    ///
    /// # Errors
    /// [`BoxError`].
    fn clean(&mut self, _alive: &[String]) -> Result<Cleaned, BoxError> {
        Ok(Cleaned::default())
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

    /// Whether its boxes can be given a weight on the CPU that counts beside all else on the
    /// host. Known once it was probed.
    fn supports_weight(&self) -> Support {
        cgroup::supports_weight()
    }

    /// Whether its boxes can have CPUs of their own. Known once it was probed.
    fn supports_pinning(&self) -> Support {
        if self.is_in_own_cgroup() && !cgroup::has_cpu_sets() {
            return Err(NO_CPU_SETS);
        }
        Ok(())
    }

    /// Whether its boxes are always in cgroups of this process, and share the limits on these.
    fn is_in_own_cgroup(&self) -> bool {
        true
    }

    /// What sets its boxes apart from the host, where options of its path tell.
    fn security(&self) -> Option<Security> {
        None
    }

    /// Where the folder lies in which commands start, where an option of its path tells.
    fn storage(&self) -> Option<Storage> {
        None
    }

    /// How the memory of its machines is backed, where options of its path choose that.
    fn memory(&self) -> Option<GuestMemory> {
        None
    }

    /// The network that its boxes have.
    fn network(&self) -> Network {
        Network::None
    }

    /// The instructions that its boxes run.
    fn architecture(&self) -> Architecture {
        Architecture::HERE
    }

    /// Whether its boxes can have an image as their root.
    fn supports_image(&self) -> Support {
        Err("its driver does not support images as root: omit this platform or the image")
    }

    /// The same of its boxes in other boxes.
    fn supports_image_inside(&self) -> Support {
        self.supports_image()
    }

    /// Whether its boxes can hold an image for boxes in them.
    fn supports_held_image(&self) -> Support {
        Err(
            "its outer box cannot pass an image to the inner one: choose native, docker, podman, lxc, runc, crun, containerd, nspawn, vm or libvirt as the outer one, or omit this platform or the image",
        )
    }

    /// Whether boxes without an image have the host's own files, or those of the host that they are.
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

    /// Whether what it tells of time can be held against the host's clock: not on a test bed,
    /// whose work is made up, nor on another host, to which the way may take any time.
    fn keeps_time(&self) -> bool {
        true
    }

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

    /// The host's address in the network of the box, at which the box reaches it; `None`
    /// without a network, and where the kernel keeps the two apart.
    fn host_address(&self) -> Option<IpAddr> {
        None
    }

    /// Folder of the host that is the box's root, where files are better put by
    /// the host than over the link.
    fn host_root(&self) -> Option<&Path> {
        None
    }

    /// Folder of the host that a machine sees beside its root, out of which its agent copies files
    /// that the link would not take.
    fn shared_folder(&self) -> Option<&Path> {
        None
    }

    /// Brings a file into the box, or makes a folder there, whose path ends with a slash.
    ///
    /// # Errors
    /// [`BoxError`].
    fn carry(&mut self, path: &str, mode: u32, content: &[u8], within: Duration) -> Result<(), BoxError> {
        let failed = || BoxError::host(format!("carry {path} into the box"));
        if let Some(root) = self.host_root() {
            return carry::put(root, path, mode, content).map_err(failed());
        }
        let shared = self
            .shared_folder()
            .filter(|_| !carry::is_folder(Path::new(path)));
        let Some(shared) = shared.map(Path::to_owned) else {
            return Ok(self.link().write_file(path, mode, content, within)?);
        };
        carry::put(&shared, &format!("/{CARRIED}"), 0o600, content).map_err(failed())?;
        let taken = self.link().take_file(CARRIED, path, mode, within);
        fs::remove_file(shared.join(CARRIED)).map_err(failed())?;
        Ok(taken?)
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

    /// Stops the box for a moment in the middle of what its agent was asked; the engine
    /// need not know of it.
    ///
    /// # Errors
    /// [`BoxError`].
    fn pause(&mut self) -> Result<(), BoxError> {
        self.freeze()
    }

    /// Lets a paused box go on where it was. Nothing is asked of its agent, which may
    /// owe an answer.
    ///
    /// # Errors
    /// [`BoxError`].
    fn resume(&mut self) -> Result<(), BoxError> {
        self.thaw()
    }

    /// Ends the box and removes all that was made for it, whatever its state.
    ///
    /// # Errors
    /// [`BoxError`] if something is left.
    fn destroy(&mut self) -> Result<(), BoxError>;
}
