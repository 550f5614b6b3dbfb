//! The analysis for a terminal.

mod detail;
mod evidence;
mod headline;
mod page;

use crate::analysis::{Analysis, Word};
use page::{Page, Style};

/// How to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextOptions {
    /// Whether to use colours (ANSI escape sequences).
    pub colour: bool,
    /// Columns to wrap at; tables need 80.
    pub width: usize,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            colour: false,
            width: 80,
        }
    }
}

/// The whole report: summary, tables, evidence.
pub fn render(analysis: &Analysis, options: TextOptions) -> String {
    let mut page = Page::new(options.colour, options.width);
    headline::summary(&mut page, analysis);
    headline::tables(&mut page, analysis, true);
    headline::layers(&mut page, analysis);
    detail::beside(&mut page, analysis);
    detail::cells(&mut page, analysis);
    evidence::write(&mut page, analysis);
    page.finish()
}

/// What matters after a run: the summary and the headline tables.
pub fn summary(analysis: &Analysis, options: TextOptions) -> String {
    let mut page = Page::new(options.colour, options.width);
    headline::summary(&mut page, analysis);
    headline::tables(&mut page, analysis, false);
    headline::layers(&mut page, analysis);
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
