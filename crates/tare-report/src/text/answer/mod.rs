//! What a person sees after a run: the answer, what is in doubt, and what to do next. The
//! default study takes no more than 30 lines of 80 columns; all else is among the details.

mod around;
mod course;
pub(super) mod doubts;
mod open;
mod rows;
mod whisker;

use super::page::{Page, Style};
use crate::analysis::{Against, Analysis, Comparison};
use crate::text::{effects, headline, hosts, sizes};
use open::Open;

/// Where an analysis comes from, as whoever reads it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Where<'a> {
    /// How this program is called.
    pub program: &'a str,
    /// The results file.
    pub file: &'a str,
    /// The page that was written beside it.
    pub page: Option<&'a str>,
    /// What runs the same again with other options, which stand in the place of `{}`; absent:
    /// the reader knows.
    pub again: Option<&'a str>,
}

impl Where<'_> {
    /// How the same is run with these options.
    fn again(&self, options: &str) -> String {
        self.again
            .map_or_else(|| options.to_owned(), |again| again.replace("{}", options))
    }
}

/// Lines for what is open and what is in doubt: the answer shall stay in sight.
const LAST_LINES: usize = 3;

impl Default for Where<'_> {
    fn default() -> Self {
        Self {
            program: "tare",
            file: "FILE",
            page: None,
            again: None,
        }
    }
}

pub(super) fn write(page: &mut Page, analysis: &Analysis, place: Where<'_>) {
    course::write(page, analysis);
    if analysis.comparisons.is_empty() {
        page.line(&[(Style::Plain, "nothing to compare")]);
    }
    rows::write(page, analysis);
    around::write(page, analysis);
    headline::layers(page, analysis);
    effects::tables(page, analysis, false);
    hosts::effects(page, analysis, false);
    sizes::effects(page, analysis, false);
    let open = open::open(analysis, place);
    let rows = |open: &Open| {
        let words = open.words.chars().count().div_ceil(page.width());
        words + usize::from(open.command.is_some())
    };
    let taken = open.as_ref().map_or(0, rows);
    doubts::write(page, analysis, LAST_LINES.saturating_sub(taken).max(1));
    if let Some(open) = open {
        page.wrapped("", 0, Style::Plain, &open.words);
        if let Some(command) = &open.command {
            page.line(&[(Style::Plain, &format!("  {command}"))]);
        }
    }
    last(page, place);
}

/// Where the rest is. What is to be copied stays in one line, however long.
fn last(page: &mut Page, place: Where<'_>) {
    let (lead, command) = (
        "Details:",
        format!("{} report {} --details", place.program, place.file),
    );
    let line = format!("{lead} {command}");
    if line.chars().count() <= page.width() {
        page.line(&[(Style::Dim, &line)]);
    } else {
        page.line(&[(Style::Dim, lead)]);
        page.line(&[(Style::Dim, &format!("  {command}"))]);
    }
    if let Some(written) = place.page {
        page.line(&[(Style::Dim, &format!("Page: {written}"))]);
    }
}

/// A line that fits: the end of a longer one is left to the details.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    let end = kept.rfind(' ').unwrap_or(kept.len());
    format!("{}…", kept[..end].trim_end_matches([',', ';', ':']))
}

/// What the platforms cost, apart from what buying a size costs.
fn asked(analysis: &Analysis) -> impl Iterator<Item = &Comparison> {
    analysis
        .comparisons
        .iter()
        .filter(|c| c.against == Against::Native)
}

/// Those of them that are of no emulated machine, which says nothing of a real one.
fn real(analysis: &Analysis) -> impl Iterator<Item = &Comparison> {
    asked(analysis).filter(|c| !analysis.is_emulated(&c.cell.kind.platform))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_cut_ends_with_a_whole_word() {
        assert_eq!(cut("one two three", 13), "one two three");
        assert_eq!(cut("one two, three", 12), "one two…");
        assert_eq!(cut(&"x".repeat(20), 5), "xxxx…");
    }
}
