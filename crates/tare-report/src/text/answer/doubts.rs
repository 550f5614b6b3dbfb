//! Reasons to doubt the figures, a line for each kind.

use super::super::page::{Page, Style};
use super::{asked, cut};
use crate::analysis::{Analysis, Flag, MetricComparison};
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

/// What holds for the whole file, then what holds for parts of it, the most frequent first.
fn all(analysis: &Analysis) -> Vec<String> {
    let notices = analysis
        .notices
        .iter()
        .map(|notice| clause(&notice.text).to_owned());
    // What a notice tells of the whole file is told once.
    let is_told = |name: &str| analysis.notices.iter().any(|notice| notice.notice == name);
    let findings = analysis.findings.iter();
    let mut findings: Vec<_> = findings.filter(|f| !is_told(f.finding)).collect();
    findings.sort_by_key(|f| std::cmp::Reverse(f.times));
    let findings = findings
        .iter()
        .map(|f| format!("{} x{}: {}", f.finding, f.times, f.meaning));
    notices
        .chain(tails(analysis))
        .chain(findings)
        .chain(flags(analysis))
        .collect()
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

/// `intervals to be read with care: autocorrelated x2, skewed x6`.
fn flags(analysis: &Analysis) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let primary = asked(analysis).filter_map(|c| c.primary());
    for flag in primary
        .flat_map(|m: &MetricComparison| &m.flags)
        .filter(|f| !f.is_tail())
    {
        *counts.entry(flag.name()).or_default() += 1;
    }
    let told: Vec<String> = counts.iter().map(|(name, n)| format!("{name} x{n}")).collect();
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
