//! The decision table on a change. There is no number of blocks still needed:
//! the run before the upgrade cannot be prolonged.

use crate::analysis::verdict::{bound, of_row};
use crate::analysis::{Refusal, Verdict, Word};
use crate::show::{known_change, margin as show_margin};
use tare_stats::{Interval, Row, Welch, decide};

/// Rows 1 to 5, for a positive margin `m` in logs and Holm's `p`.
pub(super) fn decided(welch: &Welch, p: f64, m: f64) -> Verdict {
    let row = decide(welch.interval, p, m);
    Verdict {
        phrase: phrase(row, welch, m),
        ..of_row(row)
    }
}

fn phrase(row: Row, welch: &Welch, m: f64) -> String {
    let Interval { low, high } = welch.interval;
    let margin = show_margin(m.exp_m1());
    match row {
        Row::Equal if welch.interval.contains(0.0) => format!("within {margin}"),
        Row::Equal => {
            let change = known_change(welch.difference.exp());
            format!("measurably {change}, within the margin of {margin}")
        }
        Row::SlowerBeyond | Row::FasterBeyond => "by more than the margin".to_owned(),
        Row::SlowerPerhaps | Row::FasterPerhaps => "perhaps by less than the margin".to_owned(),
        Row::Inconclusive => format!("{}, {}", bound(high, "slower"), bound(-low, "faster")),
    }
}

/// Row 0, for the reasons before and after.
pub(super) fn refused([before, after]: &[Vec<Refusal>; 2]) -> Verdict {
    let told = |when: &'static str, refusals: &[Refusal]| -> Vec<String> {
        refusals.iter().map(|r| format!("{when}: {r}")).collect()
    };
    let mut phrases = told("before", before);
    phrases.extend(told("after", after));
    Verdict {
        row: 0,
        word: Word::None,
        beyond_margin: false,
        phrase: phrases.join("; "),
        refusals: before.iter().chain(after).cloned().collect(),
        more_blocks: None,
    }
}
