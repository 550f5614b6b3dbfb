//! The summary, and the tables of paired ratios with their verdicts.

use super::answer::doubts;
use super::page::{Page, Style};
use super::style;
use crate::analysis::{Against, Analysis, Comparison, MetricComparison, Step, Verdict, Word};
use crate::remarks;
use crate::show::{or_missing, ratio_with_interval};
use tare_model::size::counted;

pub(super) fn summary(page: &mut Page, analysis: &Analysis) {
    if let Some(template) = &analysis.study.template {
        page.wrapped("", 0, Style::Bold, &template.title);
    }
    page.heading(&format!(
        "What each platform costs against {} ({} of {})",
        analysis.study.baseline,
        analysis.run.blocks,
        counted(analysis.run.blocks_planned, "block")
    ));
    for notice in &analysis.notices {
        page.wrapped("  !", 4, Style::Yellow, &notice.text);
    }
    if analysis.summaries.is_empty() {
        page.line(&[(Style::Plain, "  nothing to compare")]);
    }
    for summary in &analysis.summaries {
        page.wrapped("  -", 4, Style::Plain, &summary.sentence);
    }
}

/// What holds for parts of the file and makes figures doubtful, all kinds in one place.
pub(super) fn doubts(page: &mut Page, analysis: &Analysis) {
    page.heading("Reasons to doubt");
    let doubts = doubts::of_parts(analysis);
    if doubts.is_empty() {
        page.line(&[(Style::Plain, "  none was found")]);
    }
    for doubt in doubts {
        page.wrapped("  -", 4, Style::Plain, &doubt.text);
    }
}

/// One table per baseline.
pub(super) fn tables(page: &mut Page, analysis: &Analysis) {
    for against in [Against::Native, Against::NativeSet] {
        let of_baseline = analysis.comparisons.iter().filter(|c| c.against == against);
        let shown: Vec<&Comparison> = of_baseline.collect();
        if !shown.is_empty() {
            page.heading(&title(analysis, against));
            looks(page, analysis);
            table(page, analysis, &shown);
        }
    }
}

/// Columns are too narrow for what the intervals of a study with looks are called.
fn looks(page: &mut Page, analysis: &Analysis) {
    if !analysis.study.protocol.stopping.is_fixed() {
        let text = format!("  intervals: {}", analysis.intervals);
        page.line(&[(Style::Dim, &text)]);
    }
}

fn title(analysis: &Analysis, against: Against) -> String {
    let baseline = &analysis.study.baseline;
    match against {
        Against::Native => format!("Against {baseline}, same provisioning (over 1 costs more)"),
        Against::NativeSet => {
            format!("Against {baseline}-set: {baseline} pinned, without quota (over 1 costs more)")
        }
    }
}

fn table(page: &mut Page, analysis: &Analysis, comparisons: &[&Comparison]) {
    let figure = format!("{} (95 %)", remarks::headline(analysis));
    let head = row_text("workload metric", "n", &figure);
    page.line(&[(Style::Dim, &(head + "verdict"))]);
    let mut kind = None;
    for comparison in comparisons {
        if kind != Some(&comparison.cell.kind) {
            kind = Some(&comparison.cell.kind);
            page.line(&[(Style::Bold, &comparison.cell.kind.to_string())]);
        }
        for metric in comparison.primary_first() {
            row(page, analysis, comparison, metric);
        }
    }
}

/// The gaps of boxes in boxes, split by layer.
pub(super) fn layers(page: &mut Page, analysis: &Analysis) {
    if analysis.layers.is_empty() {
        return;
    }
    let nearly = if analysis.has_slices() { ", nearly" } else { "" };
    page.heading(&format!(
        "Boxes in boxes: what each layer adds (the steps multiply to the whole{nearly})"
    ));
    for split in &analysis.layers {
        page.line(&[(Style::Bold, &format!("{} {}", split.cell, split.metric))]);
        for step in &split.steps {
            page.line(&[(Style::Plain, &step_row(step))]);
        }
        page.line(&[(Style::Dim, &step_row(&split.whole))]);
    }
}

fn step_row(step: &Step) -> String {
    let ratio = or_missing(step.ratio, |e| ratio_with_interval(e.value, e.low, e.high));
    format!("  {:<40}{:>4}  {ratio}", step.name(), step.n)
}

/// Columns before the verdict.
pub(super) const FIGURES: usize = 50;

pub(super) fn row_text(name: &str, n: &str, ratio: &str) -> String {
    format!("  {name:<19}{n:>4}  {ratio:<23}")
}

fn row(page: &mut Page, analysis: &Analysis, comparison: &Comparison, metric: &MetricComparison) {
    let ratio = remarks::cost_with_interval(metric);
    let name = format!("{} {}", comparison.cell.workload, metric.metric.name);
    let figures = row_text(&name, &metric.n.to_string(), &ratio);
    let Some(verdict) = &metric.verdict else {
        return page.beside(
            FIGURES,
            (Style::Dim, &figures),
            (Style::Dim, &remarks::short(metric)),
        );
    };
    let (beside, below) = split(verdict);
    page.beside(FIGURES, (Style::Plain, &figures), (style(verdict.word), &beside));
    let remarks = remarks::of_metric(analysis, comparison, metric);
    for text in [below, remarks].iter().filter(|t| !t.is_empty()) {
        page.wrapped("", 6, Style::Dim, text);
    }
}

/// What of a verdict stands beside the figures, and what below them.
pub(super) fn split(verdict: &Verdict) -> (String, String) {
    let word = verdict.word.to_string();
    let phrase = verdict.phrase.clone();
    match verdict.word {
        Word::Equal if verdict.phrase.starts_with("within") => (format!("{word} {phrase}"), String::new()),
        Word::Slower | Word::Faster if verdict.beyond_margin => (format!("{word} {phrase}"), String::new()),
        _ => (word, phrase),
    }
}
