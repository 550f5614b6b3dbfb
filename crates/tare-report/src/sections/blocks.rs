//! What cells cost in every block.

use super::{cells, columns, kind, kind_columns};
use crate::chart::Picture;
use crate::document::{Cell, Column, Section, Show, Table};
use tare_analysis::{Analysis, BlockCost, Comparison};

/// A picture for people, a table for machines.
pub(super) fn section(analysis: &Analysis) -> Option<Section> {
    let own = [
        Column::name("workload"),
        Column::number("block", "in order of time"),
        Column::number("cost", "over the baseline in this block"),
        Column::name("findings"),
    ];
    let mut table = Table::new("blocks", 4, columns(kind_columns(), own)).of_data();
    for comparison in analysis.asked() {
        comparison
            .course
            .iter()
            .for_each(|of| table.push(row(comparison, of)));
    }
    Section::detail("Every block over time")
        .picture(Picture::blocks(analysis))
        .table(table)
        .unless_empty()
}

fn row(comparison: &Comparison, of: &BlockCost) -> Vec<Cell> {
    let own = [
        comparison.cell.workload.as_str().into(),
        Cell::Count((of.block + 1).into()),
        Cell::Figure(of.cost, Show::Ratio),
        of.findings.join(" ").into(),
    ];
    cells(kind(&comparison.cell.kind), own)
}
