//! A report as Markdown that fits into a pull request (GitHub's tables).

use crate::document::{Block, Cell, Document, Kind, Section, Table};
use crate::show::clean;
use std::fmt::Write as _;

/// The whole report.
pub fn render(document: &Document) -> String {
    let mut out = format!("# {}\n", escaped(&document.title));
    paragraph(&mut out, &document.subtitle);
    if !document.answer.is_empty() {
        out.push('\n');
    }
    for line in &document.answer {
        let _ = writeln!(out, "- {}", escaped(line));
    }
    for notice in &document.notices {
        let _ = write!(out, "\n> {}\n", escaped(notice));
    }
    let read = document.sections.iter().filter(|part| part.is_read());
    read.for_each(|part| section(&mut out, part));
    out
}

fn paragraph(out: &mut String, text: &str) {
    if !text.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(out, "\n{}\n", escaped(text));
    }
}

fn section(out: &mut String, section: &Section) {
    let _ = write!(out, "\n## {}\n", escaped(&section.title));
    for block in &section.blocks {
        match block {
            Block::About(text) => paragraph(out, text),
            Block::List(items) => list(out, items.iter().map(|item| escaped(item))),
            Block::Facts(facts) => {
                let fact =
                    |(name, value): &(String, String)| format!("**{}**: {}", escaped(name), escaped(value));
                list(out, facts.iter().map(fact));
            }
            Block::Table(of) if of.is_read() => table(out, of),
            // What is drawn stands in a table too.
            Block::Table(_) | Block::Picture(_) => {}
        }
    }
}

fn list(out: &mut String, items: impl Iterator<Item = String>) {
    out.push('\n');
    for item in items {
        let _ = writeln!(out, "- {item}");
    }
}

fn table(out: &mut String, table: &Table) {
    let keys = usize::from(table.keys > 0);
    let shown = table.shown();
    out.push('\n');
    let heads = shown.iter().map(|i| escaped(&table.columns[*i].head));
    row(out, std::iter::repeat_n("of".to_owned(), keys).chain(heads));
    let rules = shown.iter().map(|i| match table.columns[*i].kind {
        Kind::Number => "---:",
        _ => "---",
    });
    row(
        out,
        std::iter::repeat_n("---", keys).chain(rules).map(str::to_owned),
    );
    for (group, cells) in table.grouped() {
        let group = group.map_or_else(String::new, |group| format!("**{}**", escaped(&group)));
        let cells = shown
            .iter()
            .map(|i| cells.cells.get(*i).map_or_else(String::new, cell));
        row(out, std::iter::repeat_n(group, keys).chain(cells));
    }
}

fn row(out: &mut String, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.collect();
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

fn cell(cell: &Cell) -> String {
    let text = escaped(&cell.shown());
    if cell.word().is_some() {
        format!("**{text}**")
    } else {
        text
    }
}

/// Text as text: nothing of it is markup, and none of it drives a terminal.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        if "\\`*_{}[]<>#|~!&".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
