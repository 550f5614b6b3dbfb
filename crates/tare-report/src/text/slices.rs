//! What slices say beside the typical cost.

use super::detail::{FIGURES, row_text};
use super::page::{Page, Style};
use crate::analysis::{Analysis, CpuCost, SliceFigures};
use crate::remarks;

pub(super) fn table(page: &mut Page, analysis: &Analysis) {
    if !analysis.has_slices() {
        return;
    }
    page.heading("Slices: mean and CPU cost beside the typical cost, and stalls");
    page.wrapped(
        "",
        2,
        Style::Dim,
        "mean cost: all time over all work, over the baseline's; stalls: share of the time in slices of over twice the usual cost, less the baseline's",
    );
    let head = row_text("workload metric", "blocks", "mean cost (95 %)") + "stalls (95 %)";
    page.line(&[(Style::Dim, &head)]);
    let mut group = None;
    for comparison in &analysis.comparisons {
        for metric in &comparison.metrics {
            let Some(slices) = &metric.slices else { continue };
            if group != Some((comparison.against, &comparison.cell.kind)) {
                group = Some((comparison.against, &comparison.cell.kind));
                page.line(&[(Style::Bold, &remarks::compared(comparison))]);
            }
            let name = format!("{} {}", comparison.cell.workload, metric.metric.name);
            row(page, &name, slices);
        }
    }
}

fn row(page: &mut Page, name: &str, slices: &SliceFigures) {
    let mean = remarks::cost(slices.mean);
    let figures = row_text(name, &slices.blocks.to_string(), &mean);
    let stalls = remarks::stalls(slices);
    page.beside(FIGURES, (Style::Plain, &figures), (Style::Plain, &stalls));
    if let Some(cpu) = &slices.cpu {
        page.wrapped("", 6, Style::Dim, &cpu_cost(cpu));
    }
}

fn cpu_cost(cpu: &CpuCost) -> String {
    let cost = remarks::cost(Some(cpu.cost.ratio));
    format!("CPU cost {cost}: {}", remarks::cpu_verdict(cpu))
}
