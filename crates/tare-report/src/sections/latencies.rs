//! Request latency.

use super::{kind, kind_columns};
use crate::chart::Picture;
use crate::document::{Cell, Column, Section, Show, Table};
use crate::words::facts;
use tare_analysis::{Analysis, CellLatencies};
use tare_model::load::PERCENTILES;
use tare_model::metric::Unit;

const ABOUT: &str = "Over all trials of a cell. A percentile is shown if at least ten requests took longer. In a closed loop, a slow answer delays later requests without counting that delay; in an open loop, each request counts from its due time.";

pub(super) fn section(analysis: &Analysis) -> Option<Section> {
    let [p50, p90, p99, p999] = PERCENTILES.map(|(name, _)| Column::number(name, ""));
    let [platform, provisioning, size] = kind_columns();
    let mut columns = vec![
        Column::name("workload"),
        platform,
        provisioning,
        size,
        Column::number("requests", ""),
        Column::number("mean", ""),
        p50,
        p90,
        p99,
        p999,
    ];
    let mut rows: Vec<Vec<Cell>> = analysis.latencies.iter().map(row).collect();
    if analysis.latencies.iter().any(|of| of.reconnects > Some(0)) {
        columns.push(Column::number(
            "reconnects",
            "connections reopened, since the server had closed them",
        ));
        for (row, of) in rows.iter_mut().zip(&analysis.latencies) {
            row.push(of.reconnects.map_or(Cell::Missing, Cell::Count));
        }
    }
    let table = Table::new("latencies", 1, columns);
    Section::new("Request latency")
        .about(ABOUT)
        .facts(facts::peaks(analysis))
        .picture(Picture::latencies(analysis))
        .table(table.with(rows))
        .unless_empty()
}

fn row(of: &CellLatencies) -> Vec<Cell> {
    let time = |seconds| Cell::figure(seconds, Show::Briefly(Unit::Second));
    let [p50, p90, p99, p999] = of.percentiles.map(time);
    let [platform, provisioning, size] = kind(&of.cell.kind);
    vec![
        of.cell.workload.as_str().into(),
        platform,
        provisioning,
        size,
        Cell::Count(of.requests),
        time(of.mean),
        p50,
        p90,
        p99,
        p999,
    ]
}
