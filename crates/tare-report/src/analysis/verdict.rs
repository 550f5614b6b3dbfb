//! What a row of the decision table (`tare_stats::decide`) means in words.

use super::refusal::Refusal;
use crate::show::{known_change, margin, percent};
use serde::Serialize;
use std::fmt;
use tare_stats::{Interval, PairedInference, Row, decide, more_blocks};

/// The verdict in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "no verdict",
            other => other.name(),
        })
    }
}

/// What the decision table says of a primary metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// Row of the table.
    pub row: u8,
    /// The verdict.
    pub word: Word,
    /// Slower or faster by more than the margin. Only this may fail a comparison.
    pub beyond_margin: bool,
    /// What is printed with it.
    pub phrase: String,
    /// Row 0: why there is no verdict.
    pub refusals: Vec<Refusal>,
    /// Row 5: about how many more blocks are needed.
    pub more_blocks: Option<u64>,
}

impl Verdict {
    /// Why there is none, in a few words.
    pub(crate) fn reasons(&self) -> String {
        let mut reasons: Vec<&str> = self.refusals.iter().map(Refusal::short).collect();
        // What holds for the cell and for its baseline is told once.
        reasons.dedup();
        reasons.join(", ")
    }

    /// The verdict in a few words, behind a cost that says slower or faster.
    pub fn after_cost(&self) -> String {
        match self.word {
            Word::None => {
                format!("{} ({})", self.word, self.reasons())
            }
            Word::Inconclusive => self.word.to_string(),
            Word::Equal if self.phrase.starts_with("within") => format!("{} {}", self.word, self.phrase),
            Word::Equal => {
                let band = self.phrase.rsplit(", ").next().unwrap_or_default();
                format!("{}, though measurable: {band}", self.word)
            }
            Word::Slower | Word::Faster => self.phrase.clone(),
        }
    }
}

/// Row 0.
pub(crate) fn refused(refusals: Vec<Refusal>) -> Verdict {
    let reasons: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    Verdict {
        phrase: reasons.join("; "),
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
    let (phrase, more_blocks) = match row {
        Row::Equal => (within(inference, m), None),
        Row::SlowerBeyond | Row::FasterBeyond => ("by more than the margin".to_owned(), None),
        Row::SlowerPerhaps | Row::FasterPerhaps => ("perhaps by less than the margin".to_owned(), None),
        Row::Inconclusive => open(inference, p, m),
    };
    Verdict {
        phrase,
        more_blocks,
        ..of_row(row)
    }
}

/// A row in words, without what is printed with it.
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
        phrase: String::new(),
        refusals: Vec::new(),
        more_blocks: None,
    }
}

fn within(inference: &PairedInference, m: f64) -> String {
    if inference.interval.contains(0.0) {
        return format!("within {}", margin(m.exp_m1()));
    }
    let change = known_change(inference.mean.exp());
    format!("measurably {change}, within the margin of {}", margin(m.exp_m1()))
}

/// The most blocks that anybody is told to add. 300 are 30 times those that a study has unasked:
/// hours instead of minutes, for an interval a fifth as wide. A quieter host, or a longer
/// trial in each block, gives as much in less time.
pub(crate) const MOST_BLOCKS: u64 = 300;

fn open(inference: &PairedInference, p: Corrected, m: f64) -> (String, Option<u64>) {
    let more = more_blocks(inference, p.factor, m);
    let needed = match more {
        Some(1) => "about 1 more block needed".to_owned(),
        Some(more) if more <= MOST_BLOCKS => format!("about {more} more blocks needed"),
        _ => "more blocks will not settle it here: a quieter host, longer trials or a wider margin may"
            .to_owned(),
    };
    let Interval { low, high } = inference.interval;
    let corrected = if low > 0.0 || high < 0.0 {
        format!(
            "; a difference by itself, not after Holm's correction (p {})",
            crate::show::p_value(p.p)
        )
    } else {
        String::new()
    };
    (
        format!(
            "{}, {}{corrected}; {needed}",
            bound(high, "slower"),
            bound(-low, "faster")
        ),
        more,
    )
}

/// What the end of the interval rules out on one side.
pub(crate) fn bound(limit: f64, word: &str) -> String {
    if limit <= 0.0 {
        return format!("not {word}");
    }
    // A cost of exp(-limit) is so much less than 1, a cost of exp(limit) so much more.
    let size = if word == "faster" {
        -(-limit).exp_m1()
    } else {
        limit.exp_m1()
    };
    format!("not {word} by more than {}", percent(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 20 pairs of this spread.
    fn pairs(interval: Interval, sd: f64) -> PairedInference {
        let question = tare_stats::Question {
            looks: tare_stats::Looks::None,
            margin: Some(0.01),
            check: None,
        };
        let mut inference = tare_stats::infer(&[-0.01, 0.01], question).expect("two values");
        inference.n = 20;
        inference.mean = interval.low.midpoint(interval.high);
        (inference.interval, inference.plain) = (interval, interval);
        inference.t.interval = interval;
        inference.t.sd = sd;
        inference
    }

    /// Half as far from its mean as the spread.
    fn noisy(mean: f64, sd: f64) -> PairedInference {
        let (low, high) = (mean - sd / 2.0, mean + sd / 2.0);
        pairs(Interval { low, high }, sd)
    }

    /// 20 pairs of a spread of 2 %.
    fn of(low: f64, high: f64, p: f64) -> Verdict {
        let inference = pairs(Interval { low, high }, 0.02);
        super::of(&inference, Corrected { p, factor: 1.0 }, 0.01)
    }

    #[test]
    fn a_difference_that_holm_refuses_says_so() {
        assert!(
            of(0.01, 0.02, 0.06)
                .phrase
                .contains("not after Holm's correction (p 0.060)")
        );
    }

    #[test]
    fn an_equal_that_is_measurable_says_its_sign() {
        assert_eq!(of(-0.005, 0.005, 0.5).phrase, "within 1.005 %");
        assert_eq!(
            of(0.002, 0.008, 0.01).phrase,
            "measurably 0.5 % slower, within the margin of 1.005 %"
        );
        assert_eq!(
            of(-0.008, -0.002, 0.01).phrase,
            "measurably 0.5 % faster, within the margin of 1.005 %"
        );
    }

    #[test]
    fn an_open_verdict_says_what_is_ruled_out_and_what_it_takes() {
        let verdict = of(-0.02, 0.03, 0.6);
        assert_eq!(
            verdict.phrase,
            "not slower by more than 3.0 %, not faster by more than 2.0 %; about 118 more blocks needed"
        );
        assert_eq!(verdict.more_blocks, Some(118));
    }

    #[test]
    fn more_blocks_than_anybody_runs_are_not_asked_for() {
        // The mean lies where the margin ends: neither answer can be had.
        let verdict = of(-0.000_05, 0.019_85, 0.06);
        assert!(verdict.more_blocks.is_some_and(|more| more < 300), "{verdict:?}");
        let verdict = super::of(&noisy(0.001, 0.3), Corrected { p: 0.9, factor: 1.0 }, 0.01);
        assert!(verdict.more_blocks.is_some_and(|more| more > 1000), "{verdict:?}");
        assert!(
            verdict
                .phrase
                .contains("; more blocks will not settle it here: a quieter host,"),
            "{verdict:?}"
        );
        assert!(!verdict.phrase.contains("blocks needed"), "{verdict:?}");
    }
}
