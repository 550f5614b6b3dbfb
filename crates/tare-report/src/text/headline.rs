//! The summary, and the tables of paired ratios with their verdicts.

use super::page::{Page, Style};
use super::style;
use crate::analysis::{Against, Analysis, CellFigures, Comparison, MetricComparison};
use crate::remarks;
use crate::show::{or_missing, ratio_with_interval};

pub(super) fn summary(page: &mut Page, analysis: &Analysis) {
    page.heading(&format!(
        "What each platform costs against {} ({} of {} blocks)",
        analysis.study.baseline, analysis.run.blocks, analysis.run.blocks_planned
    ));
    for notice in &analysis.notices {
        page.wrapped("  !", 4, Style::Yellow, &notice.text);
    }
    if analysis.summaries.is_empty() {
        page.line(&[(Style::Plain, "  nothing to compare")]);
    }
    for summary in &analysis.summaries {
        page.wrapped("", 2, Style::Plain, &summary.sentence());
    }
}

pub(super) fn tables(page: &mut Page, analysis: &Analysis) {
    for against in [Against::Native, Against::NativeSet] {
        let shown: Vec<&Comparison> = analysis
            .comparisons
            .iter()
            .filter(|c| c.against == against)
            .collect();
        if !shown.is_empty() {
            table(page, analysis, against, &shown);
        }
    }
}

fn table(page: &mut Page, analysis: &Analysis, against: Against, comparisons: &[&Comparison]) {
    page.heading(&title(analysis, against));
    let head = format!(
        "  {:<20}{:>5}  {:<27}{}",
        "workload metric", "n", "paired ratio (95 %)", "verdict"
    );
    page.line(&[(Style::Dim, &head)]);
    let mut kind = None;
    for comparison in comparisons {
        if kind != Some(&comparison.cell.kind) {
            kind = Some(&comparison.cell.kind);
            page.line(&[(Style::Bold, &format!(" {}", comparison.cell.kind))]);
        }
        let cell = analysis.cells.iter().find(|c| c.cell == comparison.cell);
        for metric in &comparison.metrics {
            row(page, &comparison.cell.workload, metric, cell);
        }
    }
}

/// The heading of a baseline's table.
pub(super) fn title(analysis: &Analysis, against: Against) -> String {
    let baseline = &analysis.study.baseline;
    match against {
        Against::Native => format!("Against {baseline}, same provisioning (over 1 costs more)"),
        Against::NativeSet => {
            format!("Against {baseline}-set: {baseline} pinned, without quota (over 1 costs more)")
        }
    }
}

fn row(page: &mut Page, workload: &str, metric: &MetricComparison, cell: Option<&CellFigures>) {
    let ratio = or_missing(metric.paired.as_ref(), |p| {
        ratio_with_interval(p.ratio.value, p.ratio.low, p.ratio.high)
    });
    let name = format!("{workload} {}", metric.metric.name);
    let figures = format!("  {name:<20}{:>5}  {ratio:<27}", metric.n);
    match &metric.verdict {
        Some(verdict) => {
            let word = verdict.word.to_string();
            page.line(&[(Style::Plain, &figures), (style(verdict.word), &word)]);
        }
        None => page.line(&[(Style::Dim, &figures)]),
    }
    let remarks = remarks::of_metric(metric, cell);
    if !remarks.is_empty() {
        page.wrapped("", 6, Style::Dim, &remarks);
    }
}
