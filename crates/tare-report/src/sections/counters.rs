//! What the host counted of the boxes.

use super::{kind, kind_columns};
use crate::document::{Cell, Column, Section, Show, Table};
use tare_analysis::{Analysis, CellCounter};

const ABOUT: &str =
    "Per trial, counted by the host over all processes of the box; of a virtual machine, those of its VMM.";

pub(super) fn section(analysis: &Analysis) -> Option<Section> {
    let [platform, provisioning, size] = kind_columns();
    let columns = vec![
        Column::name("counter"),
        Column::name("workload"),
        platform,
        provisioning,
        size,
        Column::number("n", "trials"),
        Column::number("median", ""),
        Column::number("least", ""),
        Column::number("most", ""),
    ];
    let table = Table::new("counters", 2, columns);
    let section = Section::evidence("Counters of the host").about(ABOUT);
    section
        .table(table.with(analysis.counters.iter().map(row)))
        .unless_empty()
}

fn row(of: &CellCounter) -> Vec<Cell> {
    let figure = |value| Cell::Figure(value, Show::Unit(of.unit.clone()));
    let [platform, provisioning, size] = kind(&of.cell.kind);
    vec![
        of.counter.as_str().into(),
        of.cell.workload.as_str().into(),
        platform,
        provisioning,
        size,
        Cell::count(of.trials),
        figure(of.median),
        figure(of.least),
        figure(of.most),
    ]
}
