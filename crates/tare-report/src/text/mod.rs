//! A report for a terminal.

mod answer;
mod layout;
pub(crate) mod page;

pub use crate::show::clean;
pub use answer::{Where, answer, so_far};

use crate::document::{Block, Document, Section};
use page::{Page, Style};
use tare_analysis::Word;

/// How to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextOptions {
    /// Whether to use colours (ANSI escape sequences).
    pub colour: bool,
    /// Columns to wrap at.
    pub width: usize,
    /// Whether the terminal shows ASCII alone.
    pub ascii: bool,
    /// Whether intervals are drawn beside their figures.
    pub drawings: bool,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            colour: false,
            width: 80,
            ascii: false,
            drawings: true,
        }
    }
}

/// The whole report.
pub fn render(document: &Document, options: TextOptions) -> String {
    let mut page = Page::new(options);
    page.wrapped("", 0, Style::Bold, &document.title);
    if !document.subtitle.is_empty() {
        page.wrapped("", 0, Style::Dim, &document.subtitle);
    }
    document
        .answer
        .iter()
        .for_each(|line| page.wrapped("  -", 4, Style::Plain, line));
    for notice in &document.notices {
        page.wrapped("!", 2, Style::Yellow, notice);
    }
    let read = document.sections.iter().filter(|part| part.is_read());
    read.for_each(|part| section(&mut page, part));
    page.finish()
}

fn section(page: &mut Page, section: &Section) {
    page.heading(&section.title);
    for block in &section.blocks {
        match block {
            Block::About(text) => page.wrapped("", 2, Style::Dim, text),
            Block::List(items) => items
                .iter()
                .for_each(|item| page.wrapped("  -", 4, Style::Plain, item)),
            Block::Facts(facts) => facts
                .iter()
                .for_each(|(name, value)| page.wrapped(&format!("  {name}: "), 6, Style::Plain, value)),
            Block::Table(table) if table.is_read() => layout::table(page, table),
            // What is drawn stands in a table too.
            Block::Table(_) | Block::Picture(_) => {}
        }
    }
}

/// Words of `text`, clean and wrapped at `width`, behind `first`; later lines begin
/// at `indent`.
pub fn wrapped(first: &str, indent: usize, text: &str, width: usize) -> String {
    let options = TextOptions {
        width,
        ..TextOptions::default()
    };
    let mut page = Page::new(options);
    page.wrapped(first, indent, Style::Plain, text);
    page.finish()
}

/// The colour of a verdict.
const fn style(word: Word) -> Style {
    match word {
        Word::Equal | Word::Faster => Style::Green,
        Word::Slower => Style::Red,
        Word::Inconclusive => Style::Yellow,
        Word::None => Style::Dim,
    }
}
