//! The formats of campaigns: what their log begins with, and their score as it is printed.

use crate::score::Score;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tare_model::host::HostFacts;
use tare_model::study::{Fresh, Slicing};

/// Name and version of the formats.
/// Version 1 knew no slices.
pub const SCHEMA: &str = "tare-selftest/2";

/// What was asked, and where: the first line of a log.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Header {
    /// Name and version of the format.
    pub schema: String,
    /// Version of tare.
    pub tare: String,
    /// Build ID of the agent, whose machine code the campaigns run.
    pub build: String,
    /// What was asked.
    pub options: Options,
    /// Iterations of the kernel `integer` in a trial of each arm, or in slices in a unit of
    /// its work; they follow from the aim and from how fast the host was when the log was
    /// begun.
    pub iterations: [u64; 2],
    pub host: HostFacts,
}

/// What was asked; the number of campaigns is not in it, so that more can be added.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Options {
    pub platform: String,
    /// What the second arm does more, in tenths of a percent; 0 for A/A.
    pub tenths: u32,
    /// Blocks of each campaign.
    pub blocks: u32,
    /// When an arm gets a new box.
    pub fresh: Fresh,
    /// How trials are given their time; absent where each runs in one piece.
    #[serde(default, skip_serializing_if = "Slicing::is_off")]
    pub slicing: Slicing,
    /// Aim for a trial in seconds.
    pub trial_seconds: f64,
    pub margin_percent: f64,
    /// Whether a third box runs through its memory beside the two; absent if none does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub polluter: bool,
    /// Whether each arm is also measured in a batch.
    pub batches: bool,
    /// Whether trials wait for a quiet host.
    pub settle: bool,
    /// Seed of the campaigns' seeds.
    pub seed: u64,
}

impl Header {
    /// The header of a new log; `build` is that of the agent.
    pub fn new(build: &str, options: Options, iterations: [u64; 2], host: HostFacts) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            tare: tare_model::VERSION.to_owned(),
            build: build.to_owned(),
            options,
            iterations,
            host,
        }
    }
}

/// What `tare selftest aa --json` and `tare selftest inject --json` print: the header of the log,
/// and what its campaigns say of the method.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Scored<'a> {
    /// What was asked, and where.
    #[serde(flatten)]
    pub header: &'a Header,
    /// What all campaigns say.
    pub score: &'a Score,
    /// Whether nothing is contradicted, all counts are shown where campaigns are many, and at most
    /// 1 campaign in 10 gave no verdict: then the exit code is 0.
    pub passes: bool,
}

impl<'a> Scored<'a> {
    /// Puts it together.
    pub fn new(header: &'a Header, score: &'a Score) -> Self {
        Self {
            header,
            score,
            passes: score.passes(),
        }
    }
}
