//! What a reader of any figure of foreign data must know.

use super::Table;
use super::comparison::{ForeignComparison, Wishes};
use super::fault::short;
use crate::analysis::Notice;
use crate::analysis::caveats::{CHECK, rare_stalls};
use tare_model::size::counted;

/// Most names that a notice holds.
const SHOWN: usize = 6;

pub(super) fn all(table: &Table, wishes: Wishes, comparisons: &[ForeignComparison]) -> Vec<Notice> {
    let mut notices = Vec::new();
    notices.extend(order(table));
    notices.extend(directions(table, wishes));
    notices.extend(uncompared(table, comparisons));
    notices.extend(without_logs(comparisons));
    notices.extend(without_spread(comparisons));
    notices
}

fn order(table: &Table) -> Option<Notice> {
    table.blocks.named.then(|| Notice {
        notice: "block-order",
        text: "the blocks have names: they are taken to have run in the order in which the file first names them, which matters to the flag for autocorrelation and to steadiness".to_owned(),
    })
}

fn directions(table: &Table, wishes: Wishes) -> Option<Notice> {
    let facts = table.facts.iter().zip(table.metrics.all());
    let unnamed: Vec<&String> = facts
        .filter(|(facts, _)| facts.direction.is_none())
        .map(|(_, name)| name)
        .collect();
    (wishes.direction.is_none() && !unnamed.is_empty()).then(|| Notice {
        notice: "direction",
        text: format!(
            "taken as better when lower, as times are: {}; say otherwise in a column 'direction' or by --direction",
            names(unnamed.iter().map(|n| n.as_str()))
        ),
    })
}

/// Cells that are neither compared nor a baseline.
fn uncompared(table: &Table, comparisons: &[ForeignComparison]) -> Option<Notice> {
    let mut used: Vec<&str> = comparisons.iter().flat_map(|c| [c.cell, c.baseline]).collect();
    used.sort_unstable();
    used.dedup();
    let unused = table.cells.all().iter().map(String::as_str);
    let unused: Vec<&str> = unused.filter(|cell| used.binary_search(cell).is_err()).collect();
    (!unused.is_empty()).then(|| Notice {
        notice: "no-baseline",
        text: format!(
            "without a baseline, and held against none: {}; name one with --baseline",
            names(unused.into_iter())
        ),
    })
}

fn without_logs(comparisons: &[ForeignComparison]) -> Option<Notice> {
    let without = comparisons.iter().filter(|c| c.without_logs > 0).count();
    (without > 0).then(|| Notice {
        notice: "no-logarithm",
        text: format!(
            "{} of {} {} values of 0 or less, which have no ratio in logs: they get the ratio of means (where the mean that it is divided by is above 0), and no paired ratio, test or verdict",
            without,
            counted(comparisons.len(), "comparison"),
            if comparisons.len() == 1 { "holds" } else { "hold" }
        ),
    })
}

/// Spread in logs below which a series is constant but for rounding.
const ROUNDING: f64 = 1e-12;

fn without_spread(comparisons: &[ForeignComparison]) -> Option<Notice> {
    let constant = |c: &&ForeignComparison| c.figures.paired.as_ref().is_some_and(|p| p.sd_log < ROUNDING);
    let found = comparisons.iter().filter(constant).count();
    (found > 0).then(|| Notice {
        notice: "no-spread",
        text: format!(
            "{} of {} have the same ratio in every block: the interval is a point. Counters may be so, times hardly: look whether values were copied or rounded",
            found,
            counted(comparisons.len(), "comparison")
        ),
    })
}

fn names<'a>(all: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<&str> = all.collect();
    let mut shown: Vec<String> = all.iter().take(SHOWN).map(|name| short(name)).collect();
    if all.len() > SHOWN {
        shown.push(format!("{} more", all.len() - SHOWN));
    }
    shown.join(", ")
}

/// What holds for all data, with its figures.
pub(super) fn caveats(comparisons: &[ForeignComparison], family: usize, margin: f64) -> Vec<String> {
    let mut caveats = vec![
        "Nothing is known of how these data came about: intervals and verdicts hold if each block held one trial of both cells, close together in time and in random order, and if the blocks are independent.".to_owned(),
        "A paired ratio is what one typical run costs over what it costs on the baseline in the same block: 1.19 means that the same work takes 1.19 times as long, whether the metric is a time or a rate. 'slower' stands for whatever is worse.".to_owned(),
        format!("Intervals are 95 % t intervals on log ratios within blocks; {CHECK}"),
        "A block in which one of two cells has no value is a pair lost; over 1 in 10, and there is no verdict: failures are rarely random.".to_owned(),
    ];
    let tests = counted(family, "test");
    if family > 0 {
        caveats.push(format!(
            "Differences are tested with Holm's correction over {tests}, one per comparison; each 'equal' (within {}) has its own error. Wilcoxon's p stands beside and decides nothing.",
            crate::show::margin(margin)
        ));
    }
    caveats.extend(rare_stalls(comparisons.iter().map(|c| c.figures.n)));
    caveats
}
