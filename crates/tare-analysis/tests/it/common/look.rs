//! Parts of an analysis.

use super::Pinned;
use tare_analysis::{Against, Analysis, Comparison, MetricComparison, Verdict, analyze};
use tare_model::results::Results;

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
