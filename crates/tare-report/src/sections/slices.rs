//! What slices say beside the typical cost.

use super::{cells, columns, kind, kind_columns};
use crate::chart::Picture;
use crate::document::{Cell, Column, Section, Show, Table};
use crate::words::remarks;
use tare_analysis::{Against, Analysis, Comparison, MetricComparison, SliceFigures};

const ABOUT: &str = "In addition to the typical cost, which carries the verdict. The CPU cost has its own verdict if the work is CPU-bound.";

/// The section; none where nothing ran in slices.
pub(super) fn section(analysis: &Analysis) -> Option<Section> {
    let keys = columns(kind_columns(), [Column::name("against")]);
    let own = [
        Column::name("workload"),
        Column::name("metric"),
        Column::number("blocks", "in which the pair ran in slices"),
        Column::number("rounds", ""),
        Column::number(
            "by rounds",
            "share of the variance between blocks that the scatter of rounds explains; the rest is of processes and boxes",
        ),
        Column::number(
            "after 1 min",
            "about how wide the interval would be after one more minute for this row alone, over its width now",
        ),
        Column::interval(
            "mean cost",
            "all time over all work, including stalls, over the baseline's",
        ),
        Column::interval(
            "stalls",
            "share of time in slices of over twice the usual cost, minus the baseline's",
        ),
        Column::interval("CPU cost", "the mean cost in CPU time"),
        Column::name("verdict on CPU cost"),
        Column::words("remarks"),
    ];
    let mut table = Table::new("slices", keys.len(), keys.into_iter().chain(own).collect());
    for comparison in &analysis.comparisons {
        for metric in &comparison.metrics {
            if let Some(slices) = &metric.slices {
                table.push_as(metric.metric.primary, row(comparison, metric, slices));
            }
        }
    }
    Section::evidence("Slices: mean cost, CPU cost and stalls")
        .about(ABOUT)
        .picture(Picture::slices(analysis))
        .table(table)
        .unless_empty()
}

fn row(comparison: &Comparison, metric: &MetricComparison, slices: &SliceFigures) -> Vec<Cell> {
    let cpu = slices.cpu.as_ref();
    let verdict = cpu.and_then(|c| c.verdict.as_ref());
    let own = [
        against(comparison).into(),
        comparison.cell.workload.as_str().into(),
        metric.metric.name.as_str().into(),
        Cell::count(slices.blocks),
        Cell::count(slices.rounds),
        Cell::figure(slices.of_rounds.map(|share| share.min(1.0)), Show::Percent),
        Cell::figure(comparison.after_minute, Show::Percent),
        Cell::interval(slices.mean, Show::Ratio),
        Cell::interval(slices.stall, Show::Percent),
        cpu.map_or(Cell::Blank, |c| Cell::Interval(c.cost.ratio, Show::Ratio)),
        Cell::verdict(verdict.map(|v| v.word)),
        cpu.map_or_else(String::new, remarks::cpu_verdict).into(),
    ];
    cells(kind(&comparison.cell.kind), own)
}

/// What a comparison is against: `native pinned`, `native pinned (native-set)`.
pub(super) fn against(comparison: &Comparison) -> String {
    let baseline = &comparison.baseline.kind;
    match comparison.against {
        Against::Native => baseline.to_string(),
        Against::NativeSet => format!("{baseline} ({}-set)", baseline.platform),
    }
}
