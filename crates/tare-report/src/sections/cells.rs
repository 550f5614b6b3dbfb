//! Every cell.

use super::{cells, columns, kind, kind_columns};
use crate::document::{Cell, Column, Section, Show, Table};
use crate::words::remarks;
use tare_analysis::{Analysis, CellFigures, MetricFigures};

pub(super) fn section(analysis: &Analysis) -> Option<Section> {
    let own = [
        Column::name("workload"),
        Column::name("metric"),
        Column::number("n", "successful trials, one per block"),
        Column::interval("mean", "with its 95 % interval"),
        Column::number("sd", "standard deviation"),
        Column::number("CV", "standard deviation over the mean"),
        Column::machine("unit", "of mean and sd"),
        Column::words("direction"),
        Column::words("failures and findings"),
    ];
    let mut table = Table::new("cells", 3, columns(kind_columns(), own));
    for figures in &analysis.cells {
        for metric in &figures.metrics {
            table.push_as(metric.metric.primary, row(figures, metric));
        }
        if figures.metrics.is_empty() {
            table.push(failed(figures));
        }
    }
    Section::detail("Absolute figures of every cell")
        .table(table)
        .unless_empty()
}

fn row(figures: &CellFigures, metric: &MetricFigures) -> Vec<Cell> {
    let unit = || Show::Unit(metric.metric.unit.clone());
    // Once per cell, not once per metric.
    let of_cell = metric.metric.primary.then(|| remarks::of_cell(figures));
    let mean = match (metric.interval, metric.mean) {
        (Some(interval), _) => Cell::Interval(interval, unit()),
        (None, mean) => Cell::figure(mean, unit()),
    };
    let own = [
        figures.cell.workload.as_str().into(),
        metric.metric.name.as_str().into(),
        Cell::count(metric.n),
        mean,
        Cell::figure(metric.sd, unit()),
        Cell::figure(metric.cv, Show::Percent),
        metric.metric.unit.symbol().into(),
        remarks::direction(&metric.metric).unwrap_or_default().into(),
        of_cell.unwrap_or_default().into(),
    ];
    cells(kind(&figures.cell.kind), own)
}

/// A cell of which no figure is known.
fn failed(figures: &CellFigures) -> Vec<Cell> {
    let own = [
        figures.cell.workload.as_str().into(),
        Cell::Missing,
        Cell::Count(0),
        Cell::Missing,
        Cell::Missing,
        Cell::Missing,
        Cell::Blank,
        Cell::Blank,
        remarks::of_cell(figures).into(),
    ];
    cells(kind(&figures.cell.kind), own)
}
