//! The figures beside the headline, and every cell by itself.

use super::page::{Page, Style};
use crate::analysis::{Analysis, CellFigures, MetricComparison, MetricFigures};
use crate::remarks::{self, op};
use crate::show::{or_missing, p_value, percent, percent_with_interval, ratio_with_interval};

pub(super) fn beside(page: &mut Page, analysis: &Analysis) {
    if analysis.comparisons.is_empty() {
        return;
    }
    beside_head(page, "workload metric");
    let mut group = None;
    for comparison in &analysis.comparisons {
        if group != Some((comparison.against, &comparison.cell.kind)) {
            group = Some((comparison.against, &comparison.cell.kind));
            page.line(&[(Style::Bold, &remarks::compared(comparison))]);
        }
        for metric in &comparison.metrics {
            let tested = Tested {
                name: format!("{} {}", comparison.cell.workload, metric.metric.name),
                op: or_missing(metric.op, |o| op(&metric.metric, o)),
                primary: metric.metric.primary,
            };
            beside_row(page, &tested, metric);
        }
    }
}

/// The title and the head of the table.
pub(super) fn beside_head(page: &mut Page, name: &str) {
    page.heading("Beside the headline");
    page.wrapped(
        "",
        2,
        Style::Dim,
        "pairs: used of tried; steadiness: noise over the baseline's, from 30 pairs on with interval; r: correlation of the pair over blocks; p: paired t test, Holm: corrected, Wilcoxon: signed ranks, TOST: of equality",
    );
    let head = row_text(name, "pairs", "ratio of means (95 %)");
    page.line(&[(Style::Dim, &(head + "Loss (95 %)"))]);
}

/// What the figures are of.
pub(super) struct Tested {
    pub name: String,
    /// Op in words.
    pub op: String,
    /// Whether it carries a verdict.
    pub primary: bool,
}

/// Columns before the loss.
pub(super) const FIGURES: usize = 55;

pub(super) fn row_text(name: &str, pairs: &str, ratio: &str) -> String {
    format!("  {name:<19}{pairs:>8}  {ratio:<24}")
}

pub(super) fn beside_row<M>(page: &mut Page, tested: &Tested, metric: &MetricComparison<M>) {
    let ratio = or_missing(metric.ratio_of_means, |e| {
        ratio_with_interval(e.value, e.low, e.high)
    });
    let loss = or_missing(metric.loss, |e| percent_with_interval(e.value, e.low, e.high));
    let pairs = format!("{}/{}", metric.n, metric.n + metric.lost);
    let figures = row_text(&tested.name, &pairs, &ratio);
    page.beside(FIGURES, (Style::Plain, &figures), (Style::Plain, &loss));
    page.wrapped("", 6, Style::Dim, &tests(tested, metric));
}

fn tests<M>(tested: &Tested, metric: &MetricComparison<M>) -> String {
    let paired = metric.paired.as_ref();
    let p = |p: Option<f64>| or_missing(p, p_value);
    let mut parts = vec![
        format!("Op {}", tested.op),
        format!(
            "variability overhead {}",
            or_missing(metric.variability_overhead, percent)
        ),
        format!("steadiness {}", remarks::steadiness(metric)),
        format!("r {}", or_missing(metric.pair_correlation, |r| format!("{r:.2}"))),
        format!("p {}", p(paired.and_then(|p| p.p))),
    ];
    if tested.primary {
        parts.push(format!("Holm {}", p(paired.and_then(|p| p.p_holm))));
        parts.push(format!("Wilcoxon {}", p(paired.and_then(|p| p.p_wilcoxon))));
        parts.push(format!("TOST {}", p(paired.and_then(|p| p.p_equal))));
    }
    parts.join(", ")
}

pub(super) fn cells(page: &mut Page, analysis: &Analysis) {
    page.heading("Every cell by itself");
    let head = cell_row(
        "workload metric",
        "n",
        ["mean", "+- (95 %)", "sd", "CV"].map(str::to_owned),
    );
    page.line(&[(Style::Dim, &head)]);
    let mut kind = None;
    for cell in &analysis.cells {
        if kind != Some(&cell.cell.kind) {
            kind = Some(&cell.cell.kind);
            page.line(&[(Style::Bold, &cell.cell.kind.to_string())]);
        }
        cell_rows(page, cell);
    }
}

fn cell_rows(page: &mut Page, cell: &CellFigures) {
    for figures in &cell.metrics {
        let name = format!("{} {}", cell.cell.workload, figures.metric.name);
        let row = cell_row(&name, &figures.n.to_string(), columns(figures));
        page.line(&[(Style::Plain, &row)]);
    }
    let remarks = remarks::of_cell(cell);
    if !remarks.is_empty() {
        page.wrapped("", 6, Style::Dim, &remarks);
    }
}

/// The t interval is symmetric: its half-width says it all in fewer columns.
fn columns(figures: &MetricFigures) -> [String; 4] {
    let show = |value| or_missing(value, |v| figures.metric.unit.show(v));
    [
        show(figures.mean),
        show(figures.interval.map(|e| (e.high - e.low) / 2.0)),
        show(figures.sd),
        or_missing(figures.cv, percent),
    ]
}

pub(super) fn cell_row(name: &str, n: &str, [mean, half, sd, cv]: [String; 4]) -> String {
    format!("  {name:<24}{n:>4}  {mean:<14}{half:<14}{sd:<13}{cv}")
}
