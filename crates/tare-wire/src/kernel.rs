//! Built-in benchmark kernels: what is asked of them and what they report.

mod disk;
mod list;

pub use disk::{Device, Disk, Way};
pub use list::{Kernel, Sizes, UnknownKernel};

use crate::size::Cpus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Instruction set that a kernel's code was generated for. One level serves a
/// whole study; a box that lacks it refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isa {
    /// What every CPU of the architecture has (x86-64: SSE2).
    Baseline,
    /// x86-64-v3 (AVX2, FMA).
    V3,
    /// x86-64-v4 (AVX-512).
    V4,
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Baseline => "baseline",
            Self::V3 => "v3",
            Self::V4 => "v4",
        })
    }
}

impl FromStr for Isa {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "baseline" => Ok(Self::Baseline),
            "v3" => Ok(Self::V3),
            "v4" => Ok(Self::V4),
            _ => Err(format!(
                "unknown instruction set '{text}': choose baseline, v3 (x86-64-v3, with AVX2) or v4 (x86-64-v4, with AVX-512)"
            )),
        }
    }
}

/// Exit status of a kernel's process that lacks in this box what it needs, an instruction
/// set or a disk, so that the cell is skipped rather than failed.
pub const UNSUPPORTED: i32 = 78;

/// One run of a kernel: the same in every cell of a study.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct KernelSpec {
    /// Which kernel.
    pub kernel: Kernel,
    /// Instruction set of the timed code.
    pub isa: Isa,
    /// Worker threads (`stream` only; the others choose by themselves).
    pub threads: u32,
    /// Size of the problem, in the unit of the kernel; 0 of a kernel without one.
    pub size: u64,
    /// Aim for the whole run in seconds: work goes on until it has passed and half
    /// of it was timed, and no kernel goes on for more than three times as long,
    /// however slow the box. `integer` does its iterations whatever time they take.
    pub seconds: f64,
}

impl KernelSpec {
    /// The same in a box of so many CPUs: `stream` uses them all.
    pub fn on(&self, cpus: Cpus) -> Self {
        let threads = match self.kernel {
            Kernel::Stream => cpus.whole(),
            _ => self.threads,
        };
        Self {
            threads,
            ..self.clone()
        }
    }
}

/// What one run of a kernel yields; printed as one JSON object by
/// `tare kernel NAME --json`.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct KernelReport {
    /// What was asked.
    pub spec: KernelSpec,
    /// One value per metric of the kernel, in its base unit: work over
    /// time (rates) or mean time per operation over all timed iterations.
    pub metrics: BTreeMap<String, f64>,
    /// Every timed figure behind `metrics`, in seconds per timed stretch, by
    /// name of the stretch.
    pub raw_seconds: BTreeMap<String, Vec<f64>>,
    /// Operations or bytes in each timed stretch, by the same names.
    pub work_per_stretch: BTreeMap<String, f64>,
    /// Wall time in seconds from the first timed stretch to the end of the last; in
    /// slices, the sum of what was timed.
    pub wall_seconds: f64,
    /// Share of one full unit of work that was done when time ran out; 1 or
    /// more where whole units were done. In slices, the units that were timed.
    pub units_done: f64,
    /// The known answer.
    pub check: Check,
    /// What lies between a kernel that uses files and its disk; absent of others. Apart, to
    /// keep small what most reports are without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<Box<Disk>>,
}

/// A known answer and what was found.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "KnownAnswer")]
pub struct Check {
    /// What was compared, such as `normalised residual`.
    pub what: String,
    /// The figure found.
    pub found: f64,
    /// The largest figure that is right (inclusive).
    pub bound: f64,
}

impl Check {
    /// Whether the answer is right. NaN is not.
    pub fn passed(&self) -> bool {
        self.found <= self.bound
    }
}

/// Small programs by which the limits of a box are proven. They are no
/// workloads: they have no metric.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "proof", rename_all = "kebab-case")]
pub enum ProofSpec {
    /// Burns CPU on so many threads for so long and notes the edges of throttling.
    Burn {
        /// Threads that burn.
        threads: u32,
        /// Wall time in seconds.
        seconds: f64,
    },
    /// Writes to every page of so much anonymous memory, then reports.
    Touch {
        /// Bytes to touch.
        bytes: u64,
    },
}

/// What a box saw of its CPUs while threads burned.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct BurnReport {
    /// CPU time of the process in seconds, first to last reading.
    pub cpu_seconds: f64,
    /// Wall time in seconds of the box's clock, first to last reading.
    pub wall_seconds: f64,
    /// Number of ends of throttled gaps seen.
    pub edges: u32,
    /// CPU seconds per wall second between the first and the last edge; absent
    /// with fewer than two edges.
    pub cores_between_edges: Option<f64>,
    /// CPUs that the process may run on.
    pub allowed_cpus: Vec<u32>,
}

/// What [`ProofSpec::Touch`] reports when it survives.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct TouchReport {
    /// Bytes touched; less than asked where the kernel refused the mapping.
    pub touched_bytes: u64,
}
