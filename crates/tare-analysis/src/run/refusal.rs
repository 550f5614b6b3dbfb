//! Reasons to give no verdict.

use super::boxes::Readings;
use schemars::JsonSchema;
use serde::Serialize;

/// Why there is no verdict.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
#[serde(tag = "refusal", rename_all = "kebab-case")]
pub enum Refusal {
    /// The run ended before it came to these kinds of box.
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
    /// A cell cannot run there at all.
    CannotRun {
        cell: String,
        /// Whether it is the baseline of the comparison: the other cell may have run.
        is_baseline: bool,
        detail: String,
    },
    /// A known answer was wrong.
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
    /// Fewer pairs than a verdict needs.
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
    /// What ran before biases the comparison.
    CarryOver {
        /// The cells that ran before.
        after: Vec<String>,
    },
    /// All figures of a cell are the same, which no clock tells.
    IdenticalFigures { cell: String, trials: usize },
    /// The header says what no options can make of a study.
    UnsoundStudy {
        /// What, in a few words.
        what: Vec<String>,
    },
    /// One box per platform served the whole study.
    KeptBoxes,
    /// The study's margin is none that a study can have.
    NoMargin,
    /// Figures of 0 or less: no ratio in logs.
    NoLogarithm {
        /// Pairs with such a figure.
        pairs: usize,
    },
    /// The interval says nothing: the blocks are too unlike one another.
    NoEstimate,
    /// Of several comparisons together: something else used the CPU, which hides an unknown part of
    /// each cost.
    Contended,
    /// Of two files: the box has another size in each.
    OtherSize,
    /// Of two files: the workload does other work in each.
    OtherWork,
    /// Of two files: each holds the cell against another baseline.
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
