//! A study's table.

use super::super::{Row, Spread, Table};
use crate::show::MISSING;
use crate::text::page::{Page, Style};
use std::collections::BTreeSet;

/// A table with one line per row: platform, metric, levels, figures.
pub(super) fn write(page: &mut Page, table: &Table) {
    let better = match table.direction {
        tare_model::metric::Direction::Higher => "more is better",
        tare_model::metric::Direction::Lower => "less is better",
    };
    let title = format!("{}, {} ({better})", table.workload, table.unit);
    page.wrapped("", 2, Style::Bold, &title);
    let spread = match table.spread {
        Spread::Runs => None,
        Spread::Population => Some("sd: over n, not n - 1"),
        Spread::Requests => Some("sd: over the requests of one run"),
    };
    for note in [table.note.as_deref(), spread].into_iter().flatten() {
        page.wrapped("", 2, Style::Dim, note);
    }
    let lines = lines(table);
    let columns = lines.first().map_or(0, Vec::len);
    let letters = |column: usize| lines.iter().map(|l| l[column].chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|c| letters(c).unwrap_or_default()).collect();
    let names = table.rows.first().map_or(0, |r| 2 + r.levels.len());
    for (i, line) in lines.iter().enumerate() {
        let style = if i == 0 { Style::Dim } else { Style::Plain };
        let cell = |(c, text): (usize, &String)| match c < names {
            true => format!("{text:<width$}  ", width = widths[c]),
            false => format!("{text:>width$}  ", width = widths[c]),
        };
        let text: String = line.iter().enumerate().map(cell).collect();
        page.line(&[(style, &format!("  {text}"))]);
    }
    for row in table.rows.iter().filter(|r| !r.runs.is_empty()) {
        let runs: Vec<String> = row.runs.iter().map(ToString::to_string).collect();
        page.wrapped(
            &format!("  {}: ", row.platform),
            4,
            Style::Plain,
            &runs.join(", "),
        );
    }
    places(page, table);
}

/// The heading and the rows, cell by cell.
fn lines(table: &Table) -> Vec<Vec<String>> {
    let levels: BTreeSet<&String> = table.rows.iter().flat_map(|r| r.levels.keys()).collect();
    let figures: BTreeSet<&String> = table.rows.iter().flat_map(|r| r.figures.keys()).collect();
    // The mean first, the number of runs last; the others by name.
    let mut figures: Vec<&String> = figures.into_iter().collect();
    figures.sort_by_key(|name| match name.as_str() {
        "mean" => (0, *name),
        "n" => (2, *name),
        _ => (1, *name),
    });
    let has_units = table.rows.iter().any(|r| r.unit.is_some());
    let heading = ["platform", "metric"]
        .map(str::to_owned)
        .into_iter()
        .chain(levels.iter().chain(&figures).map(|c| (*c).clone()))
        .chain(has_units.then(|| "unit".to_owned()));
    let row = |row: &Row| {
        let level = |name: &&String| row.levels.get(*name).cloned();
        let figure = |name: &&String| row.figure(name).map(|f| f.to_string());
        let unit = has_units.then(|| row.unit.clone());
        let cells = [Some(row.platform.clone()), Some(row.metric.clone())].into_iter();
        let cells = cells
            .chain(levels.iter().map(level))
            .chain(figures.iter().map(figure));
        cells
            .chain(unit)
            .map(|cell| cell.unwrap_or_else(|| MISSING.to_owned()))
            .collect()
    };
    if figures.is_empty() {
        return Vec::new();
    }
    std::iter::once(heading.collect())
        .chain(table.rows.iter().map(row))
        .collect()
}

/// Where rows were seen, each place once.
fn places(page: &mut Page, table: &Table) {
    let rows = table.rows.iter().filter_map(|r| r.seen_in.as_deref());
    let mut seen: Vec<&str> = Vec::new();
    for place in table.source.as_deref().into_iter().chain(rows) {
        if !place.starts_with("same") && !seen.contains(&place) {
            seen.push(place);
        }
    }
    for place in seen {
        page.wrapped("  from", 7, Style::Dim, place);
    }
}
