//! Reasons to give no verdict, and their words.

use serde::Serialize;
use std::fmt;
use tare_model::size::counted;

/// Why there is no verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
        /// What was granted and what was used.
        readings: String,
    },
    /// A cell cannot run there at all.
    CannotRun {
        /// The cell.
        cell: String,
        /// Why.
        detail: String,
    },
    /// A known answer was wrong.
    WrongAnswer {
        /// The cell.
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
        /// Pairs.
        pairs: usize,
        /// Fewest.
        needed: usize,
    },
    /// A finding that makes the figures unfit for this comparison.
    Disqualified {
        /// The finding.
        finding: &'static str,
        /// Trials with it.
        trials: usize,
    },
    /// What ran before biases the comparison.
    CarryOver {
        /// The cells that ran before.
        after: Vec<String>,
    },
    /// All figures of a cell are the same, which no clock tells.
    IdenticalFigures {
        /// The cell.
        cell: String,
        /// Its trials.
        trials: usize,
    },
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
    /// No interval can be worked out from the figures, such as where their range is beyond what numbers hold.
    NoEstimate,
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
            | Self::Disqualified { .. }
            | Self::UnsoundStudy { .. }
            | Self::KeptBoxes
            | Self::NoMargin
            | Self::OtherSize
            | Self::OtherWork
            | Self::OtherBaseline => false,
        }
    }

    /// The reason in two or three words.
    pub const fn short(&self) -> &'static str {
        match self {
            Self::RunStopped { .. } => "run stopped",
            Self::LimitsNotProven { .. } => "limits not proven",
            Self::CannotRun { .. } => "cannot run here",
            Self::WrongAnswer { .. } => "wrong answer",
            Self::PairsLost { .. } => "pairs lost",
            Self::FewPairs { .. } => "too few pairs",
            Self::Disqualified { finding, .. } => finding,
            Self::CarryOver { .. } => "carry-over",
            Self::IdenticalFigures { .. } => "identical figures",
            Self::UnsoundStudy { .. } => "unsound study",
            Self::KeptBoxes => "kept boxes",
            Self::NoMargin => "no margin",
            Self::NoLogarithm { .. } => "no logarithm",
            Self::NoEstimate => "no interval",
            Self::OtherSize => "other size",
            Self::OtherWork => "other work",
            Self::OtherBaseline => "other baseline",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RunStopped { kinds } => {
                write!(
                    f,
                    "the run stopped before the limits of {} were proven",
                    kinds.join(" and ")
                )
            }
            Self::LimitsNotProven { kind, readings } => {
                write!(f, "limits not proven of {kind}: {readings}")
            }
            Self::CannotRun { cell, detail } => write!(f, "{cell} cannot run here: {detail}"),
            Self::WrongAnswer { cell, trials } => {
                write!(f, "wrong answer in {} of {cell}", counted(*trials, "trial"))
            }
            Self::PairsLost { lost, of } => {
                write!(
                    f,
                    "{lost} of {} lost, and failures of over 1 in 10 are rarely random",
                    counted(*of, "pair")
                )
            }
            Self::FewPairs { pairs: 0, needed } => write!(f, "no pair, {needed} are needed"),
            Self::FewPairs { pairs, needed } => {
                write!(f, "only {}, {needed} are needed", counted(*pairs, "pair"))
            }
            Self::Disqualified { finding, trials } => {
                write!(
                    f,
                    "{finding} in {}: unfit for this comparison",
                    counted(*trials, "trial")
                )
            }
            Self::CarryOver { after } => {
                write!(
                    f,
                    "carry-over from {} biases it by over a quarter of the margin: make the slices longer (--slices 50ms); in one piece, the reset between trials (--pause)",
                    after.join(" and ")
                )
            }
            Self::IdenticalFigures { cell, trials } => write!(
                f,
                "identical figures in all {} of {cell}: made up, or of a clock too coarse to tell them apart",
                counted(*trials, "trial")
            ),
            Self::UnsoundStudy { what } => {
                write!(
                    f,
                    "the header tells of {}, which no study has",
                    what.join(" and ")
                )
            }
            Self::KeptBoxes => f.write_str(
                "boxes were kept for the whole study: the figures hold for these boxes, not for a platform",
            ),
            Self::NoMargin => f.write_str("the study's margin is not one of 0.01 to 100 %"),
            Self::NoLogarithm { pairs } => write!(
                f,
                "{} with a value of 0 or less, which has no ratio in logs",
                counted(*pairs, "pair")
            ),
            Self::NoEstimate => f.write_str(
                "no interval can be worked out: the figures are too far apart for numbers to hold",
            ),
            Self::OtherSize => f.write_str("the box has another size than before"),
            Self::OtherWork => f.write_str("the workload does other work than before"),
            Self::OtherBaseline => f.write_str("the cell is held against another baseline than before"),
        }
    }
}
