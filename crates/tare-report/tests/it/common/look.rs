//! The forms of an analysis.

use super::Schema;
use std::sync::LazyLock;
use tare_analysis::{Analysis, Verdict};
use tare_report::sections;
use tare_report::text::{self, TextOptions};

/// The page of an analysis.
pub fn page(analysis: &Analysis) -> String {
    tare_report::html::render(&sections::report(analysis, tare_report::text::Where::default())).unwrap()
}

/// The whole report for a terminal of 80 columns.
pub fn whole(analysis: &Analysis) -> String {
    whole_in(analysis, TextOptions::default())
}

/// The whole report for such a terminal.
pub fn whole_in(analysis: &Analysis, options: TextOptions) -> String {
    text::render(
        &sections::report(analysis, tare_report::text::Where::default()),
        options,
    )
}

/// For a terminal that is wider than any passage.
pub fn unwrapped() -> TextOptions {
    TextOptions {
        width: 10_000,
        ..TextOptions::default()
    }
}

/// The lines of the whole report that hold one of `words`, unwrapped.
pub fn passages(analysis: &Analysis, words: &[&str]) -> String {
    with(&whole_in(analysis, unwrapped()), words)
}

/// The lines of a text that hold one of `words`, without indentation.
pub fn with(text: &str, words: &[&str]) -> String {
    let of_them = |line: &&str| words.iter().any(|word| line.contains(word));
    text.lines()
        .filter(of_them)
        .map(str::trim)
        .collect::<Vec<_>>()
        .join("\n")
}

/// The JSON text of an analysis, which is what its schema says.
#[track_caller]
pub fn json(analysis: &Analysis) -> String {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| Schema::of("tare-analysis-2"));
    let text = tare_report::json::render(analysis).unwrap();
    SCHEMA.holds(&text);
    text
}

/// What is said beside a verdict.
pub fn phrase(verdict: &Verdict) -> String {
    tare_report::words::verdict::phrase(verdict)
}
