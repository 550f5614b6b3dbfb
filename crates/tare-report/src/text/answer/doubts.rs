//! Reasons to doubt the figures, a line for each kind.

use super::super::page::{Page, Style};
use super::rows::figure;
use super::{asked, cut, real};
use crate::analysis::{Analysis, Comparison, Flag, MetricComparison, Word};
use crate::show::cost_change;
use std::collections::BTreeMap;

/// Tells so many of them at most; how many are left.
pub(super) fn write(page: &mut Page, analysis: &Analysis, most: usize) -> usize {
    let doubts = all(analysis);
    for doubt in doubts.iter().take(most) {
        let line = cut(doubt, page.width() - 2);
        page.line(&[(Style::Yellow, "! "), (Style::Plain, &line)]);
    }
    doubts.len().saturating_sub(most)
}

/// What holds for the whole file, in short, then what holds for parts of it.
fn all(analysis: &Analysis) -> Vec<String> {
    let notices = analysis
        .notices
        .iter()
        .map(|notice| clause(&notice.text).to_owned());
    notices.chain(of_parts(analysis)).collect()
}

/// What holds for parts of the file: tails, intervals that a correction has opened, findings,
/// the most frequent first, intervals that may be off.
pub(in crate::text) fn of_parts(analysis: &Analysis) -> Vec<String> {
    // What a notice tells of the whole file is told once.
    let is_told = |name: &str| analysis.notices.iter().any(|notice| notice.notice == name);
    let findings = analysis.findings.iter();
    let mut findings: Vec<_> = findings.filter(|f| !is_told(f.finding)).collect();
    findings.sort_by_key(|f| std::cmp::Reverse(f.times));
    let findings = findings.iter().map(|f| format!("{}: {}", f.share(), f.meaning));
    tails(analysis)
        .into_iter()
        .chain(corrected(analysis))
        .chain(findings)
        .chain(flags(analysis))
        .collect()
}

/// Intervals that seem to show a difference which the correction takes back.
fn corrected(analysis: &Analysis) -> Option<String> {
    let excludes_one = |comparison: &&Comparison| {
        let interval = figure(comparison);
        let verdict = comparison.primary().and_then(|m| m.verdict.as_ref());
        verdict.is_some_and(|verdict| verdict.word == Word::Inconclusive)
            && interval.is_some_and(|e| e.low > 1.0 || e.high < 1.0)
    };
    let told: Vec<String> = real(analysis)
        .filter(excludes_one)
        .map(|comparison| comparison.cell.to_string())
        .collect();
    (!told.is_empty()).then(|| {
        format!(
            "inconclusive though the interval excludes 1: {}: among so many questions one such is chance",
            told.join("; ")
        )
    })
}

/// The first clause of a notice, which says what is the matter; the rest says what follows.
fn clause(text: &str) -> &str {
    /// What is shorter is a mere word of introduction.
    const SHORTEST: usize = 16;
    let ends = ["; ", ": ", " ("].iter().filter_map(|mark| {
        let found = text.match_indices(mark).find(|(at, _)| *at >= SHORTEST);
        found.map(|(at, _)| at)
    });
    ends.min().map_or(text, |end| &text[..end])
}

/// Where the mean tells another story than the typical cost, both are headlines.
fn tails(analysis: &Analysis) -> Option<String> {
    let told = asked(analysis).filter_map(|comparison| {
        let mean = comparison.primary()?.flags.iter().find_map(|flag| match flag {
            Flag::TailOfSlices { mean_cost: cost } | Flag::Tail { ratio_of_means: cost } => Some(*cost),
            _ => None,
        })?;
        Some(format!("{} {}", comparison.cell, cost_change(mean)))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| format!("tail x{}, in the mean: {}", told.len(), told.join("; ")))
}

/// `intervals to be read with care: autocorrelated 2 of 16, skewed 6 of 16`.
fn flags(analysis: &Analysis) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let primary: Vec<&MetricComparison> = asked(analysis).filter_map(|c| c.primary()).collect();
    for flag in primary.iter().flat_map(|m| &m.flags).filter(|f| !f.is_tail()) {
        *counts.entry(flag.name()).or_default() += 1;
    }
    let told: Vec<String> = counts
        .iter()
        .map(|(name, n)| format!("{name} {n} of {}", primary.len()))
        .collect();
    let told = told.join(", ");
    (!told.is_empty()).then(|| format!("intervals to be read with care: {told}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_told_by_its_first_clause() {
        assert_eq!(
            clause("vm ran without hardware virtualisation (tcg: all in software): its figures"),
            "vm ran without hardware virtualisation"
        );
        assert_eq!(
            clause("left out: 3 records of kind 'x', which is new"),
            "left out: 3 records of kind 'x', which is new"
        );
        assert_eq!(clause("short"), "short");
    }
}
