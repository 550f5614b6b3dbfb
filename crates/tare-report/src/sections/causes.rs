//! Evidence of causes: what the kernel did for each cell beside its baseline.

use super::{kind, kind_columns};
use crate::chart::Picture;
use crate::document::{Cell, Column, Section, Show, Table};
use crate::words::causes;
use tare_analysis::{Beside, Evidence, FigureKind};

/// Rows of each cell; the JSON form has all.
const MOST: usize = 10;

const ABOUT: &str = "What the host's kernel did for a unit of work, seen by probes (eBPF) in one box of each, behind the measured blocks. Probes slow the work down: this tells where time goes, and no cost. A function is named where the difference is over four standard errors of its samples and over 1 % of a unit; how much boxes differ is not in that, and waits have no error. A system call is timed behind a filter, which is no part of it. Of a machine, its threads on the host are seen.";

/// In words and drawn, then figure by figure.
pub(super) fn sections(evidence: &[Evidence]) -> Vec<Section> {
    let mut pictures = vec![Picture::stretches(evidence)];
    pictures.extend(evidence.iter().map(Picture::flame));
    let mut drawn = Section::detail("Where the time goes")
        .about(ABOUT)
        .list(causes::sentences(evidence));
    for picture in pictures {
        drawn = drawn.picture(picture);
    }
    let all = [
        drawn,
        Section::evidence("What the kernel timed and counted").table(figures(evidence)),
        Section::evidence("Functions of the kernel").table(functions(evidence)),
    ];
    all.into_iter().filter_map(Section::unless_empty).collect()
}

fn columns(what: &'static str) -> Vec<Column> {
    let mut columns = vec![Column::name("workload")];
    columns.extend(kind_columns());
    columns.extend([
        Column::name("against"),
        Column::name(what),
        Column::number("baseline", "for a unit of work"),
        Column::number("box", "for a unit of work"),
        Column::number("more", "box less baseline"),
    ]);
    columns
}

fn row(of: &Evidence, what: &str, beside: Beside, show: impl Fn(f64) -> Cell) -> Vec<Cell> {
    let mut row = vec![of.cell.workload.as_str().into()];
    row.extend(kind(&of.cell.kind));
    row.extend([of.baseline.kind.to_string().into(), what.into()]);
    row.extend([beside.baseline, beside.cell, beside.difference()].map(show));
    row
}

fn time(nanoseconds: f64) -> Cell {
    Cell::Worded(vec![nanoseconds / 1e9], causes::seconds(nanoseconds))
}

fn figures(evidence: &[Evidence]) -> Table {
    let mut table = Table::new("evidence", 5, columns("what"));
    for of in evidence {
        let (counts, times): (Vec<_>, Vec<_>) = of
            .figures
            .iter()
            .partition(|figure| figure.kind == FigureKind::Count);
        for figure in times.into_iter().take(MOST) {
            let what = match figure.kind {
                FigureKind::Call => format!("call {}", figure.what),
                _ => figure.what.clone(),
            };
            table.push(row(of, &what, figure.per_unit, time));
        }
        for figure in counts
            .into_iter()
            .filter(|figure| figure.per_unit != Beside::default())
        {
            table.push(row(of, &figure.what, figure.per_unit, |n| {
                Cell::Figure(n, Show::Digits)
            }));
        }
    }
    table
}

fn functions(evidence: &[Evidence]) -> Table {
    let mut columns = columns("function");
    columns.push(Column::number(
        "standard error",
        "of the difference, by the number of samples",
    ));
    let mut table = Table::new("functions", 5, columns);
    for of in evidence {
        for function in of.functions.iter().take(MOST) {
            let mut row = row(of, &function.name, function.per_unit, time);
            row.push(time(function.standard_error));
            table.push(row);
        }
    }
    table
}
