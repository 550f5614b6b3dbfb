//! The results file: append-only JSON lines, one record per line.
//!
//! The first line is the header; every later line stands alone and names its
//! kind in `record`. Rules: values are as measured, unrounded; a figure that
//! was not taken is absent, never 0; new keys may appear at any time and any
//! optional one may be missing. See `docs/results-format.md`.

mod doubles;
mod older;
mod read;

pub use doubles::Doubles;
pub use read::{MOST_BYTES, ReadError, Results, Writer};
pub use tare_wire::usage::ProcessUsage;

use crate::brief::shorten;
use crate::conditions::{Conditions, Counter};
use crate::evidence::EvidenceRecord;
use crate::finding::{Finding, Reason};
use crate::group::GroupRecord;
use crate::host::{BoxFacts, HostFacts};
use crate::kernel::{BurnReport, KernelReport};
use crate::looks::{LookRecord, WarmUpRecord};
use crate::peak::PeakRecord;
use crate::platform::PlatformPath;
use crate::study::{BoxKind, Cell, Study};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name and version of the format. The number changes when an old reader would
/// misread a new file.
pub const SCHEMA: &str = "tare-results/3";

/// The versions that are read: a file of an older one lacks what came later.
pub const READABLE: [&str; 3] = ["tare-results/1", "tare-results/2", SCHEMA];

/// One line of a results file.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum Record {
    /// The first line.
    Header(Box<Header>),
    /// A run begins (again) to append to the file.
    Session(Session),
    /// A box was made.
    Box(BoxRecord),
    /// A box was removed.
    Removed(RemovedRecord),
    /// The limits of a kind of box were held against measurements.
    Proof(ProofRecord),
    /// Blocks were run and not recorded.
    WarmUp(WarmUpRecord),
    /// The peak was found of which rates are shares.
    Peak(PeakRecord),
    /// Cells ran side by side, slice by slice.
    Group(GroupRecord),
    /// A trial ended.
    Trial(Box<TrialRecord>),
    /// Open comparisons were looked at.
    Look(LookRecord),
    /// The kernel was looked into while a cell worked, behind the measured blocks.
    Evidence(EvidenceRecord),
    /// A run stopped appending.
    End(EndRecord),
}

// The largest two kinds lie apart: a list of records has room for the largest in each place.
impl From<Header> for Record {
    fn from(header: Header) -> Self {
        Self::Header(Box::new(header))
    }
}

impl From<TrialRecord> for Record {
    fn from(trial: TrialRecord) -> Self {
        Self::Trial(Box::new(trial))
    }
}

/// What the rest of the file is.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Header {
    /// Name and version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// Version of tare.
    pub tare: String,
    /// Build ID of tare.
    pub build: String,
    /// Build ID of the agent, whose machine code ran in every box; absent where tare itself was the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The study; order and number of trials follow from it.
    pub study: Study,
    pub host: HostFacts,
    /// Versions of the platforms as probed, by platform.
    pub platforms: BTreeMap<PlatformPath, PlatformVersion>,
    /// SHA-256, in 64 hexadecimal digits, of every file of the host that was run or copied into
    /// boxes, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

impl Header {
    /// Build ID of the program that ran in every box: files of one instrument compare the same machine code.
    pub fn instrument(&self) -> &str {
        self.agent.as_ref().unwrap_or(&self.build)
    }
}

/// The detail of a platform whose driver had never run on its engine.
pub const UNTESTED_DRIVER: (&str, &str) = ("driver", "untested");

/// What was found of a platform before the run.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct PlatformVersion {
    /// Version of the engine.
    pub version: String,
    /// Further facts that figures depend on: accelerator, machine, guest kernel, runtime, storage driver.
    #[serde(default)]
    pub details: BTreeMap<String, String>,
}

impl PlatformVersion {
    /// Whether guests are translated in software, without hardware virtualisation.
    pub fn is_emulated(&self) -> bool {
        self.details
            .get("accelerator")
            .is_some_and(|accelerator| accelerator == "tcg")
    }
}

/// One run of the controller on this file: the first, or a resumption.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Session {
    /// Name of the run; boxes and cgroups carried it.
    pub run: String,
    /// Start, nanoseconds since the epoch.
    pub started_unix_ns: u64,
    /// The boot it ran on.
    pub boot_id: Option<String>,
    /// Blocks asked for, where that is more than the study says: an adaptive one
    /// goes on with the next look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u32>,
}

