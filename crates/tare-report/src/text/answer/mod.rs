//! What a person sees after a run: the answer, what is in doubt, and what to do next. The
//! default study takes no more than 30 lines of 80 columns; all else is among the details.

mod around;
mod rows;
mod whisker;

use super::page::{Page, Style, columns_of, front};
use super::{TextOptions, layout};
use crate::document::Block;
use crate::sections;
use crate::words::doubts::{self, Doubt};
use crate::words::open::{self, Open};
use crate::words::{answer, course};
use tare_analysis::Analysis;

pub use crate::words::open::Where;

/// Lines for what is open and what is in doubt: the answer shall stay in sight.
const LAST_LINES: usize = 3;

/// What matters after a run: the answer, what is in doubt, and what to do next.
pub fn answer(analysis: &Analysis, place: Where<'_>, options: TextOptions) -> String {
    let mut page = Page::new(options);
    write(&mut page, analysis, place);
    page.finish()
}

/// The costs alone, with the names of what is in doubt, of a run that goes on.
pub fn so_far(analysis: &Analysis, options: TextOptions) -> String {
    let mut page = Page::new(options);
    rows::write(&mut page, analysis);
    // That it is not complete is known.
    let all = doubts::all(analysis).into_iter();
    let all: Vec<Doubt> = all
        .filter(|doubt| !["incomplete", "not-reached"].contains(&doubt.name.as_str()))
        .collect();
    tell_doubts(&mut page, &all, 1);
    page.finish()
}

fn write(page: &mut Page, analysis: &Analysis, place: Where<'_>) {
    if let Some(template) = &analysis.study.template {
        page.wrapped("", 0, Style::Bold, &template.title);
    }
    page.wrapped("", 0, Style::Plain, &course::ran(&analysis.study, &analysis.run));
    let host = cut(&course::host(analysis), page.width());
    page.line(&[(Style::Dim, &host)]);
    if analysis.tunings.is_empty() || !analysis.comparisons.is_empty() {
        page.wrapped("", 0, Style::Bold, &answer::decided(&analysis.verdicts, "cost"));
    }
    rows::write(page, analysis);
    around::write(page, analysis);
    for section in sections::brief(analysis) {
        page.heading(&section.title);
        for block in &section.blocks {
            match block {
                Block::List(items) => items
                    .iter()
                    .for_each(|item| page.wrapped("- ", 2, Style::Plain, item)),
                Block::Table(table) => layout::rows(page, table),
                Block::About(_) | Block::Facts(_) | Block::Picture(_) => {}
            }
        }
    }
    let open = open::open(analysis, place);
    let rows = |open: &Open| {
        let words = columns_of(&open.words).div_ceil(page.width());
        words + usize::from(open.command.is_some())
    };
    let taken = open.as_ref().map_or(0, rows);
    tell_doubts(
        page,
        &doubts::all(analysis),
        LAST_LINES.saturating_sub(taken).max(1),
    );
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
    if columns_of(&line) <= page.width() {
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
    if columns_of(text) <= width {
        return text.to_owned();
    }
    let kept = front(text, width.saturating_sub(1));
    let end = kept.rfind(' ').unwrap_or(kept.len());
    format!("{}…", kept[..end].trim_end_matches([',', ';', ':']))
}

/// Tells them in so many lines at most: where there are more, the last has but the names of the
/// rest.
fn tell_doubts(page: &mut Page, doubts: &[Doubt], most: usize) {
    let told = if doubts.len() > most {
        most.saturating_sub(1)
    } else {
        doubts.len()
    };
    let (whole, rest) = doubts.split_at(told);
    let mut names: Vec<&str> = rest.iter().map(|doubt| doubt.name.as_str()).collect();
    // Several kinds of box may have a notice of the same name.
    names.dedup();
    let names = (!names.is_empty()).then(|| names.join(", "));
    let texts = whole.iter().map(|doubt| doubt.text.as_str());
    for text in texts.chain(names.as_deref()) {
        let line = cut(text, page.width() - 2);
        page.line(&[(Style::Yellow, "! "), (Style::Plain, &line)]);
    }
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
