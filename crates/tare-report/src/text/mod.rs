//! The analysis for a terminal.

mod answer;
mod change;
mod detail;
mod effects;
mod evidence;
mod foreign;
mod headline;
mod hosts;
mod latencies;
pub(crate) mod page;
mod scores;
mod sizes;
mod slices;
mod stops;

pub use crate::show::clean;
pub use answer::Where;
pub use change::change;
pub use foreign::foreign;
pub use scores::definitions;

use crate::analysis::{Analysis, Word};
use page::{Page, Style};

/// How to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextOptions {
    /// Whether to use colours (ANSI escape sequences).
    pub colour: bool,
    /// Columns to wrap at; tables of details need 80.
    pub width: usize,
    /// Whether the terminal shows ASCII alone.
    pub ascii: bool,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            colour: false,
            width: 80,
            ascii: false,
        }
    }
}

/// The whole report: summary, tables, evidence.
pub fn render(analysis: &Analysis, options: TextOptions) -> String {
    let mut page = Page::new(options);
    headline::summary(&mut page, analysis);
    headline::doubts(&mut page, analysis);
    headline::tables(&mut page, analysis);
    headline::layers(&mut page, analysis);
    effects::tables(&mut page, analysis, true);
    hosts::effects(&mut page, analysis, true);
    sizes::effects(&mut page, analysis, true);
    stops::table(&mut page, analysis);
    latencies::table(&mut page, analysis);
    slices::table(&mut page, analysis);
    detail::beside(&mut page, analysis);
    scores::scores(&mut page, analysis);
    detail::cells(&mut page, analysis);
    evidence::write(&mut page, analysis);
    page.finish()
}

/// What matters after a run: the answer, what is in doubt, and what to do next.
pub fn answer(analysis: &Analysis, place: Where<'_>, options: TextOptions) -> String {
    let mut page = Page::new(options);
    answer::write(&mut page, analysis, place);
    page.finish()
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
