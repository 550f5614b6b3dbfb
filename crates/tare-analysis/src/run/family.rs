//! Which tests Holm's correction takes together: those of one question.
//!
//! A family follows from the study and from what was found of the platforms before the first
//! trial, never from figures: so each keeps its error below 5 %, whatever the others hold.

use super::facts::{PlatformFacts, is_emulated};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use tare_model::study::{Against, Cell};

/// A question that a study asks of its cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// What a platform costs against the baseline limited alike.
    Native,
    /// What it costs against the baseline without a quota.
    NativeSet,
    /// What the quota costs on the baseline itself.
    Quota,
    /// As the first, where guests are translated in software.
    Emulated,
    /// As the second, where they are.
    EmulatedSet,
}

impl Family {
    /// All, in the order of printing.
    pub const ALL: [Self; 5] = [
        Self::Native,
        Self::NativeSet,
        Self::Quota,
        Self::Emulated,
        Self::EmulatedSet,
    ];

    /// That of a cell against its baseline. Emulation costs tens of times as much as what it
    /// stands beside and is no answer to the same question.
    pub(crate) fn of(cell: &Cell, baseline: &Cell, against: Against, platforms: &[PlatformFacts]) -> Self {
        let kinds = [&cell.kind.platform, &baseline.kind.platform];
        let is_emulated = kinds.iter().any(|platform| is_emulated(platforms, platform));
        match (against, is_emulated) {
            (Against::NativeSet, _) if kinds[0] == kinds[1] => Self::Quota,
            (Against::Native, false) => Self::Native,
            (Against::NativeSet, false) => Self::NativeSet,
            (Against::Native, true) => Self::Emulated,
            (Against::NativeSet, true) => Self::EmulatedSet,
        }
    }
}

/// For people, behind a number of tests.
impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Native => "against the baseline limited alike",
            Self::NativeSet => "against the baseline without a quota",
            Self::Quota => "of the cost of the quota",
            Self::Emulated => "of emulated platforms",
            Self::EmulatedSet => "of emulated platforms against the baseline without a quota",
        })
    }
}

/// How many tests a family holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct FamilySize {
    pub family: Family,
    /// Tests of primary metrics.
    pub tests: usize,
    /// Those of the CPU costs of CPU-bound work in slices, which are corrected by themselves.
    pub cpu_tests: usize,
}
