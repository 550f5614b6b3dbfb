//! Platforms: one trait, one file per platform, and the only place that knows
//! them by name.

mod child;
mod docker;
mod fake;
mod lxc;
mod native;
mod nested;
mod nspawn;
mod oci;
mod podman;
mod uml;
mod vm;

use crate::cgroup::{CgroupError, Limits, Meter};
use crate::link::{Link, LinkError};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tare_model::platform::{PlatformPath, PlatformSegment, Provisioning};
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
    /// A file or a process of the host.
    #[error("cannot {what}: {source}")]
    Host {
        /// What was tried, with the path or name.
        what: String,
        /// The cause.
        source: std::io::Error,
    },
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

    fn folder(&self) -> Result<PathBuf, BoxError> {
        let folder = self.scratch.join(&self.name);
        std::fs::create_dir_all(&folder).map_err(BoxError::host(format!("make {}", folder.display())))?;
        Ok(folder)
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
    fn sweep(&mut self, run: &str) -> Result<Vec<String>, BoxError>;

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

    /// Programs that boxes are made by, where these and their libraries are all
    /// that is needed to make boxes within a box.
    fn programs(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Numbers within a box of these CPUs of the host.
    fn cpus_inside(&self, set: &[u32]) -> Vec<u32> {
        set.to_vec()
    }

    /// Whether boxes have the host's own files.
    fn has_host_files(&self) -> bool {
        false
    }
}

/// A box with an agent in it.
pub trait RunningBox {
    /// The link to its agent.
    fn link(&mut self) -> &mut Link;

    /// Start-up latency: from the request to the agent's hello.
    fn hello_after(&self) -> Duration;

    /// Names that the command line or a cgroup of every process bears that is
    /// there because of the box.
    fn marks(&self) -> Vec<String>;

    /// The host's counters of its CPU usage; `None` where the host cannot tell.
    fn meter(&self) -> Option<Meter>;

    /// CPUs of the host that its processes may run on; `None` where the host cannot tell.
    fn host_allowed_cpus(&self) -> Option<Vec<u32>> {
        None
    }

    /// The host's memory limit in force, in bytes; `None` where there is none or
    /// the host cannot tell.
    fn host_memory_limit(&self) -> Option<u64> {
        None
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

/// Time that an agent has to answer after its box was requested. A VM without
/// hardware help boots in two seconds on a quiet host.
pub const HELLO_DEADLINE: Duration = Duration::from_secs(60);

/// Time for short requests to an agent.
pub const ANSWER_DEADLINE: Duration = Duration::from_secs(20);

/// Time for a box to end by itself once its link has ended.
const END_DEADLINE: Duration = Duration::from_secs(10);

/// A platform's entry in the registry.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name in paths.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Whether it measures anything real.
    pub real: bool,
    /// Whether it is part of a study that names no platforms.
    pub by_default: bool,
    /// Whether it can be the inner one of a path.
    pub inner: bool,
}

/// Every platform.
pub const REGISTRY: [Entry; 11] = [
    Entry {
        name: "native",
        about: "a process in a cgroup of its own",
        real: true,
        by_default: true,
        inner: false,
    },
    Entry {
        name: "docker",
        about: "a Docker container, by the engine's API",
        real: true,
        by_default: true,
        inner: false,
    },
    Entry {
        name: "podman",
        about: "a Podman container, by its service's API",
        real: true,
        by_default: false,
        inner: false,
    },
    Entry {
        name: "lxc",
        about: "an LXC system container",
        real: true,
        by_default: true,
        inner: false,
    },
    Entry {
        name: "runc",
        about: "a container by runc, the runtime below Docker, without an engine",
        real: true,
        by_default: false,
        inner: true,
    },
    Entry {
        name: "crun",
        about: "a container by crun",
        real: true,
        by_default: false,
        inner: true,
    },
    Entry {
        name: "runsc",
        about: "a gVisor sandbox: a kernel in user space, by runsc",
        real: true,
        by_default: false,
        inner: false,
    },
    Entry {
        name: "nspawn",
        about: "a container by systemd-nspawn",
        real: true,
        by_default: false,
        inner: false,
    },
    Entry {
        name: "vm",
        about: "a QEMU virtual machine (KVM where it works, else TCG)",
        real: true,
        by_default: true,
        inner: false,
    },
    Entry {
        name: "uml",
        about: "User-Mode Linux: a kernel as a process of the host",
        real: true,
        by_default: false,
        inner: false,
    },
    Entry {
        name: "fake",
        about: "a scripted test bed: costs, failures and hangs, no real work",
        real: false,
        by_default: false,
        inner: false,
    },
];

/// Why a platform path cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// No platform has this name.
    #[error("unknown platform '{0}': the platforms are {names}; 'tare doctor' tells which can run here", names = names())]
    Unknown(String),
    /// An inner platform that needs more than its programs.
    #[error(
        "platform '{path}': {inner} cannot run in another box: the inner ones are {possible}",
        possible = inner_names()
    )]
    Nested {
        /// The path.
        path: PlatformPath,
        /// The inner platform.
        inner: String,
    },
    /// An option that the platform does not have, or a bad value.
    #[error("platform '{path}': {detail}")]
    Option {
        /// The path.
        path: PlatformPath,
        /// What is wrong and what would be right.
        detail: String,
    },
}

