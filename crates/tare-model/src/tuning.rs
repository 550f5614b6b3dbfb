//! Parameters of a workload that a study varies, to find out which of them matter.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A workload with parameters of which each has several levels.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Tuning {
    /// Which combinations of levels are run.
    pub design: TuningDesign,
    pub factors: Vec<TuningFactor>,
    /// The combinations; the first has the first level of every factor.
    pub settings: Vec<TuningSetting>,
}

/// Which combinations of levels are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TuningDesign {
    /// All, of two levels of each factor.
    Full,
    /// A fraction of them, of resolution IV: factors are told apart, and no factor is mixed up with two others together.
    Fractional,
    /// The first levels, and each other level alone.
    OneAtATime,
}

impl TuningDesign {
    pub const ALL: [Self; 3] = [Self::Full, Self::Fractional, Self::OneAtATime];

    /// Blocks below which nothing is concluded: fewer where each effect is the mean over many settings.
    pub const fn fewest_blocks(self) -> u32 {
        match self {
            Self::Full | Self::Fractional => 5,
            Self::OneAtATime => 10,
        }
    }

    /// As a study file has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Fractional => "fractional",
            Self::OneAtATime => "one-at-a-time",
        }
    }
}

/// A parameter and its levels.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct TuningFactor {
    /// The name of the parameter.
    pub name: String,
    /// Its values, at least two; the first is what the others are compared with.
    pub levels: Vec<String>,
}

/// A combination of levels.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct TuningSetting {
    /// The name of the workload that has them.
    pub workload: String,
    /// Of each factor the place of its level, counted from 0.
    pub levels: Vec<usize>,
}
