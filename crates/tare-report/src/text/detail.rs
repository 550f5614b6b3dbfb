//! The figures beside the headline, and every cell by itself.

use super::page::{Page, Style};
use crate::analysis::{Analysis, CellFigures, MetricComparison, MetricFigures};
use crate::remarks::{self, op};
use crate::show::{MISSING, or_missing, p_value, percent, ratio_with_interval};

pub(super) fn beside(page: &mut Page, analysis: &Analysis) {
    if analysis.comparisons.is_empty() {
        return;
    }
    page.heading("Beside the headline: means over means, variability, tests");
    let head = format!(
        "  {:<20}{:>5}  {:<27}{}",
        "workload metric", "n", "ratio of means (95 %)", "Loss (95 %)"
    );
    page.line(&[(Style::Dim, &head)]);
    let mut group = None;
    for comparison in &analysis.comparisons {
        if group != Some((comparison.against, &comparison.cell.kind)) {
            group = Some((comparison.against, &comparison.cell.kind));
            page.line(&[(Style::Bold, &format!(" {}", remarks::compared(comparison)))]);
        }
        for metric in &comparison.metrics {
            row(page, &comparison.cell.workload, metric);
        }
    }
}

fn row(page: &mut Page, workload: &str, metric: &MetricComparison) {
    let ratio = or_missing(metric.ratio_of_means, |e| {
        ratio_with_interval(e.value, e.low, e.high)
    });
    let loss = or_missing(metric.loss, |e| {
        format!("{} ({} to {})", percent(e.value), percent(e.low), percent(e.high))
    });
    let name = format!("{workload} {}", metric.metric.name);
    page.line(&[(
        Style::Plain,
        &format!("  {name:<20}{:>5}  {ratio:<27}{loss}", metric.n),
    )]);
    page.wrapped("", 6, Style::Dim, &tests(metric));
}

fn tests(metric: &MetricComparison) -> String {
    let paired = metric.paired.as_ref();
    let mut parts = vec![
        format!("Op {}", or_missing(metric.op, |o| op(&metric.metric, o))),
        format!(
            "variability overhead {}",
            or_missing(metric.variability_overhead, percent)
        ),
        format!(
            "pair correlation {}",
            or_missing(metric.pair_correlation, |r| format!("{r:.2}"))
        ),
        format!("pairs lost {} of {}", metric.lost, metric.lost + metric.n),
        format!("p {}", or_missing(paired.and_then(|p| p.p), p_value)),
    ];
    if metric.metric.primary {
        parts.push(format!(
            "Holm's p {}",
            or_missing(paired.and_then(|p| p.p_holm), p_value)
        ));
        parts.push(format!(
            "TOST p {}",
            or_missing(paired.and_then(|p| p.p_equal), p_value)
        ));
    }
    parts.join(", ")
}

pub(super) fn cells(page: &mut Page, analysis: &Analysis) {
    page.heading("Every cell by itself");
    let head = format!(
        "  {:<20}{:>5}  {:<13}{:<13}{:<7}{}",
        "workload metric", "n", "mean", "sd", "CV", "95 % interval"
    );
    page.line(&[(Style::Dim, &head)]);
    let mut kind = None;
    for cell in &analysis.cells {
        if kind != Some(&cell.cell.kind) {
            kind = Some(&cell.cell.kind);
            page.line(&[(Style::Bold, &format!(" {}", cell.cell.kind))]);
        }
        cell_rows(page, cell);
    }
}

fn cell_rows(page: &mut Page, cell: &CellFigures) {
    for figures in &cell.metrics {
        let name = format!("{} {}", cell.cell.workload, figures.metric.name);
        page.line(&[(Style::Plain, &cell_row(&name, figures))]);
    }
    let remarks = remarks::of_cell(cell);
    if !remarks.is_empty() {
        page.wrapped("", 6, Style::Dim, &remarks);
    }
}

fn cell_row(name: &str, figures: &MetricFigures) -> String {
    let unit = figures.metric.unit;
    let show = |value| or_missing(value, |v| unit.show(v));
    let interval = figures
        .interval
        .map(|e| format!("{} to {}", unit.show(e.low), unit.show(e.high)));
    format!(
        "  {name:<20}{:>5}  {:<13}{:<13}{:<7}{}",
        figures.n,
        show(figures.mean),
        show(figures.sd),
        or_missing(figures.cv, percent),
        interval.as_deref().unwrap_or(MISSING)
    )
}
