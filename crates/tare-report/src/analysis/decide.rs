//! Holm's correction over the study, then a verdict for every primary metric.

use super::boxes::BoxFigures;
use super::comparison::{Comparison, MetricComparison};
use super::fitness::refusals;
use super::margin;
use super::trials::Trials;
use super::verdict::{Verdict, decide, refused};
use tare_model::study::Study;
use tare_stats::holm;

/// Fills in the corrected p values and the verdicts; the answer is the number of
/// tests in the family: the difference tests of all primary metrics of the
/// study, all cells against their baselines, both kinds of baseline together.
pub(crate) fn all(
    comparisons: &mut [Comparison],
    study: &Study,
    trials: &Trials,
    boxes: &[BoxFigures],
) -> usize {
    let p_values: Vec<_> = primaries(comparisons).map(|m| p_value(m)).collect();
    let family = p_values.iter().flatten().count();
    for (metric, p) in primaries(comparisons).zip(holm(&p_values)) {
        if let Some(paired) = &mut metric.paired {
            paired.p_holm = p;
        }
    }
    for comparison in comparisons {
        let verdicts: Vec<_> = comparison
            .metrics
            .iter()
            .map(|m| {
                m.metric
                    .primary
                    .then(|| judge(comparison, m, study, trials, boxes))
            })
            .collect();
        for (metric, verdict) in comparison.metrics.iter_mut().zip(verdicts) {
            metric.verdict = verdict;
        }
    }
    family
}

fn primaries(comparisons: &mut [Comparison]) -> impl Iterator<Item = &mut MetricComparison> {
    comparisons
        .iter_mut()
        .flat_map(|c| c.metrics.iter_mut())
        .filter(|m| m.metric.primary)
}

fn p_value(metric: &MetricComparison) -> Option<f64> {
    metric.paired.as_ref().and_then(|p| p.p)
}

fn judge(
    comparison: &Comparison,
    metric: &MetricComparison,
    study: &Study,
    trials: &Trials,
    boxes: &[BoxFigures],
) -> Verdict {
    let refusals = refusals(comparison, metric, study, trials, boxes);
    let p = metric.paired.as_ref().and_then(|p| p.p_holm);
    match (metric.estimate, p, margin(study)) {
        (Some(estimate), Some(p), Some(margin)) if refusals.is_empty() => decide(&estimate, p, margin),
        _ => refused(refusals),
    }
}
