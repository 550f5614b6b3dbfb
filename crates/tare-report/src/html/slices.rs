//! What slices say beside the typical cost.

use super::tables::{Cell, NAME, NUMBER, Row, TEXT, Table, cell, group, head, importance};
use crate::analysis::{Analysis, Comparison, MetricComparison, SliceFigures};
use crate::remarks;

/// The table; without rows where nothing ran in slices.
pub(super) fn table(analysis: &Analysis) -> Table {
    let mut last = None;
    let mut rows = Vec::new();
    for comparison in &analysis.comparisons {
        for metric in &comparison.metrics {
            rows.extend(metric.slices.as_ref().map(|slices| Row {
                group: group(&mut last, remarks::compared(comparison)),
                class: importance(metric.metric.primary),
                cells: cells(comparison, metric, slices),
            }));
        }
    }
    Table {
        head: head(&[
            ("workload", NAME),
            ("metric", NAME),
            ("blocks", NUMBER),
            ("rounds", NUMBER),
            ("typical cost", NUMBER),
            ("mean cost", NUMBER),
            ("stalls", NUMBER),
            ("CPU cost", NUMBER),
            ("verdict on CPU cost", TEXT),
            ("remarks", TEXT),
        ]),
        rows,
    }
}

fn cells(comparison: &Comparison, metric: &MetricComparison, slices: &SliceFigures) -> Vec<Cell> {
    let cpu = slices.cpu.as_ref();
    let verdict = cpu.and_then(|c| c.verdict.as_ref());
    vec![
        cell(NAME, &comparison.cell.workload),
        cell(NAME, &metric.metric.name),
        cell(NUMBER, slices.blocks.to_string()),
        cell(NUMBER, slices.rounds.to_string()),
        cell(NUMBER, remarks::cost(slices.typical)),
        cell(NUMBER, remarks::cost(slices.mean)),
        cell(NUMBER, remarks::stalls(slices)),
        cell(NUMBER, remarks::cost(cpu.map(|c| c.cost.ratio))),
        Cell {
            verdict: verdict.map(|v| v.word.name()),
            ..cell(TEXT, verdict.map_or_else(String::new, |v| v.word.to_string()))
        },
        cell(TEXT, cpu.map_or_else(String::new, remarks::cpu_verdict)),
    ]
}
