//! The figures beside the headline.

use super::slices::against;
use super::{cells, columns, kind, kind_columns};
use crate::chart::Picture;
use crate::document::{Cell, Column, Section, Show, Table};
use crate::words::remarks;
use tare_analysis::{Analysis, Comparison, MetricComparison, Op, Steadiness};
use tare_model::metric::Direction;

/// The heads behind those that say what is compared.
pub(super) fn tested() -> [Column; 13] {
    [
        Column::number("n", "pairs used"),
        Column::number("lost", "blocks in which both ran and one has no figure"),
        Column::interval("ratio of means", "total cost of many runs over the baseline's"),
        Column::interval("Loss", "share of the baseline's mean; positive is worse"),
        Column {
            meaning: "by how much the raw figure is above or below the baseline's",
            ..Column::name("Op")
        },
        Column::number(
            "variability overhead",
            "growth of the standard deviation, 0 if it shrinks",
        ),
        Column::interval("steadiness", ""),
        Column::machine("steadiness verdict", ""),
        Column::number("r", "correlation of the pair over blocks"),
        Column::number("p", "paired t test"),
        Column::number("Holm", "p corrected for the number of tests"),
        Column::number("Wilcoxon", "p of Wilcoxon's signed-rank test"),
        Column::number("TOST", "p of equality"),
    ]
}

pub(super) fn tests<M>(metric: &MetricComparison<M>, direction: Direction) -> [Cell; 13] {
    let paired = metric.paired.as_ref();
    let p = |p: Option<f64>| Cell::figure(p, Show::P);
    [
        Cell::count(metric.n),
        Cell::count(metric.lost),
        Cell::interval(metric.ratio_of_means, Show::Ratio),
        Cell::interval(metric.loss, Show::Percent),
        op(metric.op, direction),
        Cell::figure(metric.variability_overhead, Show::Percent),
        steadiness(metric),
        steadiness_verdict(metric).map_or(Cell::Blank, |v| v.to_string().into()),
        Cell::figure(metric.pair_correlation, Show::Decimals(2)),
        p(paired.and_then(|p| p.p)),
        p(paired.and_then(|p| p.p_holm)),
        p(paired.and_then(|p| p.p_wilcoxon)),
        p(paired.and_then(|p| p.p_equal)),
    ]
}

/// Positive where the raw figure is above the baseline's.
fn op(op: Option<Op>, direction: Direction) -> Cell {
    op.map_or(Cell::Missing, |op| {
        let sign = if remarks::is_more(direction, op) {
            1.0
        } else {
            -1.0
        };
        Cell::Worded(vec![sign * op.value], remarks::op(direction, op))
    })
}

fn steadiness<M>(metric: &MetricComparison<M>) -> Cell {
    metric.steadiness.as_ref().map_or(Cell::Missing, |s| {
        let figures = std::iter::once(s.value).chain(s.low).chain(s.high);
        Cell::Worded(figures.collect(), remarks::steadiness(s))
    })
}

fn steadiness_verdict<M>(metric: &MetricComparison<M>) -> Option<Steadiness> {
    metric.steadiness.as_ref()?.verdict
}

pub(super) fn section(analysis: &Analysis) -> Option<Section> {
    let keys = columns(
        kind_columns(),
        [
            Column::name("against"),
            Column::name("workload"),
            Column::name("metric"),
        ],
    );
    let mut table = Table::new("tests", 4, keys.into_iter().chain(tested()).collect());
    for comparison in &analysis.comparisons {
        for metric in &comparison.metrics {
            table.push_as(metric.metric.primary, row(comparison, metric));
        }
    }
    Section::evidence("More figures: ratios of means, losses, variability, tests")
        .about("Steadiness is the noise over the baseline's, with an interval from 30 pairs on. Op is the change of the raw figure: a rate that is 17 % lower is a cost of 1.21.")
        .picture(Picture::steadiness(analysis))
        .table(table)
        .unless_empty()
}

fn row(comparison: &Comparison, metric: &MetricComparison) -> Vec<Cell> {
    let of = [
        against(comparison).into(),
        comparison.cell.workload.as_str().into(),
        metric.metric.name.as_str().into(),
    ];
    let named = cells(kind(&comparison.cell.kind), of);
    let tests = tests(metric, metric.metric.direction);
    named.into_iter().chain(tests).collect()
}
