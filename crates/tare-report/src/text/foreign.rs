//! The analysis of foreign data, for a terminal.

use super::detail::{self, Tested};
use super::headline::{FIGURES, row_text, split};
use super::page::{Page, Style};
use super::{TextOptions, style};
use crate::analysis::MetricComparison;
use crate::foreign::{ForeignAnalysis, ForeignComparison, ForeignMetric, SeriesFigures, word};
use crate::remarks;
use crate::show::{figure, margin, or_missing, percent};
use tare_model::size::counted;

/// Headline table, the figures beside it, every cell by itself, how to read them.
pub fn foreign(analysis: &ForeignAnalysis, options: TextOptions) -> String {
    let mut page = Page::new(options);
    head(&mut page, analysis);
    headline(&mut page, analysis);
    beside(&mut page, analysis);
    cells(&mut page, analysis);
    page.heading("How to read this");
    for caveat in &analysis.caveats {
        page.wrapped("  -", 4, Style::Plain, caveat);
    }
    page.finish()
}

fn head(page: &mut Page, analysis: &ForeignAnalysis) {
    page.heading(&format!(
        "{}: {} in {}, margin {}",
        analysis.source,
        counted(analysis.rows, "row"),
        counted(analysis.blocks, "block"),
        margin(analysis.margin)
    ));
    for notice in &analysis.notices {
        page.wrapped("  !", 4, Style::Yellow, &notice.text);
    }
}

/// Calls `each` for every comparison, behind a title for each cell.
fn by_cell(page: &mut Page, analysis: &ForeignAnalysis, each: impl Fn(&mut Page, &ForeignComparison)) {
    let mut cell = None;
    for comparison in &analysis.comparisons {
        if cell != Some(comparison.cell) {
            cell = Some(comparison.cell);
            let title = format!("{} against {}", comparison.cell, comparison.baseline);
            page.wrapped("", 0, Style::Bold, &title);
        }
        each(page, comparison);
    }
}

fn headline(page: &mut Page, analysis: &ForeignAnalysis) {
    page.heading("Against the baseline (over 1 is worse)");
    let head = row_text("metric", "n", "paired ratio (95 %)");
    page.line(&[(Style::Dim, &(head + "verdict"))]);
    by_cell(page, analysis, headline_row);
}

fn headline_row(page: &mut Page, comparison: &ForeignComparison) {
    let figures = &comparison.figures;
    let ratio = remarks::cost_with_interval(figures);
    let name = page.name(figures.metric.name, 19);
    let row = row_text(&name, &figures.n.to_string(), &ratio);
    let Some(verdict) = &figures.verdict else {
        return page.line(&[(Style::Plain, &row)]);
    };
    let (beside, below) = split(verdict);
    page.beside(FIGURES, (Style::Plain, &row), (style(verdict.word), &beside));
    for text in [below, remarks::of_figures(figures)]
        .iter()
        .filter(|t| !t.is_empty())
    {
        page.wrapped("", 6, Style::Dim, text);
    }
}

fn beside(page: &mut Page, analysis: &ForeignAnalysis) {
    detail::beside_head(page, "metric");
    by_cell(page, analysis, |page, comparison| {
        let figures = &comparison.figures;
        let tested = Tested {
            name: figures.metric.name.to_owned(),
            op: op(figures),
            primary: true,
        };
        detail::beside_row(page, &tested, figures);
    });
}

/// Whether more is slower or larger is not known of a metric with any unit.
fn op(figures: &MetricComparison<ForeignMetric>) -> String {
    or_missing(figures.op, |op| {
        let word = if op.worse { "worse" } else { "better" };
        format!("{word} by {}{}", percent(op.value), remarks::ignored(op))
    })
}

fn cells(page: &mut Page, analysis: &ForeignAnalysis) {
    page.heading("Every cell by itself");
    let titles = ["mean", "+- (95 %)", "sd", "CV"].map(str::to_owned);
    let head = detail::cell_row("metric", "n", titles);
    page.line(&[(Style::Dim, &head)]);
    let mut cell = None;
    for figures in &analysis.cells {
        if cell != Some(figures.cell) {
            cell = Some(figures.cell);
            page.wrapped("", 0, Style::Bold, figures.cell);
        }
        cell_row(page, figures);
    }
}

fn cell_row(page: &mut Page, figures: &SeriesFigures) {
    let show = |value| or_missing(value, figure);
    let columns = [
        show(figures.mean),
        show(figures.interval.map(|e| (e.high - e.low) / 2.0)),
        show(figures.sd),
        or_missing(figures.cv, percent),
    ];
    let name = page.name(figures.metric.name, 19);
    let row = detail::cell_row(&name, &figures.n.to_string(), columns);
    page.line(&[(Style::Plain, &row)]);
    let empty = (figures.empty > 0).then(|| format!("{} without a value", counted(figures.empty, "row")));
    let about = [
        figures
            .metric
            .unit
            .map_or_else(String::new, |unit| format!("in {unit}")),
        format!("{} is better", word(figures.metric.direction)),
        empty.unwrap_or_default(),
    ];
    page.wrapped("", 6, Style::Dim, &remarks::joined(about.to_vec()));
}
