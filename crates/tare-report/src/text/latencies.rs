//! How long requests took.

use super::page::{Page, Style};
use crate::analysis::{Analysis, CellLatencies};
use crate::facts;

pub(super) fn table(page: &mut Page, analysis: &Analysis) {
    if analysis.latencies.is_empty() {
        return;
    }
    page.heading(facts::LATENCIES);
    let head = facts::LATENCY_COLUMNS.map(str::to_owned);
    page.line(&[(Style::Dim, &row("workload", &head))]);
    let mut group = None;
    for of in &analysis.latencies {
        let this = of.cell.kind.to_string();
        if group.as_ref() != Some(&this) {
            page.line(&[(Style::Bold, &this)]);
            group = Some(this);
        }
        let line = cell(page, of);
        page.line(&[(Style::Plain, &line)]);
    }
}

fn cell(page: &mut Page, of: &CellLatencies) -> String {
    row(&page.name(&of.cell.workload, 19), &facts::latencies(of))
}

fn row(workload: &str, figures: &[String; 6]) -> String {
    let figures: String = figures.iter().map(|figure| format!("{figure:>9}")).collect();
    format!("  {workload:<19}{figures}")
}
