//! The decision table.
//!
//! [L, U] is the 95 % interval of d, the loss in logs; m is the margin in logs;
//! p is Holm's. The first row that holds decides:
//!
//! | row | condition | verdict |
//! |---|---|---|
//! | 0 | a reason not to judge | none |
//! | 1 | -m < L and U < m | equal |
//! | 2 | L >= m and p <= 0.05 | slower, by more than the margin |
//! | 3 | 0 < L < m <= U and p <= 0.05 | slower, perhaps by less than the margin |
//! | 4 | as 2 and 3, mirrored | faster |
//! | 5 | otherwise | inconclusive |
//!
//! Row 1 is two one-sided tests at 2.5 %. It needs no correction: each such
//! claim has its own error.

use super::LEVEL;
use super::refusal::Refusal;
use crate::show::{cost_change, margin, percent};
use serde::Serialize;
use std::fmt;
use tare_stats::{Interval, TEstimate, more_blocks};

/// Level of the corrected p values.
const ALPHA: f64 = 0.05;

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
    /// The verdict in a few words, behind a cost that says slower or faster.
    pub fn after_cost(&self) -> String {
        match self.word {
            Word::None => {
                let mut reasons: Vec<&str> = self.refusals.iter().map(Refusal::short).collect();
                // What holds for the cell and for its baseline is told once.
                reasons.dedup();
                format!("{} ({})", self.word, reasons.join(", "))
            }
            Word::Inconclusive => self.word.to_string(),
            Word::Equal if self.phrase.starts_with("within") => format!("{} {}", self.word, self.phrase),
            Word::Equal => format!("{}, though measurable", self.word),
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

/// Rows 1 to 5, for a positive margin `m` in logs and Holm's `p`.
pub(crate) fn decide(estimate: &TEstimate, p: f64, m: f64) -> Verdict {
    let (row, word, beyond_margin) = row(estimate.interval, p, m);
    let (phrase, more_blocks) = match row {
        1 => (within(estimate, m), None),
        5 => open(estimate, p, m),
        _ if beyond_margin => ("by more than the margin".to_owned(), None),
        _ => ("perhaps by less than the margin".to_owned(), None),
    };
    Verdict {
        phrase,
        beyond_margin,
        more_blocks,
        ..verdict(row, word)
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

/// Row, verdict, and whether it is by more than the margin.
fn row(interval: Interval, p: f64, m: f64) -> (u8, Word, bool) {
    let Interval { low, high } = interval;
    let significant = p <= ALPHA;
    let beyond = |low: f64| low >= m && significant;
    let perhaps = |low: f64, high: f64| 0.0 < low && low < m && m <= high && significant;
    if -m < low && high < m {
        (1, Word::Equal, false)
    } else if beyond(low) {
        (2, Word::Slower, true)
    } else if perhaps(low, high) {
        (3, Word::Slower, false)
    } else if beyond(-high) {
        (4, Word::Faster, true)
    } else if perhaps(-high, -low) {
        (4, Word::Faster, false)
    } else {
        (5, Word::Inconclusive, false)
    }
}

fn within(estimate: &TEstimate, m: f64) -> String {
    if estimate.interval.contains(0.0) {
        return format!("within {}", margin(m.exp_m1()));
    }
    let change = cost_change(estimate.mean.exp());
    format!("measurably {change}, within the margin of {}", margin(m.exp_m1()))
}

fn open(estimate: &TEstimate, p: f64, m: f64) -> (String, Option<u64>) {
    let more = more_blocks(estimate, LEVEL, m);
    let needed = match more {
        Some(1) => "about 1 more block needed".to_owned(),
        Some(more) => format!("about {more} more blocks needed"),
        None => "no number of blocks would decide it".to_owned(),
    };
    let Interval { low, high } = estimate.interval;
    let corrected = if low > 0.0 || high < 0.0 {
        format!(
            "; a difference by itself, not after Holm's correction (p {})",
            crate::show::p_value(p)
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
fn bound(limit: f64, word: &str) -> String {
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

    fn of(low: f64, high: f64, p: f64) -> Verdict {
        let estimate = TEstimate {
            n: 20,
            mean: f64::midpoint(low, high),
            sd: 0.02,
            interval: Interval { low, high },
        };
        decide(&estimate, p, 0.01)
    }

    #[track_caller]
    fn check(low: f64, high: f64, p: f64, row: u8, word: Word, beyond_margin: bool) {
        let verdict = of(low, high, p);
        assert_eq!(
            (verdict.row, verdict.word, verdict.beyond_margin),
            (row, word, beyond_margin)
        );
    }

    #[test]
    fn each_row_holds_where_the_table_says() {
        check(-0.005, 0.005, 0.5, 1, Word::Equal, false);
        check(0.001, 0.009, 0.001, 1, Word::Equal, false);
        check(0.01, 0.02, 0.05, 2, Word::Slower, true);
        check(0.001, 0.01, 0.05, 3, Word::Slower, false);
        check(0.009, 0.5, 0.05, 3, Word::Slower, false);
        check(-0.02, -0.01, 0.05, 4, Word::Faster, true);
        check(-0.01, -0.001, 0.05, 4, Word::Faster, false);
        check(-0.02, 0.02, 0.9, 5, Word::Inconclusive, false);
    }

    #[test]
    fn the_ends_of_the_band_are_not_within_it() {
        check(-0.01, 0.005, 0.5, 5, Word::Inconclusive, false);
        check(-0.005, 0.01, 0.5, 5, Word::Inconclusive, false);
        check(0.0, 0.02, 0.05, 5, Word::Inconclusive, false);
    }

    #[test]
    fn without_holm_s_consent_there_is_no_difference() {
        check(0.01, 0.02, 0.051, 5, Word::Inconclusive, false);
        check(0.001, 0.02, 0.051, 5, Word::Inconclusive, false);
        check(-0.02, -0.01, 0.051, 5, Word::Inconclusive, false);
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
}
