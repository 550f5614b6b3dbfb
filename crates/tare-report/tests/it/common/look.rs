//! Parts of an analysis.

use super::{Pinned, Schema};
use std::sync::LazyLock;
use tare_analysis::{Against, Analysis, Comparison, MetricComparison, Verdict, analyze};
use tare_model::results::Results;
use tare_report::sections;
use tare_report::text::{self, TextOptions};

/// The one comparison of `platform`, pinned, with `native`.
pub fn compared<'a>(analysis: &'a Analysis, platform: &str, workload: &str) -> &'a Comparison {
    let found = analysis.comparisons.iter().find(|c| {
        c.against == Against::Native
            && c.cell.kind.platform.to_string() == platform
            && c.cell.kind.provisioning == Pinned
            && c.cell.workload == workload
    });
    found.unwrap()
}

/// The primary metric of `docker` pinned running `syscall`.
pub fn headline(analysis: &Analysis) -> &MetricComparison {
    compared(analysis, "docker", "syscall").primary().unwrap()
}

/// The verdict of the same.
pub fn verdict(results: &Results) -> Verdict {
    headline(&analyze(results)).verdict.clone().unwrap()
}

#[track_caller]
pub fn near(found: f64, expected: f64) {
    let off = (found - expected).abs() / expected.abs().max(1.0);
    assert!(off < 1e-9, "{found} is not {expected}");
}

/// The page of an analysis.
pub fn page(analysis: &Analysis) -> String {
    tare_report::html::render(&sections::report(analysis)).unwrap()
}

/// The whole report for a terminal of 80 columns.
pub fn whole(analysis: &Analysis) -> String {
    whole_in(analysis, TextOptions::default())
}

/// The whole report for such a terminal.
pub fn whole_in(analysis: &Analysis, options: TextOptions) -> String {
    text::render(&sections::report(analysis), options)
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
