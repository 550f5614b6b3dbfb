//! What every platform promises, as checks on real boxes: the contract of
//! [`Platform`](crate::Platform) and
//! [`RunningBox`](crate::RunningBox) that a driver has to keep.
//!
//! A check knows no platform by name. What differs between platforms it takes
//! from the traits, and from what the host shows of a box.

mod commands;
mod confined;
mod context;
mod ends;
mod files;
mod forged;
mod hold;
mod hostile;
mod limits;
mod lives;
mod network;
mod talk;
mod traces;

pub use hold::hold;

use crate::OpenError;
use crate::contract::{Absent, BoxError, Platform};
use crate::state::{Run, StateError};
use context::CheckContext;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tare_host::interrupt;
use tare_model::platform::PlatformPath;
use tare_model::results::PlatformVersion;

/// One promise.
#[derive(Clone, Copy, JsonSchema, Serialize)]
pub struct Check {
    #[serde(rename = "check")]
    pub name: &'static str,
    pub promise: &'static str,
    #[serde(skip)]
    run: fn(&mut CheckContext<'_>) -> Result<Kept, Broken>,
}

/// Every check, in the order in which they are run: those that share a box come
/// first, and last the one that looks for what all the others left.
pub const CHECKS: &[Check] = &[
    Check {
        name: "hello",
        promise: "the agent answers repeatedly, with this build and its process id",
        run: commands::hello,
    },
    Check {
        name: "facts",
        promise: "CPUs, memory and kernel as the box sees them are plausible",
        run: commands::facts,
    },
    Check {
        name: "security",
        promise: "system calls are filtered, capabilities granted and users mapped as requested",
        run: commands::security,
    },
    Check {
        name: "work-folder",
        promise: "commands start in the requested work folder and can write there",
        run: commands::work_folder,
    },
    Check {
        name: "environment",
        promise: "a command gets exactly the given environment and folder, the agent nothing from the host's",
        run: commands::environment,
    },
    Check {
        name: "exit-codes",
        promise: "codes from 0 to 255 arrive as they are",
        run: commands::exit_codes,
    },
    Check {
        name: "signals",
        promise: "death by a signal is reported as such, and the box survives",
        run: commands::signals,
    },
    Check {
        name: "missing-program",
        promise: "a missing program or folder is refused by name",
        run: commands::missing_program,
    },
    Check {
        name: "timeout",
        promise: "a command that exceeds its time is ended with its children, grandchildren and orphans",
        run: commands::timeout,
    },
    Check {
        name: "orphans",
        promise: "what a command leaves running ends with it",
        run: commands::orphans,
    },
    Check {
        name: "output",
        promise: "32 MiB of arbitrary bytes arrive, and excess bytes are counted exactly",
        run: commands::output,
    },
    Check {
        name: "files",
        promise: "10 MiB of random bytes go in and come out unchanged",
        run: files::round_trip,
    },
    Check {
        name: "file-modes",
        promise: "a file gets the requested mode, even if it existed before",
        run: files::modes,
    },
    Check {
        name: "file-refusals",
        promise: "missing, too long and unwritable files are refused by path",
        run: files::refusals,
    },
    Check {
        name: "file-names",
        promise: "no file name leads out of the box or breaks the link",
        run: files::names,
    },
    Check {
        name: "host-files",
        promise: "a hostile command can neither see nor write files and disks of the host",
        run: confined::host_files,
    },
    Check {
        name: "closed",
        promise: "files of a box are closed to other users of the host",
        run: confined::closed,
    },
    Check {
        name: "quota",
        promise: "the CPU quota and the memory limit are enforced",
        run: limits::quota,
    },
    Check {
        name: "pinned",
        promise: "the CPU set and the memory limit are enforced",
        run: limits::pinned,
    },
    Check {
        name: "weight",
        promise: "a box gets nearly all of its CPU, even if others compete for it",
        run: limits::weight,
    },
    Check {
        name: "network",
        promise: "boxes reach a box at its address, the host as far as its network allows; one without a network has only lo",
        run: network::network,
    },
    Check {
        name: "closed-network",
        promise: "the run's bridge leads boxes to no other network of the host and adds no routes to the host",
        run: network::closed,
    },
    Check {
        name: "freeze",
        promise: "a frozen box uses no CPU and continues after thawing; it can be removed frozen",
        run: lives::freeze,
    },
    Check {
        name: "killed-agent",
        promise: "when the agent is killed the link ends, and nothing is left",
        run: ends::killed_agent,
    },
    Check {
        name: "foreign-bytes",
        promise: "bytes that are not a frame end the agent and the link, and nothing is left",
        run: ends::foreign_bytes,
    },
    Check {
        name: "link",
        promise: "what a command writes to its agent's link does not arrive, or is detected",
        run: forged::link,
    },
    Check {
        name: "killed-engine",
        promise: "when the box's engine is killed the link ends, and nothing is left",
        run: ends::killed_engine,
    },
    Check {
        name: "binary",
        promise: "whatever a command does to the binary in its box, the host's copy and the next box stay unchanged",
        run: hostile::binary,
    },
    Check {
        name: "kernel",
        promise: "no file or device that exposes the host's kernel can be opened",
        run: hostile::kernel,
    },
    Check {
        name: "own-limits",
        promise: "root in a box cannot lift the limits that bind it",
        run: hostile::own_limits,
    },
    Check {
        name: "same-name",
        promise: "a second box of the same name does not harm the first",
        run: lives::same_name,
    },
    Check {
        name: "two-boxes",
        promise: "two boxes live side by side, and one outlives the other",
        run: lives::two_boxes,
    },
    Check {
        name: "dropped",
        promise: "a box that is dropped without notice leaves nothing",
        run: lives::dropped,
    },
    Check {
        name: "no-agent",
        promise: "a launch whose agent does not run fails in time and leaves nothing",
        run: lives::no_agent,
    },
    Check {
        name: "no-such-cpu",
        promise: "a launch whose limits cannot be set fails and leaves nothing",
        run: lives::no_such_cpu,
    },
    Check {
        name: "dead-run",
        promise: "the next run removes the frozen box of a killed run",
        run: hold::dead_run,
    },
    Check {
        name: "many-boxes",
        promise: "starting many boxes in a row leaks no descriptors, memory, processes, cgroups or mounts",
        run: lives::many_boxes,
    },
    Check {
        name: "nothing-left",
        promise: "after all checks, nothing of the run is left",
        run: ends::nothing_left,
    },
];

/// A promise was kept.
pub(crate) enum Kept {
    /// It was, with what may be of interest.
    Yes(Option<String>),
    /// It does not apply here, and why.
    NotHere(String),
}

impl Kept {
    const YES: Self = Self::Yes(None);
}

/// A promise was not kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    /// The box failed.
    #[error(transparent)]
    Box(#[from] BoxError),
    /// The state folder failed.
    #[error(transparent)]
    State(#[from] StateError),
    /// What was seen is not what was due.
    #[error("{0}")]
    Seen(String),
    /// A file or a process of the host.
    #[error("cannot {what}: {source}")]
    Host {
        what: &'static str,
        source: std::io::Error,
    },
}

impl Broken {
    fn host(what: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Host { what, source }
    }
}

impl From<crate::link::LinkError> for Broken {
    fn from(error: crate::link::LinkError) -> Self {
        Self::Box(error.into())
    }
}

/// Fails with what was seen unless `holds`.
fn expect(holds: bool, seen: impl FnOnce() -> String) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(Broken::Seen(seen())) }
}

