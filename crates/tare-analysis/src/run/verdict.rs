//! What a row of the decision table (`tare_stats::decide`) says of a comparison.

use super::refusal::Refusal;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use tare_stats::{Interval, PairedInference, Row, decide, more_blocks};

/// The verdict in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// No verdict.
    None,
    /// Within the margin.
    Equal,
    /// Costs more.
    Slower,
    /// Costs less.
    Faster,
    /// Not decided by these blocks.
    Inconclusive,
}

impl Word {
    /// The name in files, tables and style sheets.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Equal => "equal",
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::Inconclusive => "inconclusive",
        }
    }

    /// Whether it is an answer.
    pub(crate) const fn decides(self) -> bool {
        matches!(self, Self::Equal | Self::Slower | Self::Faster)
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "no verdict",
            other => other.name(),
        })
    }
}

/// How many costs have which verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct VerdictCounts {
    pub slower: usize,
    pub faster: usize,
    pub equal: usize,
    pub inconclusive: usize,
    pub none: usize,
}

impl VerdictCounts {
    /// Counts words.
    pub fn of(words: impl Iterator<Item = Word>) -> Self {
        let mut counts = Self::default();
        for word in words {
            *match word {
                Word::Slower => &mut counts.slower,
                Word::Faster => &mut counts.faster,
                Word::Equal => &mut counts.equal,
                Word::Inconclusive => &mut counts.inconclusive,
                Word::None => &mut counts.none,
            } += 1;
        }
        counts
    }
}

/// What a verdict rests on: figures of the cost over the baseline's as ratios less 1.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct Basis {
    pub cost: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    pub margin: f64,
    /// p of no difference, after Holm's correction.
    pub p: f64,
}

impl Basis {
    /// From figures in logs.
    pub(crate) fn of_logs(mean: f64, interval: Interval, margin: f64, p: f64) -> Self {
        Self {
            cost: mean.exp_m1(),
            low: interval.low.exp_m1(),
            high: interval.high.exp_m1(),
            margin: margin.exp_m1(),
            p,
        }
    }

    /// Whether no difference at all lies in the interval.
    pub fn spans_nought(&self) -> bool {
        self.low <= 0.0 && 0.0 <= self.high
    }
}

/// What the decision table says of a primary metric.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Verdict {
    /// Row of the table.
    pub row: u8,
    /// The verdict.
    pub word: Word,
    /// Slower or faster by more than the margin. Only this may fail a comparison.
    pub beyond_margin: bool,
    /// What it rests on; absent where there is none.
    pub basis: Option<Basis>,
    /// Row 0: why there is no verdict.
    pub refusals: Vec<Refusal>,
    /// Row 5: about how many more blocks are needed.
    pub more_blocks: Option<u64>,
}

impl Verdict {
    /// Why there is none, in a few words.
    pub fn reasons(&self) -> String {
        let mut reasons: Vec<&str> = self.refusals.iter().map(Refusal::short).collect();
        // What holds for the cell and for its baseline is told once.
        reasons.dedup();
        reasons.join(", ")
    }
}

/// Row 0.
pub(crate) fn refused(refusals: Vec<Refusal>) -> Verdict {
    Verdict {
        refusals,
        ..verdict(0, Word::None)
    }
}

/// A p value after Holm's correction.
#[derive(Clone, Copy)]
pub(crate) struct Corrected {
    /// The corrected p.
    pub p: f64,
    /// What it was multiplied by, without the bound of 1.
    pub factor: f64,
}

/// Rows 1 to 5, for a positive margin `m` in logs.
pub(crate) fn of(inference: &PairedInference, p: Corrected, m: f64) -> Verdict {
    let row = decide(inference.interval, p.p, m);
    let is_open = row == Row::Inconclusive;
    Verdict {
        basis: Some(Basis::of_logs(inference.mean, inference.interval, m, p.p)),
        more_blocks: is_open.then(|| more_blocks(inference, p.factor, m)).flatten(),
        ..of_row(row)
    }
}

/// A row, without what it rests on.
pub(crate) fn of_row(row: Row) -> Verdict {
    Verdict {
        beyond_margin: row.beyond_margin(),
        ..verdict(row.number(), word(row))
    }
}

const fn word(row: Row) -> Word {
    match row {
        Row::Equal => Word::Equal,
        Row::SlowerBeyond | Row::SlowerPerhaps => Word::Slower,
        Row::FasterBeyond | Row::FasterPerhaps => Word::Faster,
        Row::Inconclusive => Word::Inconclusive,
    }
}

fn verdict(row: u8, word: Word) -> Verdict {
    Verdict {
        row,
        word,
        beyond_margin: false,
        basis: None,
        refusals: Vec::new(),
        more_blocks: None,
    }
}

/// The most blocks that anybody is told to add. 300 are 30 times those that a study has unasked:
/// hours instead of minutes, for an interval a fifth as wide. A quieter host, or a longer
/// trial in each block, gives as much in less time.
pub const MOST_BLOCKS: u64 = 300;
