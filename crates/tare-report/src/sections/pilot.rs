//! What a pilot says, and what follows for a study.

use super::{columns, kind, kind_columns};
use crate::document::{Cell, Column, Document, Section, Show, Table};
use tare_analysis::pilot::{Advice, CellPilot, Level, PROCESSES, advice};
use tare_model::metric::Unit;
use tare_model::size::counted;

/// The pilot of every cell, and the advice.
pub fn pilot(cells: &[CellPilot]) -> Document {
    let sections = [
        Section::new("How much each level varies, and what it costs").table(table(cells)),
        Section::new("Advice").list(words(&advice(cells))),
    ];
    Document {
        whole: None,
        title: "Recommended repetitions".to_owned(),
        subtitle: String::new(),
        answer: Vec::new(),
        notices: Vec::new(),
        sections: sections.into(),
    }
}

fn table(cells: &[CellPilot]) -> Table {
    let own = [
        Column::name("workload"),
        Column::name("level"),
        Column::number("n", "in each of the level above"),
        Column::number("sd it adds", "over the mean"),
        Column::number("cost", "of one more"),
        Column::name("worth in each of the level above"),
        Column::words("remarks"),
    ];
    let mut table = Table::new("pilot", 4, columns(kind_columns(), own));
    for cell in cells {
        match &cell.levels {
            Some(levels) => levels
                .iter()
                .rev()
                .for_each(|level| table.push(row(cell, level, levels))),
            None => table.push(failed(cell)),
        }
    }
    table
}

fn row(cell: &CellPilot, level: &Level, levels: &[Level; 3]) -> Vec<Cell> {
    let own = [
        cell.cell.workload.as_str().into(),
        level.level.into(),
        Cell::count(level.n),
        added(level.variance),
        Cell::Figure(level.cost_seconds, Show::Briefly(Unit::Second)),
        worth(level, levels),
        Cell::Blank,
    ];
    super::cells(kind(&cell.cell.kind), own)
}

fn failed(cell: &CellPilot) -> Vec<Cell> {
    let why = format!(
        "too few boxes with {PROCESSES} figures each ({} failed)",
        counted(cell.failed, "trial")
    );
    let own = [
        cell.cell.workload.as_str().into(),
        Cell::Missing,
        Cell::Missing,
        Cell::Missing,
        Cell::Missing,
        Cell::Missing,
        why.into(),
    ];
    super::cells(kind(&cell.cell.kind), own)
}

/// The standard deviation that a level adds, over the mean.
fn added(variance: Option<f64>) -> Cell {
    match variance {
        Some(variance) if variance > 0.0 => Cell::Figure(variance.sqrt(), Show::Percent),
        Some(_) => Cell::Worded(vec![0.0], "none visible".to_owned()),
        None => Cell::Missing,
    }
}

fn worth(level: &Level, levels: &[Level; 3]) -> Cell {
    let above = match level.level {
        "iteration" => &levels[1],
        "process" => &levels[2],
        _ => return Cell::Worded(Vec::new(), "as many as the stopping rule requires".to_owned()),
    };
    let why = match level.repetitions {
        Some(n) => return Cell::Count(n),
        None if level.variance.is_none() => "unknown: one figure per process".to_owned(),
        None if above.variance.is_none_or(|v| v <= 0.0) => {
            format!("unknown: a new {} adds nothing", above.level)
        }
        None => "any number: it costs nothing".to_owned(),
    };
    Cell::Worded(Vec::new(), why)
}

fn words(advice: &Advice) -> Vec<String> {
    let trial = advice.trial_seconds.map_or_else(
        || "unchanged: it does not follow from these variances".to_owned(),
        |seconds| {
            format!(
                "--trial-time {:.1}s (at least 1 s)",
                (seconds * 10.0).ceil() / 10.0
            )
        },
    );
    vec![
        format!("length of a trial: {trial}"),
        format!("new boxes: --fresh {}: {}", advice.fresh, advice.because),
        "number of boxes: decided by the looks of --adaptive; iterations and processes are not samples"
            .to_owned(),
    ]
}