/// A box that was made, and what making it took.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct BoxRecord {
    /// Number of the box within the file, from 0.
    pub box_id: u32,
    /// What kind of box.
    #[serde(flatten)]
    pub kind: BoxKind,
    /// The role that has it for itself, of a box beside that of the cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Block it was made for.
    pub block: u32,
    /// Whether it was made for blocks that are not recorded: a warm-up, or evidence of causes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warm_up: bool,
    /// Start-up latency: from the request to the agent's hello, in seconds.
    pub hello_seconds: f64,
    /// What its agent saw.
    pub facts: BoxFacts,
    /// What it occupied when nothing had run in it; the first of its kind only.
    #[serde(default)]
    pub footprint: Option<Footprint>,
    /// Memory of every process that was there because of it when nothing had run in it, in bytes,
    /// each page once and in full, whoever else has it. Of the boxes of cells on this host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resident_bytes: Option<u64>,
}

/// What an idle box occupies on the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Footprint {
    /// Processes that are there because of the box: VMM, shims and monitors too.
    pub processes: u32,
    /// Their proportional set size in bytes, which counts a page that n processes
    /// share as 1/n: what stands beside the box makes it smaller.
    pub memory_bytes: u64,
    /// Files made for the box alone, in bytes on the disk.
    pub disk_bytes: u64,
}

/// A box was removed.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct RemovedRecord {
    /// Number of the box.
    pub box_id: u32,
    /// What kind of box.
    #[serde(flatten)]
    pub kind: BoxKind,
    /// The role that had it for itself, of a box beside that of the cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Shut-down latency: from the request until nothing of the box is left, in seconds.
    pub seconds: f64,
}

/// The readings that a kind of box's limits were judged by.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct ProofRecord {
    /// What kind of box.
    #[serde(flatten)]
    pub kind: BoxKind,
    /// Whether its cells count.
    pub proven: bool,
    /// What was refused, or what is worth knowing.
    pub remarks: Vec<String>,
    /// CPUs granted.
    pub limit_cores: f64,
    /// CPUs used, by the host's counters; absent where the host cannot tell.
    pub host_cores: Option<f64>,
    /// CPUs used, by the box's own clocks.
    pub burn: Option<BurnReport>,
    pub burn_threads: u32,
    /// Memory limit in bytes.
    pub limit_bytes: u64,
    /// Most memory that was touched and survived, in bytes.
    pub touched_bytes: Option<u64>,
    /// Least memory whose touching was refused or killed, in bytes.
    pub refused_bytes: Option<u64>,
    /// RAM of a VM by its memory map, in bytes, less what the kernel reports as memory.
    pub kernel_share_bytes: Option<u64>,
    /// Memory limit in force by the host, in bytes, where touching it would end
    /// the box and not a process in it.
    #[serde(default)]
    pub host_limit_bytes: Option<u64>,
    /// Findings: less CPU than granted without throttling.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// The check of an earlier run on which it rests; absent if it was taken in this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rests_on: Option<EarlierCheck>,
    /// Of a box in boxes: those around it, the outermost first, each with its own
    /// platform. It is not proven unless all are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outer: Vec<ProofRecord>,
}

/// A check of limits by an earlier run, on the same boot and build, of the same engine
/// and size.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct EarlierCheck {
    /// Name of the run.
    pub run: String,
    /// When, nanoseconds since the epoch.
    pub unix_ns: u64,
}

impl ProofRecord {
    /// What is to be proven of a kind of box: its CPU limit, by so many threads, and its
    /// memory limit.
    pub fn unproven(kind: &BoxKind, (limit_cores, burn_threads): (f64, u32), limit_bytes: u64) -> Self {
        Self {
            kind: kind.clone(),
            proven: false,
            remarks: Vec::new(),
            limit_cores,
            host_cores: None,
            burn: None,
            burn_threads,
            limit_bytes,
            touched_bytes: None,
            refused_bytes: None,
            kernel_share_bytes: None,
            host_limit_bytes: None,
            findings: Vec::new(),
            rests_on: None,
            outer: Vec::new(),
        }
    }
}

