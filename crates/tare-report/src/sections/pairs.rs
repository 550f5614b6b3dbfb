//! Platforms against one another that the study holds against its baseline alone.

use super::{cells, columns, kind, kind_columns};
use crate::document::{Cell, Column, Section, Show, Table};
use tare_analysis::{Analysis, OtherPair};

const ABOUT: &str = "Exploratory: the study asks what each platform costs over its baseline. Among so many other pairs, some differ by chance, and no test is corrected for their number, so none has a verdict. Figures are of whole trials per block: cells whose slices ran next to the baseline, but not next to each other, have no typical cost over each other, so stalls are included here. `--baseline PLATFORM` compares all platforms with one of them.";

pub(super) fn section(analysis: &Analysis) -> Option<Section> {
    let own = [
        Column::name("workload"),
        Column::name("against"),
        Column::number("n", "blocks in which both have a figure"),
        Column::interval(
            "cost",
            "cost of one typical run over its cost there, with its 95 % interval for this pair only",
        ),
    ];
    let table = Table::new("other-pairs", 4, columns(kind_columns(), own));
    Section::evidence("Other pairs of platforms (exploratory)")
        .about(ABOUT)
        .table(table.with(analysis.other_pairs.iter().map(row)))
        .unless_empty()
}

fn row(of: &OtherPair) -> Vec<Cell> {
    let own = [
        of.cell.workload.as_str().into(),
        of.against.to_string().into(),
        Cell::count(of.n),
        Cell::interval(Some(of.ratio), Show::Ratio),
    ];
    cells(kind(&of.cell.kind), own)
}
