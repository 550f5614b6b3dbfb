//! What stands around the costs: what the baseline achieves, the cost of the quota, and what
//! the boxes themselves cost.

use super::super::page::{Page, Style};
use crate::show::{change_interval, cost_change, mebibytes};
use crate::words::remarks;
use tare_analysis::{Analysis, Estimate, Word};
use tare_model::metric::Unit;
use tare_model::platform::{PlatformPath, Provisioning};
use tare_model::study::Cell;

/// Where the words of these lines begin.
const INDENT: usize = 7;

pub(super) fn write(page: &mut Page, analysis: &Analysis) {
    let lines = [
        (analysis.study.baseline.to_string(), baseline(analysis)),
        ("quota".to_owned(), quota(analysis)),
        ("start".to_owned(), boxes(analysis)),
    ];
    for (name, words) in lines.iter().filter(|(_, words)| !words.is_empty()) {
        page.wrapped(name, INDENT, Style::Dim, words);
    }
}

/// What the baseline achieves where it is pinned, if it is: costs are ratios to such figures.
fn baseline(analysis: &Analysis) -> String {
    let study = &analysis.study;
    let Some(first) = preferred(analysis) else {
        return String::new();
    };
    let of = analysis
        .cells
        .iter()
        .filter(|c| c.cell.kind.platform == study.baseline && c.cell.kind.provisioning == first);
    let figures = of.filter_map(|cell| {
        let primary = cell.metrics.iter().find(|m| m.metric.primary)?;
        let metric = &primary.metric;
        let better = remarks::direction(metric).map_or_else(String::new, |better| format!(" ({better})"));
        Some(format!(
            "{} {}{better}",
            name(analysis, &cell.cell),
            metric.unit.show_briefly(primary.mean?)
        ))
    });
    figures.collect::<Vec<_>>().join(", ")
}

/// The way of provisioning of which there is room to tell: pinned, where the study has it.
fn preferred(analysis: &Analysis) -> Option<Provisioning> {
    let all = &analysis.study.provisioning;
    let pinned = all.iter().find(|p| **p == Provisioning::Pinned);
    pinned.or_else(|| all.first()).copied()
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
        let name = name(analysis, &comparison.cell);
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

/// The workload, and its size where there are several.
fn name(analysis: &Analysis, cell: &Cell) -> String {
    match &cell.kind.instance {
        Some(instance) if analysis.study.instances.len() > 1 => {
            format!("{} {instance}", cell.workload)
        }
        _ => cell.workload.clone(),
    }
}

/// `docker 347 ms 15 MiB`: the start-up latency and the memory of an idle box, of each platform's
/// first kind of box. Those of emulated machines say nothing of others.
fn boxes(analysis: &Analysis) -> String {
    let of = |platform: &PlatformPath| {
        let mut kinds = analysis.boxes.iter().filter(|b| b.kind.platform == *platform);
        let figures = kinds.find(|b| b.startup.median.is_some())?;
        let memory = figures
            .memory
            .median
            .map(|bytes| format!(" {} MiB", mebibytes(bytes)));
        let start = Unit::Second.show_briefly(figures.startup.median?);
        Some(format!("{platform} {start}{}", memory.unwrap_or_default()))
    };
    let real = analysis
        .study
        .platforms
        .iter()
        .filter(|p| !analysis.is_emulated(p));
    real.filter_map(of).collect::<Vec<_>>().join(", ")
}
