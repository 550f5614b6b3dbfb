//! The options that say how a study measures.

use super::{percentage, whole_number};
use clap::{Args, ValueEnum};
use tare_lab::design::{self, ProtocolOptions};
use tare_model::size;
use tare_model::study::{Fresh, Slicing};

/// How a study measures. A time or a percentage may begin with a dash here, so that its
/// own error tells that it cannot be negative, and no option `-3` is looked for.
#[derive(Debug, Clone, Args)]
pub struct ProtocolArgs {
    /// Blocks: trials of each cell [default: 10]; with --adaptive the most [default: 60]
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = blocks)]
    pub blocks: Option<u32>,
    /// Begin no block that would not end within this time
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = size::parse_seconds)]
    pub budget: Option<f64>,
    /// Let each cell leave when its interval is narrow enough: looks after 10, 15, 20, 25, 30, 40, 50 and 60 blocks
    #[arg(long)]
    pub adaptive: bool,
    /// Run blocks that are not recorded for this time first [default: none]
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = time_or_zero)]
    pub warm_up: Option<f64>,
    /// Rest for this time before each trial, in slices before each group of them [default: none]
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = time_or_zero)]
    pub pause: Option<f64>,
    /// How long one box is used [default: block]
    #[arg(long, value_name = "WHEN")]
    pub fresh: Option<FreshArg>,
    /// Divide trials into slices, in rounds with the other cells: off, auto, how long a slice is, such as 10ms, or turns for commands [default: auto, of 10 ms]
    #[arg(long, allow_hyphen_values = true, value_name = "HOW")]
    pub slices: Option<Slicing>,
    /// Aim for a trial; 0 runs a command just once per trial [default: 500ms]
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = time_or_zero)]
    pub trial_time: Option<f64>,
    /// Give a trial up after this time [default: 60s, or 20 times the aim]
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = size::parse_seconds)]
    pub timeout: Option<f64>,
    /// Do not wait for a quiet host before trials in one piece
    #[arg(long)]
    pub no_settle: bool,
    /// Margin of equivalence in percent [default: 1]
    #[arg(long, allow_hyphen_values = true, value_name = "PERCENT", value_parser = percentage)]
    pub margin: Option<f64>,
    /// Seed of every random order [default: a new one]
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = seed)]
    pub seed: Option<u64>,
}

/// How long a box is used, as a word.
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
    /// What the user asks.
    pub fn options(&self) -> ProtocolOptions {
        ProtocolOptions {
            blocks: self.blocks,
            adaptive: self.adaptive.then_some(true),
            budget_seconds: self.budget,
            warm_up_seconds: self.warm_up,
            pause_seconds: self.pause,
            fresh: self.fresh.map(Into::into),
            slicing: self.slices,
            trial_seconds: self.trial_time,
            timeout_seconds: self.timeout,
            settle: self.no_settle.then_some(false),
            margin_percent: self.margin,
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

fn blocks(text: &str) -> Result<u32, String> {
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
