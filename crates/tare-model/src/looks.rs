//! Looks of adaptive stopping, as they are stored.

use crate::study::{Against, Cell};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Every comparison that was open was looked at. A resumed run takes from these
/// records which cells have left, and repeats no look.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct LookRecord {
    /// Blocks that were done.
    pub blocks: u32,
    /// The comparisons of every cell that was open.
    pub comparisons: Vec<LookedAt>,
    /// The cells that are settled by this look: all comparisons of a cell and of
    /// the same cell in other sizes are. They leave the later blocks, but where
    /// another cell needs one as its baseline.
    pub settled: Vec<Cell>,
}

/// One comparison at a look: the primary metric of a cell against a baseline.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct LookedAt {
    #[serde(flatten)]
    pub cell: Cell,
    /// Which baseline.
    pub against: Against,
    /// Pairs.
    pub n: u32,
    /// Pairs lost: blocks in which both cells were tried and one has no figure.
    pub lost: u32,
    /// What the pairs say; absent where no interval is defined.
    pub figures: Option<LookFigures>,
    /// What follows.
    pub judgement: LookJudgement,
}

/// The figures of a look, in logs: positive is worse than the baseline.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct LookFigures {
    /// Mean of d.
    pub mean: f64,
    /// Ends of its 96 % interval, widened where d is autocorrelated.
    pub interval: [f64; 2],
    /// Ends of its 99.8 % interval, widened likewise.
    pub precise: [f64; 2],
    /// Whether the autocorrelation flag is up.
    pub autocorrelated: bool,
    /// Whether the skewness flag is up.
    pub skewed: bool,
}

/// Why a comparison needs no more blocks, or why it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LookJudgement {
    /// Enough blocks: the 96 % interval is narrow enough.
    Narrow,
    /// Enough blocks: the 99.8 % interval lies within the margin.
    Within,
    /// Enough blocks: the 99.8 % interval lies beyond the margin, on one side.
    Beyond,
    /// No more blocks: the cell or its baseline has no figure at all.
    NoPairs,
    /// More blocks are needed: the intervals are too wide.
    TooWide,
    /// More blocks are needed: the interval would do, but the blocks seem autocorrelated, with under 20 pairs.
    Autocorrelated,
    /// More blocks are needed: the interval would do, but the blocks seem skewed, with under 30 pairs.
    Skewed,
    /// More blocks are needed: so many pairs were lost that there could be no verdict.
    TooFewPairs,
}

impl LookJudgement {
    /// Whether no more blocks are needed.
    pub const fn is_settled(self) -> bool {
        matches!(self, Self::Narrow | Self::Within | Self::Beyond | Self::NoPairs)
    }
}

impl fmt::Display for LookJudgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Narrow => "narrow enough",
            Self::Within => "surely within the margin",
            Self::Beyond => "surely beyond the margin",
            Self::NoPairs => "given up: no pair",
            Self::TooWide => "too wide",
            Self::Autocorrelated => "delayed: autocorrelated, under 20 pairs",
            Self::Skewed => "delayed: skewed, under 30 pairs",
            Self::TooFewPairs => "too few pairs for a verdict",
        })
    }
}

/// Blocks were run and not recorded, before the first of a session that is.
#[derive(Debug, Clone, Copy, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct WarmUpRecord {
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Trials that succeeded.
    pub trials: u32,
    /// Trials that did not.
    pub failed: u32,
}
