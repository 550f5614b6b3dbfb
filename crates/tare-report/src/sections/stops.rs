//! Why each cell of an adaptive study stopped.

use super::{cells, columns, kind, kind_columns};
use crate::document::{Cell, Column, Section, Show, Table};
use crate::words::stops::why;
use tare_analysis::{Against, Analysis, Stop};

pub(super) fn section(analysis: &Analysis) -> Option<Section> {
    let stops = analysis.stops.as_ref()?;
    let taken: Vec<String> = stops.taken.iter().map(u32::to_string).collect();
    if taken.is_empty() {
        return Some(Section::new("Why each cell stopped: no look was taken"));
    }
    let title = format!("Why each cell stopped (looks after {} blocks)", taken.join(", "));
    Some(
        Section::new(title)
            .about(ABOUT)
            .table(table(analysis, &stops.comparisons)),
    )
}

const ABOUT: &str = "Each comparison at its last look. The half-width is that of the interval of the loss, allowing for looks. A cell stops when all its comparisons are narrow enough, or clearly inside or outside the margin.";

fn table(analysis: &Analysis, stops: &[Stop]) -> Table {
    let keys = columns(kind_columns(), [Column::name("against")]);
    let own = [
        Column::name("workload"),
        Column::number("blocks", "after which this look was taken"),
        Column::number("n", ""),
        Column::number("half-width", "of the interval, as a share"),
        Column::words("why"),
    ];
    let mut table = Table::new("stops", keys.len(), keys.into_iter().chain(own).collect());
    for stop in stops {
        table.push_as(stop.settled, row(analysis, stop));
    }
    table
}

fn row(analysis: &Analysis, stop: &Stop) -> Vec<Cell> {
    let baseline = &analysis.study.baseline;
    let against = match stop.at.against {
        Against::NativeSet => format!("{baseline}-set"),
        Against::Native => baseline.to_string(),
    };
    let own = [
        against.into(),
        stop.at.cell.workload.as_str().into(),
        Cell::Count(stop.blocks.into()),
        Cell::Count(stop.at.n.into()),
        Cell::figure(stop.half_width().map(f64::exp_m1), Show::PlusMinus),
        why(stop).into(),
    ];
    cells(kind(&stop.at.cell.kind), own)
}
