//! Reasons to read an interval with care.

use schemars::JsonSchema;
use serde::Serialize;
use tare_stats::PairedInference;

/// A reason to read an interval with care.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
#[serde(tag = "flag", rename_all = "kebab-case")]
pub enum Flag {
    /// Neighbouring blocks resemble one another.
    Autocorrelated {
        /// Lag-1 autocorrelation of d.
        r1: f64,
        /// Factor on the half-width.
        widening: f64,
    },
    /// d is skewed: |g1| > 1, or the check by bootstrap-t moved an end.
    Skewed {
        /// Skewness g1 of d.
        g1: f64,
        /// Whether an end of the bootstrap-t lies further out than that of t by
        /// over a quarter of the half-width, or further in.
        ends_moved: bool,
        /// The block without which d would scatter less than half as much, if there is one.
        odd: Option<OddBlock>,
    },
    /// Something else used the CPU of cells that never wait by themselves.
    Contended {
        /// The share of it that this had in a quarter of the rounds or more.
        share: f64,
        /// By how many times a difference can be larger than its typical cost shows.
        times: f64,
    },
    /// Paired ratio and ratio of means differ by more than the margin.
    Tail {
        /// The ratio of means.
        ratio_of_means: f64,
    },
    /// The same of slices: typical and mean cost differ by more than the margin.
    #[serde(rename = "tail")]
    TailOfSlices {
        /// The mean cost, over 1 where the platform costs more.
        mean_cost: f64,
    },
}

/// A block that is unlike all others.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct OddBlock {
    /// Its number among the blocks that are compared, in their order, from 1.
    pub number: usize,
    /// The cost in it.
    pub cost: f64,
}

impl Flag {
    /// What the order and the shape of d say against its interval.
    pub(crate) fn of_series(inference: &PairedInference) -> impl Iterator<Item = Self> + use<> {
        let autocorrelated = inference.autocorrelation.map(|a| Self::Autocorrelated {
            r1: a.r1,
            widening: a.widening,
        });
        let ends_moved = inference.ends_moved;
        let skewed = inference.skewness.filter(|_| inference.skewed || ends_moved);
        let odd = inference.odd.map(|odd| OddBlock {
            number: odd.place + 1,
            cost: odd.value.exp(),
        });
        let skewed = skewed.map(|g1| Self::Skewed { g1, ends_moved, odd });
        autocorrelated.into_iter().chain(skewed)
    }

    /// Whether one figure does not tell the whole.
    pub const fn is_tail(&self) -> bool {
        matches!(self, Self::Tail { .. } | Self::TailOfSlices { .. })
    }

    /// The name in files and narrow columns.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Autocorrelated { .. } => "autocorrelated",
            Self::Skewed { .. } => "skewed",
            Self::Contended { .. } => "contended",
            Self::Tail { .. } | Self::TailOfSlices { .. } => "tail",
        }
    }
}
