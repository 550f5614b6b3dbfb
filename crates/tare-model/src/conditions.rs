//! Under which conditions the host carried out a trial.

use crate::metric::Unit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Shortest stretch over which ticks of 10 ms tell a load of 2 %.
pub const SHORTEST_READING: Duration = Duration::from_millis(400);

/// What the host's counters and clocks say of the time of one trial. Read before
/// and after it, outside the timed region; what a host does not count is absent.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(default)]
pub struct Conditions {
    /// The box's monotonic clock against the host's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockReading>,
    /// CPU time of others on the pinned set over that of the set, 0 to 1; pinned boxes only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_load: Option<f64>,
    /// CPU time on the SMT siblings of the pinned set that are not in it, over
    /// theirs, 0 to 1; absent without such siblings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sibling_load: Option<f64>,
    /// Share of the time in which some process of the host waited for memory (PSI).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_pressure: Option<f64>,
    /// Mean frequency of the CPUs while they were not idle, over the nominal one
    /// (APERF over MPERF), else the governor's frequency over the highest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency: Option<f64>,
    /// Times that a CPU was throttled by heat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heat_throttles: Option<u64>,
    /// Swap that the box's cgroup occupied after the trial, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub box_swap_bytes: Option<u64>,
    /// Time that the readings took, in nanoseconds.
    pub reading_ns: u64,
}

/// What the host counted of a box during one trial, or read of it after the trial.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Counter {
    /// The count or the reading.
    pub value: f64,
    /// Its unit; `1` of a count.
    pub unit: Unit,
}

/// How fast the box's monotonic clock went.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct ClockReading {
    /// Seconds by the box over seconds by the host.
    pub ratio: f64,
    /// By how much the ratio may be off either way: the time that the answers took.
    pub uncertainty: f64,
}
