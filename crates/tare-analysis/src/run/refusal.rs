//! Reasons to give no verdict.

use super::boxes::Readings;
use schemars::JsonSchema;
use serde::Serialize;

/// Why there is no verdict.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
#[serde(tag = "refusal", rename_all = "kebab-case")]
pub enum Refusal {
    /// The run ended before the limits of these kinds of box were checked.
    RunStopped {
        /// The kinds of box.
        kinds: Vec<String>,
    },
    /// The limits of a kind of box were not proven.
    LimitsNotProven {
        /// The kind of box.
        kind: String,
        /// What was granted and what was used; absent without a proof.
        readings: Option<Readings>,
    },
    /// The workload cannot run in this box, or not in that of the baseline.
    CannotRun {
        cell: String,
        /// Whether it is the baseline of the comparison: the other cell may have run.
        is_baseline: bool,
        detail: String,
    },
    /// The workload computed a wrong answer.
    WrongAnswer {
        cell: String,
        /// Trials with a wrong answer.
        trials: usize,
    },
    /// More than 1 pair in 10 was lost.
    PairsLost {
        /// Pairs lost.
        lost: usize,
        /// Pairs tried.
        of: usize,
    },
    /// Fewer blocks have both figures than a verdict needs.
    FewPairs {
        pairs: usize,
        /// Fewest.
        needed: usize,
    },
    /// Fewer hosts than a verdict on hosts needs.
    FewHosts {
        hosts: usize,
        /// Fewest.
        needed: usize,
    },
    /// A finding that makes the figures unfit for this comparison.
    Disqualified { finding: &'static str, trials: usize },
    /// What ran right before biases the comparison: use longer slices or pauses.
    CarryOver {
        /// The cells that ran before.
        after: Vec<String>,
    },
    /// All figures of a cell are the same: made up, or from a clock with too low a resolution.
    IdenticalFigures { cell: String, trials: usize },
    /// The header of the file has values that no study has: the file was altered.
    UnsoundStudy {
        /// What, in a few words.
        what: Vec<String>,
    },
    /// One box per platform served the whole study: the figures apply to these boxes, not to the platform.
    KeptBoxes,
    /// The study's margin is not one of 0.01 to 100 %.
    NoMargin,
    /// Figures of 0 or less have no log ratio.
    NoLogarithm {
        /// Pairs with such a figure.
        pairs: usize,
    },
    /// The blocks differ so much that the interval says nothing: measure on a quieter host.
    NoEstimate,
    /// Something else used the CPU, which hides an unknown part of each cost: measure on a quieter host.
    Contended,
    /// Between two files: the box has another size in each.
    OtherSize,
    /// Between two files: the workload does other work in each.
    OtherWork,
    /// Between two files: each compares the cell with another baseline.
    OtherBaseline,
}

impl Refusal {
    /// Whether it is the figures of the comparison themselves that are unfit, and not what is
    /// known besides.
    pub(crate) const fn rests_on_figures(&self) -> bool {
        match self {
            Self::CarryOver { .. }
            | Self::IdenticalFigures { .. }
            | Self::NoEstimate
            | Self::NoLogarithm { .. } => true,
            Self::RunStopped { .. }
            | Self::LimitsNotProven { .. }
            | Self::CannotRun { .. }
            | Self::WrongAnswer { .. }
            | Self::PairsLost { .. }
            | Self::FewPairs { .. }
            | Self::FewHosts { .. }
            | Self::Disqualified { .. }
            | Self::UnsoundStudy { .. }
            | Self::KeptBoxes
            | Self::NoMargin
            | Self::Contended
            | Self::OtherSize
            | Self::OtherWork
            | Self::OtherBaseline => false,
        }
    }

    /// Whether there are merely few figures.
    pub(crate) const fn is_of_few_pairs(&self) -> bool {
        matches!(self, Self::FewPairs { .. })
    }

    /// The reason in two or three words.
    pub const fn short(&self) -> &'static str {
        match self {
            Self::RunStopped { .. } => "run stopped",
            Self::LimitsNotProven { .. } => "limits not proven",
            Self::CannotRun {
                is_baseline: true, ..
            } => "baseline cannot run here",
            Self::CannotRun { .. } => "cannot run here",
            Self::WrongAnswer { .. } => "wrong answer",
            Self::PairsLost { .. } => "trials failed",
            Self::FewPairs { .. } => "too few pairs",
            Self::FewHosts { .. } => "too few hosts",
            Self::Disqualified { finding, .. } => finding,
            Self::CarryOver { .. } => "carry-over",
            Self::IdenticalFigures { .. } => "identical figures",
            Self::UnsoundStudy { .. } => "unsound study",
            Self::KeptBoxes => "kept boxes",
            Self::NoMargin => "no margin",
            Self::NoLogarithm { .. } => "no logarithm",
            Self::NoEstimate => "too disturbed",
            Self::Contended => "contended",
            Self::OtherSize => "other size",
            Self::OtherWork => "other work",
            Self::OtherBaseline => "other baseline",
        }
    }
}
