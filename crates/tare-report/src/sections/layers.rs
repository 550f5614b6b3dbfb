//! The gaps of boxes in boxes, split by layer.

use super::{cells, columns, kind, kind_columns};
use crate::document::{Cell, Column, Section, Show, Table};
use tare_analysis::{Analysis, Split, Step};

const ABOUT: &str = "What each layer adds to the one around it, over their common pairs. The steps multiply to the last row, the whole gap, and have no verdicts of their own.";

pub(super) fn section(analysis: &Analysis) -> Option<Section> {
    let nearly = if analysis.has_slices() { ", nearly" } else { "" };
    let own = [
        Column::name("workload"),
        Column::name("metric"),
        Column::name("step"),
        Column::number("n", "pairs"),
        Column::interval("paired ratio", "over 1 costs more"),
    ];
    let mut table = Table::new("layers", 5, columns(kind_columns(), own));
    for split in &analysis.layers {
        split.steps.iter().for_each(|step| table.push(row(split, step)));
        table.push_minor(row(split, &split.whole));
    }
    Section::new(format!(
        "Nested boxes: what each layer adds (the steps multiply to the whole{nearly})"
    ))
    .about(ABOUT)
    .table(table)
    .unless_empty()
}

fn row(split: &Split, step: &Step) -> Vec<Cell> {
    let own = [
        split.cell.workload.as_str().into(),
        split.metric.as_str().into(),
        step.name().into(),
        Cell::count(step.n),
        Cell::interval(step.ratio, Show::Ratio),
    ];
    cells(kind(&split.cell.kind), own)
}
