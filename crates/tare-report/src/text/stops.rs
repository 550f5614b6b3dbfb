//! Why each cell of an adaptive study stopped.

use super::page::{Page, Style};
use crate::analysis::{Analysis, Stop};
use crate::facts;
use crate::show::or_missing;

/// Columns before the reason.
const FIGURES: usize = 46;

pub(super) fn table(page: &mut Page, analysis: &Analysis) {
    let Some(stops) = &analysis.stops else { return };
    page.heading(&facts::stops_title(stops));
    if stops.comparisons.is_empty() {
        return;
    }
    let head = row("workload", "blocks", "n", "half-width");
    page.line(&[(Style::Dim, &(head + "why"))]);
    let mut group = None;
    for stop in &stops.comparisons {
        let this = facts::stop_group(analysis, stop);
        if group.as_ref() != Some(&this) {
            page.line(&[(Style::Bold, &this)]);
            group = Some(this);
        }
        let name = page.name(&stop.at.cell.workload, 19);
        page.wrapped(&stop_row(&name, stop), FIGURES, style(stop), &stop.why());
    }
}

fn stop_row(name: &str, stop: &Stop) -> String {
    row(
        name,
        &stop.blocks.to_string(),
        &stop.at.n.to_string(),
        &or_missing(stop.half_width(), facts::half_width),
    )
}

fn row(workload: &str, blocks: &str, n: &str, half: &str) -> String {
    format!("  {workload:<19}{blocks:>6}{n:>5}{half:>12}  ")
}

const fn style(stop: &Stop) -> Style {
    if stop.settled { Style::Plain } else { Style::Yellow }
}
