//! Why each cell of an adaptive study stopped.

use super::tables::{Cell, NAME, NUMBER, Row, TEXT, Table, cell, group, head};
use crate::analysis::{Analysis, Stop};
use crate::facts;
use crate::show::or_missing;

/// Title and table; absent if every cell ran in every block.
pub(super) struct Stops {
    pub title: String,
    pub table: Table,
}

pub(super) fn section(analysis: &Analysis) -> Option<Stops> {
    let stops = analysis.stops.as_ref()?;
    let mut last = None;
    let row = |stop: &Stop| Row {
        group: group(&mut last, facts::stop_group(analysis, stop)),
        class: "primary",
        cells: cells(stop),
    };
    Some(Stops {
        title: facts::stops_title(stops),
        table: Table {
            head: head(&[
                ("workload", NAME),
                ("blocks", NUMBER),
                ("n", NUMBER),
                ("half-width", NUMBER),
                ("why", TEXT),
            ]),
            rows: stops.comparisons.iter().map(row).collect(),
        },
    })
}

fn cells(stop: &Stop) -> Vec<Cell> {
    vec![
        cell(NAME, &stop.at.cell.workload),
        cell(NUMBER, stop.blocks.to_string()),
        cell(NUMBER, stop.at.n.to_string()),
        cell(NUMBER, or_missing(stop.half_width(), facts::half_width)),
        cell(TEXT, stop.why()),
    ]
}
