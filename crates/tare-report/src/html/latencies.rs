//! How long requests took.

use super::tables::{NAME, NUMBER, Row, Table, cell, group, head};
use crate::analysis::{Analysis, CellLatencies};
use crate::facts;

/// Title and table; absent if no workload is a load.
pub(super) struct Latencies {
    pub title: &'static str,
    pub table: Table,
}

pub(super) fn section(analysis: &Analysis) -> Option<Latencies> {
    let mut last = None;
    let row = |of: &CellLatencies| Row {
        group: group(&mut last, of.cell.kind.to_string()),
        class: "primary",
        cells: std::iter::once(cell(NAME, &of.cell.workload))
            .chain(facts::latencies(of).map(|figure| cell(NUMBER, figure)))
            .collect(),
    };
    let rows: Vec<Row> = analysis.latencies.iter().map(row).collect();
    let columns = facts::LATENCY_COLUMNS.map(|name| (name, NUMBER));
    let head = head(&[&[("workload", NAME)], &columns[..]].concat());
    (!rows.is_empty()).then_some(Latencies {
        title: facts::LATENCIES,
        table: Table { head, rows },
    })
}
