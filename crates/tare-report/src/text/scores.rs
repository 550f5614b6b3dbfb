//! Standardised scores for a terminal, and whose scores there are.

use super::TextOptions;
use super::page::{Page, Style};
use crate::analysis::{Analysis, DEFINITIONS, Definition, ScoreAxis, ScoreTable};
use crate::show::or_missing;

/// Width of the names.
const NAME: usize = 22;

/// The standardised scores and the definitions of all scores.
pub(super) fn scores(page: &mut Page, analysis: &Analysis) {
    let scores = &analysis.scores;
    if !scores.standardised.is_empty() {
        page.heading("Standardised scores (li2018: 1 is the best platform, no verdict)");
        for table in &scores.standardised {
            standardised(page, table);
        }
    }
    write_definitions(page, scores.definitions);
}

/// Which study defines which score, by itself.
pub fn definitions(options: TextOptions) -> String {
    let mut page = Page::new(options);
    write_definitions(&mut page, DEFINITIONS);
    page.finish()
}

fn write_definitions(page: &mut Page, definitions: &[Definition]) {
    page.heading("Which study defines which score");
    for definition in definitions {
        let of = format!("  {}", definition.score);
        let mut text = format!("{}: {}", definition.defined_by, definition.formula);
        if !definition.remark.is_empty() {
            text += &format!("; {}", definition.remark);
        }
        page.wrapped(&of, 30, Style::Plain, &text);
    }
}

/// Platforms as rows: there may be many metrics, and as many platforms.
fn standardised(page: &mut Page, table: &ScoreTable) {
    page.line(&[(Style::Bold, &table.name())]);
    for (i, platform) in table.platforms().enumerate() {
        let score = |axis: &ScoreAxis| {
            let score = axis.scores.get(i).and_then(|s| s.score);
            format!("{} {}", axis.name(), or_missing(score, |s| format!("{s:.3}")))
        };
        let shown: Vec<String> = table.axes.iter().map(score).collect();
        page.wrapped(&format!("  {platform}"), NAME, Style::Plain, &shown.join(", "));
    }
}
