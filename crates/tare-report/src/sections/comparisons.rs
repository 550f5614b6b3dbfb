//! Every cell against its baselines: the headline with its interval and verdict.

use super::{cells, columns, kind, kind_columns};
use crate::chart::Picture;
use crate::document::{Cell, Column, Section, Show, Table};
use crate::words::{remarks, verdict};
use tare_analysis::{Against, Analysis, Comparison, MetricComparison};

/// A section per baseline.
pub(super) fn sections(analysis: &Analysis) -> Vec<Section> {
    let of = |against| section(analysis, against);
    [Against::Native, Against::NativeSet]
        .into_iter()
        .filter_map(of)
        .collect()
}

fn section(analysis: &Analysis, against: Against) -> Option<Section> {
    let of_baseline = analysis.comparisons.iter().filter(|c| c.against == against);
    let shown: Vec<&Comparison> = of_baseline.collect();
    let baseline = &analysis.study.baseline;
    let (title, about) = match against {
        Against::Native => (
            format!("Against {baseline}, same provisioning (over 1 costs more)"),
            format!("The cost of the platform: each cell over {baseline} with the same kind of limit."),
        ),
        Against::NativeSet => (
            format!("Against {baseline}-set: {baseline} pinned, without quota (over 1 costs more)"),
            format!(
                "The cost of buying the size: each vanilla cell over {baseline} with as many pinned CPUs and no quota. {baseline} vanilla itself is the cost of the quota."
            ),
        ),
    };
    // What is held against the baseline limited alike is drawn with the answer.
    let drawn = (against == Against::NativeSet).then(|| Picture::forest(analysis, &shown));
    Section::evidence(title)
        .about(about + &looks(analysis))
        .picture(drawn.flatten())
        .table(table(analysis, against, &shown))
        .unless_empty()
        .filter(|_| !shown.is_empty())
}

/// What the intervals of a study with looks are called.
fn looks(analysis: &Analysis) -> String {
    if analysis.study.protocol.stopping.is_fixed() {
        String::new()
    } else {
        format!(" Intervals: {}.", analysis.intervals)
    }
}

fn table(analysis: &Analysis, against: Against, comparisons: &[&Comparison]) -> Table {
    let id = match against {
        Against::Native => "costs",
        Against::NativeSet => "costs-against-set",
    };
    let headline = remarks::headline(analysis);
    let own = [
        Column::name("workload"),
        Column::name("metric"),
        Column::number("n", "blocks in which both cells have a figure"),
        Column::interval(
            headline,
            "cost of one typical run over its cost on the baseline, with its 95 % interval",
        ),
        Column::name("verdict"),
        Column::interval("ratio of means", "total cost of many runs"),
        Column::words("remarks"),
    ];
    let mut table = Table::new(id, 3, columns(kind_columns(), own));
    for comparison in comparisons {
        for metric in comparison.primary_first() {
            table.push_as(metric.metric.primary, row(analysis, comparison, metric));
        }
    }
    table
}

fn row(analysis: &Analysis, comparison: &Comparison, metric: &MetricComparison) -> Vec<Cell> {
    let verdict = metric.verdict.as_ref();
    let phrase = verdict.map_or_else(String::new, verdict::phrase);
    let remarks = remarks::joined(vec![phrase, remarks::of_metric(analysis, comparison, metric)]);
    let own = [
        comparison.cell.workload.as_str().into(),
        metric.metric.name.as_str().into(),
        Cell::count(metric.n),
        cost(metric),
        Cell::verdict(verdict.map(|v| v.word)),
        Cell::interval(metric.ratio_of_means, Show::Ratio),
        remarks.into(),
    ];
    cells(kind(&comparison.cell.kind), own)
}

pub(super) fn cost<M>(metric: &MetricComparison<M>) -> Cell {
    match (
        &metric.paired,
        metric.cost().zip(remarks::without_interval(metric)),
    ) {
        (Some(paired), _) => Cell::Interval(paired.ratio, Show::Ratio),
        (None, Some((cost, shown))) => Cell::Worded(vec![cost], shown),
        (None, None) => Cell::Missing,
    }
}
