//! Tables on a terminal: columns side by side as far as they fit, what does not fit in words below
//! each row.

use super::page::{Page, Style, columns_of};
use super::style;
use crate::document::{Cell, Kind, Row, Table};

/// Columns in front of a row, and between its cells.
const INDENT: usize = 2;
const GAP: usize = 2;
/// Where what stands below a row begins.
const BELOW: usize = 6;
/// A longer name stands in a line of its own: the widest of these that leaves room for the most
/// columns beside it.
const LONGEST_NAME: [usize; 4] = [30, 24, 19, 15];

/// Where the columns of a table stand.
struct Layout {
    /// Columns side by side, with their widths.
    beside: Vec<(usize, usize)>,
    /// The others.
    below: Vec<usize>,
}

/// Lays a table out, behind what its columns hold.
pub(super) fn table(page: &mut Page, table: &Table) {
    meanings(page, table);
    rows(page, table);
}

/// Lays out its rows alone.
pub(super) fn rows(page: &mut Page, table: &Table) {
    let layout = Layout::of(table, page.width());
    head(page, table, &layout);
    for (group, row) in table.grouped() {
        if let Some(group) = group {
            page.wrapped("", 0, Style::Bold, &group);
        }
        write(page, table, &layout, row);
    }
}

/// What the columns hold, where their heads do not say it all.
fn meanings(page: &mut Page, table: &Table) {
    let shown = table.shown().into_iter().map(|i| &table.columns[i]);
    let told = shown.filter(|column| !column.meaning.is_empty());
    let told: Vec<String> = told.map(|c| format!("{}: {}", c.head, c.meaning)).collect();
    if !told.is_empty() {
        page.wrapped("", INDENT, Style::Dim, &told.join("; "));
    }
}

impl Layout {
    fn of(table: &Table, width: usize) -> Self {
        let layouts = LONGEST_NAME.map(|longest| Self::with_names(table, width, longest));
        let most = layouts.iter().map(|layout| layout.beside.len()).max();
        let mut best = layouts
            .into_iter()
            .filter(|layout| Some(layout.beside.len()) == most);
        best.next().unwrap_or_else(|| Self::with_names(table, width, 0))
    }

    /// With names of so many columns at most.
    fn with_names(table: &Table, width: usize, longest: usize) -> Self {
        let mut beside = Vec::new();
        let mut below = Vec::new();
        let mut taken = INDENT;
        for i in table.shown() {
            let is_first = beside.is_empty();
            let wide = wide(table, i, is_first.then_some(longest));
            let gap = if is_first { 0 } else { GAP };
            let fits = taken + gap + wide <= width || is_first;
            // What comes after a column without room goes below as well: columns keep their order.
            if table.columns[i].kind == Kind::Words || !fits || !below.is_empty() {
                below.push(i);
            } else {
                taken += gap + wide;
                beside.push((i, wide));
            }
        }
        Self { beside, below }
    }
}

/// Columns that the cells of a column take.
fn wide(table: &Table, column: usize, longest: Option<usize>) -> usize {
    let cells = table.rows.iter().filter_map(|row| row.cells.get(column));
    let cells = cells.map(|cell| columns_of(&cell.shown()));
    let widest = match longest {
        Some(longest) => cells.filter(|width| *width <= longest).max(),
        None => cells.max(),
    };
    widest.unwrap_or(0).max(columns_of(&table.columns[column].head))
}

fn head(page: &mut Page, table: &Table, layout: &Layout) {
    let mut line = " ".repeat(INDENT);
    for (at, (column, width)) in layout.beside.iter().enumerate() {
        let column = &table.columns[*column];
        line += &padded(at, &column.head, *width, column.is_right());
    }
    page.line(&[(Style::Dim, &line)]);
}

fn padded(at: usize, text: &str, width: usize, is_right: bool) -> String {
    let gap = " ".repeat(if at == 0 { 0 } else { GAP });
    let rest = " ".repeat(width.saturating_sub(columns_of(text)));
    if is_right {
        format!("{gap}{rest}{text}")
    } else {
        format!("{gap}{text}{rest}")
    }
}

fn write(page: &mut Page, table: &Table, layout: &Layout, row: &Row) {
    let plain = if row.is_minor { Style::Dim } else { Style::Plain };
    let mut spans = vec![(plain, " ".repeat(INDENT))];
    for (at, (column, width)) in layout.beside.iter().enumerate() {
        let Some(cell) = row.cells.get(*column) else { break };
        let mut text = cell.shown();
        if at == 0 && columns_of(&text) > *width {
            page.wrapped("", INDENT, plain, &text);
            text.clear();
        }
        let is_right = table.columns[*column].is_right();
        spans.push((
            cell.word().map_or(plain, style),
            padded(at, &text, *width, is_right),
        ));
    }
    let spans: Vec<(Style, &str)> = spans
        .iter()
        .map(|(style, text)| (*style, text.as_str()))
        .collect();
    page.line(&spans);
    below(page, table, layout, row);
}

/// Figures with their heads in one paragraph, sentences in one each.
fn below(page: &mut Page, table: &Table, layout: &Layout, row: &Row) {
    let cells = layout
        .below
        .iter()
        .filter_map(|i| Some((&table.columns[*i], row.cells.get(*i)?)));
    let (words, figures): (Vec<_>, Vec<_>) = cells
        .filter(|(_, cell)| !cell.is_blank())
        .partition(|(column, _)| column.kind == Kind::Words);
    let figures: Vec<String> = figures
        .iter()
        .map(|(column, cell): &(_, &Cell)| format!("{} {}", column.head, cell.shown()))
        .collect();
    if !figures.is_empty() {
        page.wrapped("", BELOW, Style::Dim, &figures.join(", "));
    }
    for (_, cell) in words {
        page.wrapped("", BELOW, Style::Dim, &cell.shown());
    }
}
