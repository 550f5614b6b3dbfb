//! Published results for a terminal.

mod beside;
mod check;
mod list;
mod study;
mod table;

pub use beside::beside;
pub use check::check;
pub use list::list;
pub use study::{study, workload};

use crate::text::page::{Page, Style};

/// A paragraph behind a label: nothing where there is no text.
fn labelled(page: &mut Page, label: &str, text: Option<&str>) {
    if let Some(text) = text {
        page.wrapped(&format!("  {label}"), INDENT, Style::Plain, text);
    }
}

/// Column at which the text behind a label begins.
const INDENT: usize = 15;

/// A list of paragraphs under a heading; nothing where there is none.
fn bullets<'a>(page: &mut Page, heading: &str, texts: impl Iterator<Item = &'a str>) {
    for (i, text) in texts.enumerate() {
        if i == 0 {
            page.heading(heading);
        }
        page.wrapped("  -", 4, Style::Plain, text);
    }
}
