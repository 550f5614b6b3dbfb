//! What `tare density` measures, as it is stored.

use crate::host::HostFacts;
use crate::platform::PlatformPath;
use crate::results::PlatformVersion;
use crate::size::InstanceType;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Identity of the format.
pub const SCHEMA: &str = "tare-density/1";

/// Idle boxes of some platforms on one host.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Density {
    /// Name and version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// Version of tare.
    pub tare: String,
    /// Identity of the build: a digest of what it was made from.
    pub build: String,
    pub host: HostFacts,
    /// Limits of every box; the CPUs are granted by quota.
    pub limits: InstanceType,
    /// Platforms in the order in which they were measured.
    pub platforms: Vec<PlatformDensity>,
}

/// Idle boxes of one platform.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct PlatformDensity {
    pub platform: PlatformPath,
    /// What was found of it.
    pub version: PlatformVersion,
    /// Boxes that were alone on the host, each removed before the next, in their
    /// order; the first of all is not among them.
    pub starts: Vec<Start>,
    /// Why there are no cold starts.
    pub no_cold: Option<String>,
    /// Memory that the host could still give away before the first idle box.
    pub available_bytes: u64,
    /// The idle boxes, in the order in which they were made; all live at once.
    pub boxes: Vec<IdleBox>,
    /// Files made for all of them, in bytes on the disk.
    pub disk_bytes: u64,
    /// Why there are fewer than were asked for.
    pub stopped: Option<String>,
}

/// One box by itself.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Start {
    /// Whether the host's caches were dropped before.
    pub cold: bool,
    /// From the request to the agent's hello.
    pub hello_seconds: f64,
    /// From the request to remove it until nothing of it was left.
    pub removed_seconds: f64,
}

/// The host after one more idle box.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct IdleBox {
    /// From the request to the agent's hello.
    pub hello_seconds: f64,
    /// Processes that are there because of the boxes so far.
    pub processes: u32,
    /// The sum of their proportional set sizes.
    pub pss_bytes: u64,
    /// Memory that the host can still give away (`MemAvailable`).
    pub available_bytes: u64,
}
