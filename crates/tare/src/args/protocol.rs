//! The options of the protocol: how a study measures.

use super::{percentage, whole_number};
use clap::{Args, ValueEnum};
use tare_model::size;
use tare_model::study::{Fresh, Slicing};
use tare_study::design::{self, ProtocolOptions};

/// How a study measures. A time or a percentage may begin with a dash, so that its own error says that it must not be negative, rather than clap's about an option `-3`.
#[derive(Debug, Clone, Args)]
pub struct ProtocolArgs {
    /// Run this number of blocks, that is trials per cell; the maximum with --adaptive or --precision [default: 10, then more for what is inconclusive, up to 5 min or 60 blocks]
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = blocks)]
    pub blocks: Option<u32>,
    /// Time limit: start no block that would exceed it [default: 5m, after the first 10 blocks; none with --blocks, --adaptive or --precision]
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = size::parse_seconds)]
    pub budget: Option<f64>,
    /// Stop measuring a cell once its result is clear or precise enough; checked after 10, 15, 20, 25, 30, 40, 50 and 60 blocks. The default, but without a time limit
    #[arg(long)]
    pub adaptive: bool,
    /// Stop measuring a cell once its interval reaches at most this far to either side of the cost, such as 0.5%; checked as with --adaptive
    #[arg(long, allow_hyphen_values = true, value_name = "PERCENT", value_parser = percentage)]
    pub precision: Option<f64>,
    /// Warm up: first run unrecorded blocks for this time [default: none]
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = time_or_zero)]
    pub warm_up: Option<f64>,
    /// Pause before each trial, or with slices before each group of trials [default: none]
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = time_or_zero)]
    pub pause: Option<f64>,
    /// When to create new boxes [default: block]
    #[arg(long, value_name = "WHEN")]
    pub fresh: Option<FreshArg>,
    /// How to run the trials of a block: auto (interleaved in slices of 10 ms), a slice length such as 20ms, turns (commands), or off (one after another) [default: auto]
    #[arg(long, allow_hyphen_values = true, value_name = "HOW")]
    pub slices: Option<Slicing>,
    /// Intended duration of a trial; 0 runs a command once per trial [default: 500ms]
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = time_or_zero)]
    pub trial_time: Option<f64>,
    /// Abort a trial after this time [default: 60s, or 20 times --trial-time]
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = size::parse_seconds)]
    pub timeout: Option<f64>,
    /// Do not wait for a quiet host before a trial; no effect on trials in slices
    #[arg(long)]
    pub no_settle: bool,
    /// Largest difference that counts as equal, in percent [default: 1]
    #[arg(long, allow_hyphen_values = true, value_name = "PERCENT", value_parser = percentage)]
    pub margin: Option<f64>,
    /// Look into the kernel behind the measured blocks, for evidence of causes
    #[arg(long)]
    pub evidence: bool,
    /// Seed of all random orders [default: random]
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = seed)]
    pub seed: Option<u64>,
}

/// How long a box is used.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum FreshArg {
    /// A new box for every trial
    Trial,
    /// A new box per platform and block
    Block,
    /// One box per platform for the whole study, frozen when it is not its turn
    Study,
}

impl ProtocolArgs {
    /// As the lab takes them; `None` where an option is absent.
    pub fn options(&self) -> ProtocolOptions {
        ProtocolOptions {
            blocks: self.blocks,
            adaptive: self.adaptive.then_some(true),
            precision_percent: self.precision,
            budget_seconds: self.budget,
            warm_up_seconds: self.warm_up,
            pause_seconds: self.pause,
            fresh: self.fresh.map(Into::into),
            slicing: self.slices,
            trial_seconds: self.trial_time,
            timeout_seconds: self.timeout,
            settle: self.no_settle.then_some(false),
            margin_percent: self.margin,
            evidence: self.evidence.then_some(true),
            seed: self.seed,
        }
    }
}

impl From<FreshArg> for Fresh {
    fn from(arg: FreshArg) -> Self {
        match arg {
            FreshArg::Trial => Self::Trial,
            FreshArg::Block => Self::Block,
            FreshArg::Study => Self::Study,
        }
    }
}

pub(super) fn blocks(text: &str) -> Result<u32, String> {
    whole_number(text, design::BLOCKS)
}

pub(super) fn seed(text: &str) -> Result<u64, String> {
    whole_number(text, 0..=u64::MAX)
}

fn time_or_zero(text: &str) -> Result<f64, size::SizeError> {
    if text == "0" {
        Ok(0.0)
    } else {
        size::parse_seconds(text)
    }
}
