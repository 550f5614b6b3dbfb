//! What is printed beside figures: phrases, flags, findings, failures.

use super::{carry_over, flag, verdict};
use crate::show::{or_missing, percent, ratio, ratio_with_interval};
use tare_analysis::{Analysis, CellFigures, Comparison, FailureCount, FindingCount, MetricComparison, Op};
use tare_analysis::{CostRange, CpuCost, QuantileFigure, Refusal, Steady, Verdict};
use tare_model::metric::{Direction, Metric};
use tare_model::size::counted;
use tare_model::study::Cell;

/// The headline of a metric: `1.004 (0.999 to 1.009)`, or without an interval.
pub(crate) fn cost_with_interval<M>(metric: &MetricComparison<M>) -> String {
    match &metric.paired {
        Some(paired) => ratio_with_interval(paired.ratio.value, paired.ratio.low, paired.ratio.high),
        None => or_missing(without_interval(metric), |cost| cost),
    }
}

/// `1.004 (one block)`, or of blocks that are too unlike `0.81 to 2.06 in blocks`.
pub(crate) fn without_interval<M>(metric: &MetricComparison<M>) -> Option<String> {
    let single = metric.single.map(|cost| format!("{} (one block)", ratio(cost)));
    let range = |range: CostRange| format!("{} to {} in blocks", ratio(range.lowest), ratio(range.highest));
    single.or_else(|| metric.range.map(range))
}

/// The flags of a comparison, its lost pairs and, with the primary metric, the
/// findings of its two cells.
pub(crate) fn of_metric(analysis: &Analysis, comparison: &Comparison, metric: &MetricComparison) -> String {
    let mut parts = vec![of_figures(metric)];
    if metric.metric.primary {
        parts.extend(in_one_piece(analysis, metric));
        parts.extend(comparison.carry_over.iter().map(carry_over::words));
        let of = |cell: &Cell| analysis.cells.iter().find(|c| c.cell == *cell);
        parts.extend(of(&comparison.cell).map(|c| findings(&c.findings)));
        let baseline = of(&comparison.baseline).map(|c| findings(&c.findings));
        parts.extend(
            baseline
                .filter(|f| !f.is_empty())
                .map(|f| format!("baseline: {f}")),
        );
    }
    joined(parts)
}

/// Where others ran in slices.
fn in_one_piece(analysis: &Analysis, metric: &MetricComparison) -> Option<String> {
    let of = counted(metric.n, "block");
    match metric.slices.as_ref().map_or(0, |s| s.blocks) {
        0 => (metric.n > 0 && analysis.has_slices()).then(|| "ran in one piece".to_owned()),
        blocks => (blocks < metric.n).then(|| format!("in slices in {blocks} of {of}")),
    }
}

/// What the interval of a study's headlines is one of.
pub(crate) fn headline(analysis: &Analysis) -> &'static str {
    if analysis.has_slices() {
        "typical cost"
    } else {
        "paired ratio"
    }
}

/// The verdict on a CPU cost with its flags; of work that is not bound by the CPU, why
/// there is none.
pub(crate) fn cpu_verdict(cpu: &CpuCost) -> String {
    let [cell, baseline] = cpu.cpu_shares.map(percent);
    let Some(verdict) = &cpu.verdict else {
        return format!(
            "no verdict: not CPU-bound ({cell} of its time on the CPU, the baseline {baseline}; for the rest they waited: for input or output or, on a busy host, for a CPU)"
        );
    };
    let mut parts = vec![format!("{}, {}", verdict.word, verdict::phrase(verdict))];
    parts.extend(cpu.flags.iter().map(flag::words));
    joined(parts)
}

/// The flags, the ratios of quantiles and the lost pairs.
pub(crate) fn of_figures<M>(metric: &MetricComparison<M>) -> String {
    let mut parts: Vec<String> = metric.flags.iter().map(flag::words).collect();
    parts.push(quantiles(metric));
    parts.extend(lost(metric));
    joined(parts)
}

