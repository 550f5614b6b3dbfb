//! Evidence of causes: what the host's kernel did for a cell while it was its turn.

use crate::study::Cell;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the kernel did for one cell, in a box of its own behind the measured blocks: probes disturb what they look at.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct EvidenceRecord {
    #[serde(flatten)]
    pub cell: Cell,
    /// Number of the box.
    pub box_id: u32,
    /// Settings of its first process by which the kernel treats it otherwise than others, by the kernel's names for them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// One for each set of probes.
    pub looks: Vec<Look>,
}

impl EvidenceRecord {
    /// What these probes saw.
    pub fn by(&self, probes: ProbeSet) -> Option<&Look> {
        self.looks.iter().find(|look| look.probes == probes)
    }
}

/// Probes that are attached at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeSet {
    /// Switches, page faults, softirqs, ticks and disks.
    Times,
    /// Entries and exits of system calls.
    Calls,
    /// Samples of the CPUs, and switches with their stacks.
    Stacks,
}

impl ProbeSet {
    /// In the order in which they are attached.
    pub const ALL: [Self; 3] = [Self::Times, Self::Calls, Self::Stacks];
}

/// What was seen while a cell did so much work.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Look {
    pub probes: ProbeSet,
    /// Units of work, those of lead-ins among them.
    pub units: u64,
    /// Time that they took by the clock in the box, in nanoseconds.
    pub wall_ns: u64,
    #[serde(flatten)]
    pub seen: Seen,
}

impl Look {
    /// So much in all, for a unit of work.
    #[expect(clippy::cast_precision_loss, reason = "five digits are shown")]
    pub fn per_unit(&self, of: u64) -> f64 {
        of as f64 / self.units.max(1) as f64
    }

    /// Where samples found tasks on a CPU.
    pub fn on_cpu(&self) -> impl Iterator<Item = &Stack> {
        let stacks = self.seen.stacks.iter();
        stacks.filter(|stack| stack.state == State::OnCpu)
    }
}

/// What a set of probes saw of a box. What was not looked for is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Seen {
    /// Stretches of time that tasks spent in a state.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub times: BTreeMap<State, Histogram>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<Count, u64>,
    /// System calls by name, waiting included.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub calls: BTreeMap<String, Timed>,
    /// What was done beside tasks on any CPU while it was the box's turn.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub asides: BTreeMap<Aside, Timed>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<Stack>,
    /// Stacks for which there was no room.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
const fn is_zero(lost: &u64) -> bool {
    *lost == 0
}

/// What a task does, or why it does not run (`sched(7)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It runs.
    OnCpu,
    /// It could run, and waits for a CPU.
    RunQueue,
    /// It waits for something, and a signal would wake it.
    Sleep,
    /// It waits for a disk.
    IoWait,
    /// It waits for something, and no signal would wake it.
    Uninterruptible,
    /// Another task took its CPU.
    Preempted,
    /// Its quota is used up.
    Throttled,
    /// Its cgroup is frozen.
    Frozen,
    /// A signal or a tracer stopped it.
    Stopped,
}

impl State {
    /// In the order of the probes' tables.
    pub const ALL: [Self; 9] = [
        Self::OnCpu,
        Self::RunQueue,
        Self::Sleep,
        Self::IoWait,
        Self::Uninterruptible,
        Self::Preempted,
        Self::Throttled,
        Self::Frozen,
        Self::Stopped,
    ];

    /// As it is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OnCpu => "on CPU",
            Self::RunQueue => "run queue",
            Self::Sleep => "sleep",
            Self::IoWait => "disk wait",
            Self::Uninterruptible => "uninterruptible",
            Self::Preempted => "preempted",
            Self::Throttled => "throttled",
            Self::Frozen => "frozen",
            Self::Stopped => "stopped",
        }
    }
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Count {
    /// Switches by which a task gave up its CPU.
    VoluntarySwitches,
    /// Switches by which a task lost its CPU.
    InvoluntarySwitches,
    /// Times that a task went on on another CPU.
    Migrations,
    WakeUps,
    Forks,
    /// Page faults of programs.
    Faults,
    /// Page faults in the kernel.
    KernelFaults,
}

impl Count {
    /// In the order of the probes' tables.
    pub const ALL: [Self; 7] = [
        Self::VoluntarySwitches,
        Self::InvoluntarySwitches,
        Self::Migrations,
        Self::WakeUps,
        Self::Forks,
        Self::Faults,
        Self::KernelFaults,
    ];

    /// As it is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::VoluntarySwitches => "voluntary switches",
            Self::InvoluntarySwitches => "involuntary switches",
            Self::Migrations => "migrations",
            Self::WakeUps => "wake-ups",
            Self::Forks => "forks",
            Self::Faults => "page faults",
            Self::KernelFaults => "page faults in the kernel",
        }
    }
}

/// What is done beside tasks: softirqs in the order of the kernel's numbers, then ticks and disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aside {
    HighTasklets,
    Timers,
    NetworkTransmit,
    NetworkReceive,
    BlockDone,
    IrqPoll,
    Tasklets,
    LoadBalancing,
    HighResolutionTimers,
    Rcu,
    /// Interrupts of the timer.
    Ticks,
    /// Requests of disks, from issue to completion.
    Disks,
}

impl Aside {
    /// In the order of the probes' tables.
    pub const ALL: [Self; 12] = [
        Self::HighTasklets,
        Self::Timers,
        Self::NetworkTransmit,
        Self::NetworkReceive,
        Self::BlockDone,
        Self::IrqPoll,
        Self::Tasklets,
        Self::LoadBalancing,
        Self::HighResolutionTimers,
        Self::Rcu,
        Self::Ticks,
        Self::Disks,
    ];

    /// As it is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HighTasklets => "softirq: high tasklets",
            Self::Timers => "softirq: timers",
            Self::NetworkTransmit => "softirq: network transmit",
            Self::NetworkReceive => "softirq: network receive",
            Self::BlockDone => "softirq: blocks done",
            Self::IrqPoll => "softirq: polling",
            Self::Tasklets => "softirq: tasklets",
            Self::LoadBalancing => "softirq: load balancing",
            Self::HighResolutionTimers => "softirq: high-resolution timers",
            Self::Rcu => "softirq: RCU",
            Self::Ticks => "timer interrupts",
            Self::Disks => "disk requests",
        }
    }
}

/// How often something took how long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Timed {
    pub n: u64,
    /// All together, in nanoseconds.
    pub ns: u64,
}

/// Stretches of time by their lengths.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Histogram {
    pub n: u64,
    /// All together, in nanoseconds.
    pub ns: u64,
    /// Those of at least 2^i nanoseconds and less than 2^(i+1), in place i; of 0 in the first. The last places may be absent.
    pub log2: Vec<u64>,
}

/// Where in the kernel tasks were.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Stack {
    pub state: State,
    /// Functions from the outermost to the innermost, parted by `;`; `[user]` where the kernel was not entered.
    pub frames: String,
    /// Samples on a CPU, or waits.
    pub n: u64,
    /// Time in nanoseconds: of samples, n over their rate.
    pub ns: u64,
}
