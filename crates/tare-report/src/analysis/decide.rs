//! Holm's correction over the study, then a verdict for every primary metric.

use super::boxes::BoxFigures;
use super::comparison::{Comparison, MetricComparison, Paired};
use super::fitness::{refusals, smaller_work};
use super::refusal::Refusal;
use super::trials::Trials;
use super::verdict::{self, Corrected, Verdict, refused};
use super::{margin, steadiness};
use tare_model::study::Study;
use tare_stats::{holm, holm_factors};

/// Fills in the corrected p values and the verdicts; the answer is the number of
/// tests in the family: the difference tests of all primary metrics of the
/// study, all cells against their baselines, both kinds of baseline together.
pub(crate) fn all(
    comparisons: &mut [Comparison],
    study: &Study,
    trials: &Trials,
    boxes: &[BoxFigures],
) -> usize {
    let factors = correct(primaries(comparisons));
    let family = factors.iter().flatten().count();
    let mut factors = factors.into_iter();
    for comparison in &mut *comparisons {
        let verdict = |m: &MetricComparison| {
            let refusals = refusals(comparison, m, study, trials, boxes);
            let verdict = judge(m, refusals, factors.next().flatten(), margin(study));
            match smaller_work(comparison, trials, verdict.word) {
                Some(unfit) => refused(vec![unfit]),
                None => verdict,
            }
        };
        let verdicts: Vec<_> = comparison
            .metrics
            .iter()
            .filter(|m| m.metric.primary)
            .map(verdict)
            .collect();
        let primary = comparison.metrics.iter_mut().filter(|m| m.metric.primary);
        for (metric, verdict) in primary.zip(verdicts) {
            metric.verdict = Some(verdict);
        }
    }
    steadiness::judge(comparisons.iter_mut().flat_map(|c| c.metrics.iter_mut()));
    family
}

fn primaries(comparisons: &mut [Comparison]) -> impl Iterator<Item = &mut MetricComparison> {
    comparisons
        .iter_mut()
        .flat_map(|c| c.metrics.iter_mut())
        .filter(|m| m.metric.primary)
}

/// Fills in the corrected p values of a family of tests; the answer is what each
/// was multiplied by, where there was one.
pub(crate) fn correct<'a, M: 'a>(
    family: impl Iterator<Item = &'a mut MetricComparison<M>>,
) -> Vec<Option<f64>> {
    let mut paired: Vec<Option<&mut Paired>> = family.map(|m| m.paired.as_mut()).collect();
    let p_values: Vec<_> = paired.iter().map(|p| p.as_ref().and_then(|p| p.p)).collect();
    for (paired, p) in paired.iter_mut().zip(holm(&p_values)) {
        if let Some(paired) = paired {
            paired.p_holm = p;
        }
    }
    holm_factors(&p_values)
}

/// The verdict, for every reason not to give one, what Holm's correction
/// multiplied p by, and the margin in logs.
pub(crate) fn judge<M>(
    metric: &MetricComparison<M>,
    refusals: Vec<Refusal>,
    factor: Option<f64>,
    margin: Option<f64>,
) -> Verdict {
    let p = metric.paired.as_ref().and_then(|p| p.p_holm);
    let corrected = p.map(|p| Corrected {
        p,
        factor: factor.unwrap_or(1.0),
    });
    match (&metric.inference, corrected, margin) {
        (Some(inference), Some(p), Some(margin)) if refusals.is_empty() => verdict::of(inference, p, margin),
        _ if refusals.is_empty() => refused(vec![Refusal::NoEstimate]),
        _ => refused(refusals),
    }
}
