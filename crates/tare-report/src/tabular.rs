//! The tables of a report as CSV: figures as they are, each end of an interval in a column of its
//! own.

use crate::document::{Cell, Column, Document, Kind, Table};
use crate::show::clean;
use csv::{Terminator, Writer, WriterBuilder};
use std::io::Write;
use tare_analysis::Estimate;

/// The tables of a document, in order: those of one name one below the other under one head. Where
/// there are several names, each stands behind a line with its name.
///
/// # Errors
/// None that a document can cause: it is written to memory.
pub fn render(document: &Document, only: Option<&str>) -> Result<String, csv::Error> {
    let names = names(document);
    let wanted: Vec<&str> = names
        .iter()
        .copied()
        .filter(|id| only.is_none_or(|only| only == *id))
        .collect();
    let mut parts = Vec::new();
    for id in &wanted {
        let title = if wanted.len() > 1 {
            format!("# {id}\n")
        } else {
            String::new()
        };
        parts.push(title + &one(document, id)?);
    }
    Ok(parts.join("\n"))
}

/// The names of the tables of a document, each once.
pub fn names(document: &Document) -> Vec<&'static str> {
    let mut names = Vec::new();
    for table in tables(document) {
        if !names.contains(&table.id) {
            names.push(table.id);
        }
    }
    names
}

fn tables(document: &Document) -> impl Iterator<Item = &Table> {
    document.sections.iter().flat_map(|section| section.tables())
}

fn one(document: &Document, id: &str) -> Result<String, csv::Error> {
    let mut writer = writer(Vec::new());
    let mut head: Option<Vec<String>> = None;
    for table in tables(document).filter(|table| table.id == id) {
        let this: Vec<String> = table.columns.iter().flat_map(heads).collect();
        if head.as_ref() != Some(&this) {
            writer.write_record(&this)?;
            head = Some(this);
        }
        for row in &table.rows {
            let cells = row.cells.iter().zip(&table.columns);
            writer.write_record(cells.flat_map(|(cell, column)| fields(cell, column)))?;
        }
    }
    let bytes = writer.into_inner().map_err(|e| e.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The heads of a column: small letters with underscores between words.
fn heads(column: &Column) -> Vec<String> {
    let words = column.head.to_lowercase();
    let words: Vec<&str> = words
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
        .collect();
    let head = words.join("_");
    match column.kind {
        Kind::Interval => vec![head.clone(), format!("{head}_low"), format!("{head}_high")],
        _ => vec![head],
    }
}

/// The fields of a cell: as many as its column has heads.
fn fields(cell: &Cell, column: &Column) -> Vec<String> {
    let number = |value: f64| {
        Some(value)
            .filter(|v| v.is_finite())
            .map_or_else(String::new, |v| v.to_string())
    };
    let figures: Vec<String> = match cell {
        Cell::Blank | Cell::Missing => vec![String::new()],
        Cell::Count(n) => vec![n.to_string()],
        Cell::Figure(value, show) => vec![number(show.in_unit_of_head(*value))],
        Cell::Worded(values, _) => values.iter().copied().map(number).collect(),
        Cell::Interval(Estimate { value, low, high }, show) => [*value, *low, *high]
            .map(|end| number(show.in_unit_of_head(end)))
            .into(),
        Cell::Verdict(word) => vec![word.name().to_owned()],
        Cell::State(word, _) => vec![(*word).to_owned()],
        Cell::Text(text) => vec![harmless(text)],
    };
    let wanted = if column.kind == Kind::Interval { 3 } else { 1 };
    figures
        .into_iter()
        .chain(std::iter::repeat(String::new()))
        .take(wanted)
        .collect()
}

/// What writes every table, its lines ended as on Unix.
pub(crate) fn writer<W: Write>(to: W) -> Writer<W> {
    WriterBuilder::new()
        .terminator(Terminator::Any(b'\n'))
        .from_writer(to)
}

/// Text that no spreadsheet takes for a formula.
pub(crate) fn harmless(text: &str) -> String {
    let text = clean(text);
    if text.starts_with(['=', '+', '-', '@']) {
        format!("'{text}")
    } else {
        text.into_owned()
    }
}
