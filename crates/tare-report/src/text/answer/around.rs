//! What stands around the costs in the answer.

use super::super::page::{Page, Style};
use crate::show::{change_interval, cost_change};
use crate::words::{around, causes, why};
use tare_analysis::{Analysis, Comparison, Estimate, Flag, Word};
use tare_model::study::Cell;

/// Where the words of these lines begin.
const INDENT: usize = 7;

pub(super) fn write(page: &mut Page, analysis: &Analysis) {
    let lines = [
        (analysis.study.baseline.to_string(), around::baseline(analysis)),
        ("quota".to_owned(), quota(analysis)),
        ("start".to_owned(), around::boxes(analysis)),
        ("why".to_owned(), causes(analysis)),
    ];
    for (name, words) in lines.iter().filter(|(_, words)| !words.is_empty()) {
        page.wrapped(name, INDENT, Style::Dim, words);
    }
}

/// Where the time goes that cells are shown to take more.
fn causes(analysis: &Analysis) -> String {
    let is_slower = |cell: &Cell| {
        analysis
            .asked()
            .any(|c| c.cell == *cell && (c.word() == Word::Slower || has_slow_moments(c)))
    };
    let shares = why::brief(analysis.gaps.iter().filter(|gap| is_slower(&gap.cell)));
    let is_variant = |cell: &Cell| {
        analysis
            .gaps
            .iter()
            .any(|gap| gap.has_options() && gap.has_variant(cell))
    };
    let of_wholes = analysis.evidence.iter().filter(|of| !is_variant(&of.cell));
    let seen = causes::answer(of_wholes.filter(|of| is_slower(&of.cell)));
    let told = [shares, seen];
    told.into_iter()
        .filter(|words| !words.is_empty())
        .collect::<Vec<_>>()
        .join("; ")
}

/// Whether its mean cost is beyond its typical one: throttled, stopped or waiting now and then.
fn has_slow_moments(comparison: &Comparison) -> bool {
    let flags = comparison.primary().map_or(&[][..], |metric| &metric.flags);
    flags
        .iter()
        .any(|flag| matches!(flag, Flag::TailOfSlices { mean_cost } if *mean_cost > 1.0))
}

/// The baseline by quota over the same by set: what the quota itself costs, where that is shown,
/// where it is nothing, and where neither is.
fn quota(analysis: &Analysis) -> String {
    let (mut shown, mut equal, mut open, mut none) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut bounds = None;
    for comparison in analysis.comparisons.iter().filter(|c| c.is_price_of_quota()) {
        let Some(primary) = comparison.primary() else {
            continue;
        };
        let name = around::name(analysis, &comparison.cell);
        match (primary.word(), &primary.paired) {
            (Word::Slower | Word::Faster, Some(paired)) => {
                shown.push(format!("{name} {}", cost_change(paired.ratio.value)));
            }
            (Word::Equal, _) => equal.push(name),
            (Word::None, _) => none.push(name),
            (Word::Inconclusive, Some(paired)) => {
                bounds = hull(bounds, paired.ratio);
                open.push(name);
            }
            (_, None) => open.push(name),
        }
    }
    let within = bounds.map_or_else(String::new, |Estimate { low, high, .. }| {
        format!(" {}", change_interval(1.0, low, high))
    });
    let told = [
        ("equal: ".to_owned(), &equal),
        (format!("inconclusive{within}: "), &open),
        ("no verdict: ".to_owned(), &none),
    ]
    .into_iter();
    let told = told.filter(|(_, names)| !names.is_empty());
    let told = told.map(|(word, names)| format!("{word}{}", names.join(", ")));
    shown.into_iter().chain(told).collect::<Vec<_>>().join("; ")
}

/// What holds for both: from the lower of the lower ends to the higher of the higher ones, around 1.
fn hull(one: Option<Estimate>, other: Estimate) -> Option<Estimate> {
    let one = one.unwrap_or(other);
    Some(Estimate {
        value: 1.0,
        low: one.low.min(other.low),
        high: one.high.max(other.high),
    })
}
