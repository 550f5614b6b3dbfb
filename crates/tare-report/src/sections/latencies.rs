//! Request latency.

use super::{kind, kind_columns};
use crate::chart::Picture;
use crate::document::{Cell, Column, Section, Show, Table};
use tare_analysis::{Analysis, CellLatencies};
use tare_model::load::PERCENTILES;
use tare_model::metric::Unit;

const ABOUT: &str = "Over all trials of a cell. A percentile is shown if at least ten requests took longer. In a closed loop, a slow answer delays later requests without counting that delay; in an open loop, each request counts from its due time.";

pub(super) fn section(analysis: &Analysis) -> Option<Section> {
    let [p50, p90, p99, p999] = PERCENTILES.map(|(name, _)| Column::number(name, ""));
    let [platform, provisioning, size] = kind_columns();
    let columns = vec![
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
    let table = Table::new("latencies", 1, columns);
    Section::new("Request latency")
        .about(ABOUT)
        .picture(Picture::latencies(analysis))
        .table(table.with(analysis.latencies.iter().map(row)))
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