/// `quantile ratios p50 1.002 (0.998 to 1.006), p90 1.45 (1.01 to 9.80)`.
fn quantiles<M>(metric: &MetricComparison<M>) -> String {
    let figure = |q: &QuantileFigure| {
        let ratio = ratio_with_interval(q.ratio.value, q.ratio.low, q.ratio.high);
        format!("p{:.0} {ratio}", q.quantile * 100.0)
    };
    let figures: Vec<String> = metric.quantiles.iter().map(figure).collect();
    match metric.quantiles.first() {
        None => String::new(),
        Some(q) if q.approximate => format!("quantile ratios (intervals approximate) {}", figures.join(", ")),
        Some(_) => format!("quantile ratios {}", figures.join(", ")),
    }
}

/// `1.20 (0.85 to 1.70): inconclusive`.
pub(crate) fn steadiness(s: &Steady) -> String {
    let verdict = s.verdict.map_or_else(String::new, |v| format!(": {v}"));
    match s.low.zip(s.high) {
        Some((low, high)) => ratio_with_interval(s.value, low, high) + &verdict,
        None => ratio(s.value) + &verdict,
    }
}

fn lost<M>(metric: &MetricComparison<M>) -> Option<String> {
    let told = |v: &Verdict| v.refusals.iter().any(|r| matches!(r, Refusal::PairsLost { .. }));
    let tried = counted(metric.lost + metric.n, "pair");
    let lost = || match metric.n {
        0 => "no pair has a figure".to_owned(),
        _ => format!("{} of {tried} lost", metric.lost),
    };
    (metric.lost > 0 && !metric.verdict.as_ref().is_some_and(told)).then(lost)
}

/// Why trials of a cell failed, or attempts at them, and the findings of the others.
pub(crate) fn of_cell(cell: &CellFigures) -> String {
    let mut parts: Vec<String> = cell.failures.iter().map(failed).collect();
    parts.push(findings(&cell.findings));
    joined(parts)
}

/// `timeout x1 (first: took 30 s)`, as findings are counted in trials, with the attempts where
/// there were more; `timeout in 1 attempt, repeated (first: ...)` where no trial ended so.
fn failed(failure: &FailureCount) -> String {
    let FailureCount { reason, detail, .. } = failure;
    let attempts = counted(failure.attempts, "attempt");
    match failure.trials {
        0 => format!("{reason} in {attempts}, repeated (first: {detail})"),
        trials if trials == failure.attempts => format!("{reason} x{trials} (first: {detail})"),
        trials => format!("{reason} x{trials} ({attempts}, first: {detail})"),
    }
}

/// The parts that say something.
pub(crate) fn joined(mut parts: Vec<String>) -> String {
    parts.retain(|p| !p.is_empty());
    parts.join("; ")
}

/// `host-busy x3, disturbed x1`.
fn findings(counts: &[FindingCount]) -> String {
    let shown: Vec<String> = counts
        .iter()
        .map(|c| format!("{} x{}", c.finding, c.trials))
        .collect();
    shown.join(", ")
}

/// `higher is better`, for figures that a program prints: those of tare's own have words that say it.
pub(crate) fn direction(metric: &Metric) -> Option<String> {
    metric
        .is_printed()
        .then(|| format!("{} is better", metric.direction.name()))
}

/// Op as what the figure itself is, so that nobody takes it for the cost: a rate that is 17 % less is a
/// cost of 21 %. With li2018's rule of display.
pub(crate) fn op(direction: Direction, op: Op) -> String {
    let word = if is_more(direction, op) { "more" } else { "less" };
    let ignored = if op.ignored { " (ignored below 1 %)" } else { "" };
    format!("{} {word}{ignored}", percent(op.value))
}

/// Whether the raw figure is above the baseline's.
pub(crate) fn is_more(direction: Direction, op: Op) -> bool {
    op.worse == (direction == Direction::Lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_below_one_percent_are_marked_as_ignored() {
        let of = |value, worse, ignored| {
            op(
                Direction::Lower,
                Op {
                    value,
                    worse,
                    ignored,
                },
            )
        };
        assert_eq!(of(0.004, true, true), "0.4 % more (ignored below 1 %)");
        assert_eq!(of(0.2, false, false), "20 % less");
    }

    #[test]
    fn a_worse_rate_is_less() {
        let worse = Op {
            value: 0.17,
            worse: true,
            ignored: false,
        };
        assert_eq!(op(Direction::Higher, worse), "17 % less");
    }
}