/// How a check ended.
#[derive(Debug, Clone, JsonSchema, Serialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// The promise was kept.
    Ok {
        /// What may be of interest.
        note: Option<String>,
    },
    /// It was not.
    Failed {
        /// What was seen.
        why: String,
    },
    /// It does not apply to this platform.
    Skipped { why: String },
}

/// The outcome of one check.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Checked {
    /// Name of the check.
    pub check: &'static str,
    pub promise: &'static str,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// How long it took, in seconds.
    pub seconds: f64,
}

impl Checked {
    /// Whether the promise was broken.
    pub const fn failed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed { .. })
    }
}

/// What was found of one platform.
#[derive(Debug, JsonSchema, Serialize)]
pub struct CheckedPlatform {
    pub platform: PlatformPath,
    /// Of its engine, and what else is known of it.
    pub version: PlatformVersion,
    /// Every check, in the order in which they were run.
    pub checks: Vec<Checked>,
}

/// What `tare check --json` prints: which promises platforms keep here.
#[derive(Debug, Default, JsonSchema, Serialize)]
pub struct Report {
    /// The platforms, in the order in which they were checked.
    pub platforms: Vec<CheckedPlatform>,
}

impl Report {
    /// The number of checks that failed.
    pub fn failed(&self) -> usize {
        let checks = self.platforms.iter().flat_map(|platform| &platform.checks);
        checks.filter(|checked| checked.failed()).count()
    }
}

/// What is to be checked.
pub struct Order<'a> {
    pub path: &'a PlatformPath,
    /// The state folder.
    pub state: &'a Path,
    /// The run that all boxes belong to.
    pub run: &'a Run,
    /// The file of the agent that goes into boxes.
    pub agent: PathBuf,
    /// Boxes that `many-boxes` makes; absent: by what one costs.
    pub boxes: Option<u32>,
}

/// Why a platform cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// Its path.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It is not here.
    #[error("platform '{path}' cannot run here: {absent}")]
    Absent {
        path: PlatformPath,
        /// Why, and what to do.
        absent: Absent,
    },
    /// The user asked to stop.
    #[error("stopped by the user")]
    Interrupted,
}

/// Runs these checks on a platform, and shows each as it ends.
///
/// # Errors
/// [`CheckError`]; a promise that is not kept is none.
pub fn run(
    order: &Order<'_>,
    checks: &[Check],
    mut show: impl FnMut(&Checked),
) -> Result<Vec<Checked>, CheckError> {
    let mut site = CheckContext::open(order)?;
    let mut all = Vec::new();
    for check in checks {
        let begun = Instant::now();
        let ended = (check.run)(&mut site);
        if interrupt::requested() {
            return Err(CheckError::Interrupted);
        }
        let outcome = match ended {
            Ok(Kept::Yes(note)) => Outcome::Ok { note },
            Ok(Kept::NotHere(why)) => Outcome::Skipped { why },
            Err(broken) => {
                // The next check shall not suffer from what this one did to the box.
                site.forget_shared();
                Outcome::Failed {
                    why: broken.to_string(),
                }
            }
        };
        let checked = Checked {
            check: check.name,
            promise: check.promise,
            outcome,
            seconds: begun.elapsed().as_secs_f64(),
        };
        show(&checked);
        all.push(checked);
    }
    Ok(all)
}

/// Opens and probes a platform.
fn ready(path: &PlatformPath, state: &Path) -> Result<Box<dyn Platform>, CheckError> {
    let mut platform = crate::open(path, state)?;
    platform.probe().map_err(|absent| CheckError::Absent {
        path: path.clone(),
        absent,
    })?;
    Ok(platform)
}