fn names() -> String {
    REGISTRY.map(|entry| entry.name).join(", ")
}

fn inner_names() -> String {
    let inner = REGISTRY.iter().filter(|entry| entry.inner);
    inner.map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}

/// Opens the platform of a path, with its options checked. Touches nothing.
///
/// # Errors
/// [`OpenError`].
pub fn open(path: &PlatformPath, cache: &Path) -> Result<Box<dyn Platform>, OpenError> {
    let (first, below) = path.split_first();
    let outer = single(path, first, cache)?;
    let Some(inner_path) = below else {
        return Ok(outer);
    };
    let name = &inner_path.split_first().0.name;
    if !REGISTRY.iter().any(|entry| entry.inner && entry.name == name) {
        return Err(match REGISTRY.iter().find(|entry| entry.name == name) {
            Some(_) => OpenError::Nested {
                path: path.clone(),
                inner: name.clone(),
            },
            None => OpenError::Unknown(name.clone()),
        });
    }
    let inner = open(&inner_path, cache)?;
    Ok(Box::new(nested::Nested {
        outer,
        inner,
        inner_path,
    }))
}

fn single(
    path: &PlatformPath,
    segment: &PlatformSegment,
    cache: &Path,
) -> Result<Box<dyn Platform>, OpenError> {
    let option = |detail: String| OpenError::Option {
        path: path.clone(),
        detail,
    };
    let options = Options(segment.options.clone());
    match segment.name.as_str() {
        "native" => options
            .none()
            .map(|()| Box::new(native::Native) as Box<dyn Platform>),
        "docker" => docker::Docker::open(options).map(|docker| Box::new(docker) as Box<dyn Platform>),
        "podman" => options
            .none()
            .map(|()| Box::new(podman::Podman::open(cache)) as Box<dyn Platform>),
        "runc" => oci(options, oci::Oci::Runc),
        "crun" => oci(options, oci::Oci::Crun),
        "runsc" => oci(options, oci::Oci::Runsc),
        "uml" => options.none().map(|()| Box::new(uml::Uml) as Box<dyn Platform>),
        "nspawn" => options
            .none()
            .map(|()| Box::new(nspawn::Nspawn) as Box<dyn Platform>),
        "lxc" => options.none().map(|()| Box::new(lxc::Lxc) as Box<dyn Platform>),
        "vm" => vm::Vm::open(options, cache).map(|vm| Box::new(vm) as Box<dyn Platform>),
        "fake" => fake::Fake::open(options).map(|fake| Box::new(fake) as Box<dyn Platform>),
        other => return Err(OpenError::Unknown(other.to_owned())),
    }
    .map_err(option)
}

fn oci(options: Options, runtime: oci::Oci) -> Result<Box<dyn Platform>, String> {
    options.none().map(|()| Box::new(runtime) as Box<dyn Platform>)
}

/// Options of a path's segment, taken one by one; what is left is unknown.
struct Options(std::collections::BTreeMap<String, String>);

impl Options {
    /// Takes an option and reads it.
    fn take<T: std::str::FromStr>(&mut self, key: &str) -> Result<Option<T>, String> {
        let Some(value) = self.0.remove(key) else {
            return Ok(None);
        };
        value
            .parse()
            .map(Some)
            .map_err(|_| format!("'{value}' is not a value of option '{key}'"))
    }

    /// Takes an option that has a few values, each known by its name.
    fn choose<T: Copy>(
        &mut self,
        key: &str,
        all: &[T],
        name: fn(T) -> &'static str,
    ) -> Result<Option<T>, String> {
        let Some(value) = self.0.remove(key) else {
            return Ok(None);
        };
        let found = all.iter().find(|one| name(**one) == value);
        found.copied().map(Some).ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
            format!(
                "'{value}' is not a value of option '{key}': choose one of {}",
                names.join(", ")
            )
        })
    }

    /// Checks that nothing is left.
    fn none(self) -> Result<(), String> {
        match self.0.into_keys().next() {
            Some(key) => Err(format!("there is no option '{key}'")),
            None => Ok(()),
        }
    }
}

/// The first line that a program prints when asked for its version.
fn version_of(program: &str, argument: &str) -> Option<String> {
    let mut command = std::process::Command::new(program);
    if std::env::var_os("PATH").is_none() {
        // The first process of a VM has none.
        command.env("PATH", crate::carry::PATH);
    }
    let output = command
        .arg(argument)
        .stdin(std::process::Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .next()
        .map(|line| line.trim().to_owned())
        .filter(|line| !line.is_empty())
}

/// Copies the binary: a hard link would be cheaper, but the state folder may be
/// on another file system, and every box shall have its own file alike.
fn copy_binary(binary: &Path, target: &Path) -> Result<(), BoxError> {
    let what = format!("copy {} to {}", binary.display(), target.display());
    std::fs::copy(binary, target)
        .map(drop)
        .map_err(BoxError::host(what))
}

/// What every platform that makes cgroups by itself needs: root, and a hierarchy.
fn cgroups_usable() -> Result<crate::cgroup::Layout, Absent> {
    if !rustix::process::geteuid().is_root() {
        return Err(Absent::new(
            "not root, so that no cgroup can be made to set limits",
            "run tare as root, for example with sudo",
        ));
    }
    crate::cgroup::Layout::detect().map_err(|e| Absent::new(e.to_string(), "see 'tare doctor'"))
}