/// One trial: a result, or a reason why there is none.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Number of the trial within the plan, from 0: block by block.
    pub trial: u32,
    /// Block, from 0.
    pub block: u32,
    /// Position within the block as it was carried out, from 0.
    pub order: u32,
    /// 0 for the first attempt; 1 for its one repetition at the end of the block.
    pub attempt: u32,
    #[serde(flatten)]
    pub cell: Cell,
    /// The box it ran in; absent if none could be made.
    pub box_id: Option<u32>,
    /// The group in which it ran slice by slice; absent of one that ran in one piece.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// Start, nanoseconds since the epoch.
    pub started_unix_ns: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Reasons to doubt it.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// What the host saw; absent if the trial was never begun.
    pub host: Option<HostReadings>,
}

/// How a trial ended.
#[expect(clippy::large_enum_variant, reason = "nearly all trials end well")]
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// With a sample of each metric.
    Ok(Success),
    /// Without.
    Failed(Failure),
    /// Not begun, since it cannot run in this box.
    Skipped(Failure),
}

/// A trial that succeeded.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Success {
    /// One figure per metric, in the metric's base unit.
    pub samples: BTreeMap<String, f64>,
    /// What the process used, by the box's own kernel.
    pub process: ProcessUsage,
    /// Everything the kernel reported; absent for a command.
    pub kernel: Option<KernelReport>,
    /// Every repetition of a command; absent for a kernel.
    pub repetitions: Option<Vec<ProcessUsage>>,
    /// Length in bytes of the random padding of the environment.
    pub padding_bytes: u32,
    /// How long each request of a load took: an HDR histogram in nanoseconds, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latencies: Option<String>,
    /// Connections of a load that were made again, as the server had closed them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconnects: Option<u64>,
}

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Failure {
    /// The kind of failure.
    pub reason: Reason,
    /// What was seen: the message, the last line of standard error, the readings.
    pub detail: String,
    /// What a command printed, where a figure or a check was looked for in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<Printed>,
}

impl Failure {
    /// A failure with what was seen.
    pub fn new(reason: Reason, detail: impl Into<String>) -> Self {
        Self {
            reason,
            detail: detail.into(),
            printed: None,
        }
    }
}

/// What a command printed; of what is long, the beginning and the end.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Printed {
    /// To standard output.
    pub stdout: String,
    /// To standard error.
    pub stderr: String,
}

impl Outcome {
    /// The same with short texts of what the box told.
    #[must_use]
    pub fn brief(mut self) -> Self {
        match &mut self {
            Self::Failed(failure) | Self::Skipped(failure) => shorten(&mut failure.detail),
            Self::Ok(success) => {
                if let Some(report) = &mut success.kernel {
                    shorten(&mut report.check.what);
                }
            }
        }
        self
    }
}

/// What the host saw of a trial.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct HostReadings {
    /// From request to reply by the host's clock.
    pub wall_ns: u64,
    /// CPU time of the box's cgroup.
    pub cpu_ns: Option<u64>,
    /// Quota periods that passed.
    pub periods: Option<u64>,
    /// Quota periods in which the box was throttled.
    pub throttled_periods: Option<u64>,
    /// Time for which the box was throttled.
    pub throttled_ns: Option<u64>,
    /// CPU time of all others over the host's CPU time, 0 to 1.
    pub others_load: Option<f64>,
    /// Steal over the host's CPU time, 0 to 1.
    pub steal: Option<f64>,
    /// Length of the stretch that the two are of, where the trial was too short for the
    /// host's ticks: it ends with the trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_ns: Option<u64>,
    /// Time spent waiting for a quiet host before the trial.
    pub waited_ns: u64,
    /// Time to freeze the box after its last visit, where it was kept frozen since.
    #[serde(default)]
    pub freeze_ns: Option<u64>,
    /// Time to thaw the box before the trial, where it had been frozen.
    pub thaw_ns: Option<u64>,
    /// Clocks and conditions of the trial.
    #[serde(default)]
    pub conditions: Conditions,
    /// What was counted of the box, by the name of the counter.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, Counter>,
}

/// Why a run stopped appending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct EndRecord {
    pub reason: EndReason,
    /// End, nanoseconds since the epoch.
    pub ended_unix_ns: u64,
}

/// Why a run stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
    /// Every planned trial was carried out.
    Complete,
    /// In an adaptive study, every comparison is settled.
    Settled,
    /// The time budget was used up, or in an adaptive study all blocks with comparisons still open.
    BudgetSpent,
    /// The first block left nothing to compare: nothing succeeded, or only one platform of several.
    Fruitless,
    /// The user stopped the run.
    Interrupted,
    /// An error stopped the run.
    Aborted,
    /// A program was replaced while it was measured: the last block may have run both.
    ProgramChanged,
}
