//! What is asked of a share of the campaigns, and what their counts say of it.

use crate::binomial::{at_most, lower, upper};
use schemars::JsonSchema;
use serde::Serialize;
use tare_stats::LEVEL;

/// A promise counts as broken where it would give such a count less often.
pub(crate) const RARE: f64 = 0.001;

/// What is asked of a share.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Promise {
    /// At most `promised`; shown where the share lies below `bound`.
    AtMost {
        /// What the method promises.
        promised: f64,
        /// What campaigns have to show, with 95 % confidence.
        bound: f64,
    },
    /// At least `promised`; shown where the share lies above `bound`.
    AtLeast {
        /// What the method promises.
        promised: f64,
        /// What campaigns have to show, with 95 % confidence.
        bound: f64,
    },
}

/// What campaigns say of a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Shown with 95 % confidence.
    Shown,
    /// Neither shown nor contradicted.
    Open,
    /// Contradicted: it would give this less than once in 1,000 times.
    Broken,
}

/// How many campaigns did what.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Count {
    /// What they did.
    pub what: &'static str,
    /// How many of them.
    pub count: u64,
    /// Of how many.
    pub of: u64,
    /// The 95 % interval of the share (Clopper and Pearson).
    pub interval: [f64; 2],
    /// What is asked; absent where the count stands for comparison.
    pub promise: Option<Promise>,
    /// What follows; absent likewise.
    pub standing: Option<Standing>,
}

impl Count {
    pub(crate) fn new(
        what: &'static str,
        promise: Option<Promise>,
        outcomes: impl Iterator<Item = bool>,
    ) -> Self {
        let (count, of) = outcomes.fold((0, 0), |(yes, all), is| (yes + u64::from(is), all + 1));
        Self {
            what,
            count,
            of,
            interval: [lower(count, of, 0.975), upper(count, of, 0.975)],
            promise,
            standing: promise.map(|promise| promise.standing(count, of)),
        }
    }
}

impl Promise {
    pub(crate) fn standing(self, count: u64, of: u64) -> Standing {
        let (shown, rare) = match self {
            Self::AtMost { promised, bound } => (
                upper(count, of, LEVEL) <= bound,
                count > 0 && 1.0 - at_most(count - 1, of, promised) < RARE,
            ),
            Self::AtLeast { promised, bound } => (
                lower(count, of, LEVEL) >= bound,
                at_most(count, of, promised) < RARE,
            ),
        };
        match (rare, shown) {
            (true, _) => Standing::Broken,
            (false, true) => Standing::Shown,
            (false, false) => Standing::Open,
        }
    }
}
