//! Holm's correction over the study, then a verdict for every primary metric.

use super::boxes::BoxFigures;
use super::comparison::{Comparison, MetricComparison};
use super::fitness::{refusals, smaller_work};
use super::paired::Paired;
use super::refusal::Refusal;
use super::slices::CpuCost;
use super::trials::Trials;
use super::verdict::{self, Corrected, Verdict, refused};
use super::{margin, steadiness};
use tare_model::study::Study;
use tare_stats::{PairedInference, holm, holm_factors};

/// Tests in the families of Holm's correction.
pub(crate) struct Families {
    /// The difference tests of all primary metrics of the study, all cells against
    /// their baselines, both kinds of baseline together.
    pub primary: usize,
    /// Those of the CPU costs of CPU-bound work in slices.
    pub cpu: usize,
}

/// What is judged of a comparison.
struct Tested<'a> {
    n: usize,
    lost: usize,
    paired: Option<&'a Paired>,
    inference: Option<&'a PairedInference>,
}

impl<'a> Tested<'a> {
    fn headline<M>(metric: &'a MetricComparison<M>) -> Self {
        Self {
            n: metric.n,
            lost: metric.lost,
            paired: metric.paired.as_ref(),
            inference: metric.inference.as_ref(),
        }
    }

    fn cpu(cost: &'a CpuCost, lost: usize) -> Self {
        Self {
            n: cost.n,
            lost,
            paired: Some(&cost.cost),
            inference: Some(&cost.inference),
        }
    }
}

/// What verdicts rest on besides the figures.
#[derive(Clone, Copy)]
pub(crate) struct Evidence<'a> {
    pub study: &'a Study,
    pub trials: &'a Trials<'a>,
    pub boxes: &'a [BoxFigures],
}

impl Evidence<'_> {
    fn verdict(&self, comparison: &Comparison, tested: &Tested, factor: Option<f64>) -> Verdict {
        let pairs = (tested.n, tested.lost);
        let refusals = refusals(comparison, pairs, self.study, self.trials, self.boxes);
        let verdict = verdict_of(tested, refusals, factor, margin(self.study));
        match smaller_work(comparison, self.trials, verdict.word) {
            Some(unfit) => refused(vec![unfit]),
            None => verdict,
        }
    }
}

/// Fills in the corrected p values and the verdicts.
pub(crate) fn all(comparisons: &mut [Comparison], evidence: Evidence) -> Families {
    let primary = headlines(comparisons, evidence);
    let cpu = cpu_costs(comparisons, evidence);
    let metrics = comparisons.iter_mut().flat_map(|c| c.metrics.iter_mut());
    steadiness::judge(metrics.filter_map(MetricComparison::fit_steadiness));
    Families { primary, cpu }
}

fn headlines(comparisons: &mut [Comparison], evidence: Evidence) -> usize {
    let factors = correct(primaries(comparisons));
    let mut all = factors.iter().copied();
    for comparison in &mut *comparisons {
        let primary = comparison.metrics.iter().filter(|m| m.metric.primary);
        let verdict = |m| evidence.verdict(comparison, &Tested::headline(m), all.next().flatten());
        let verdicts: Vec<_> = primary.map(verdict).collect();
        let primary = comparison.metrics.iter_mut().filter(|m| m.metric.primary);
        for (metric, verdict) in primary.zip(verdicts) {
            metric.verdict = Some(verdict);
        }
    }
    factors.iter().flatten().count()
}

/// The CPU costs of CPU-bound work are a second primary figure, and a family of
/// their own.
fn cpu_costs(comparisons: &mut [Comparison], evidence: Evidence) -> usize {
    let costs = primaries(comparisons).filter_map(cpu_bound);
    let factors = correct_paired(costs.map(|cost| Some(&mut cost.cost)).collect());
    let mut all = factors.iter().copied();
    for comparison in &mut *comparisons {
        let verdict = |m: &MetricComparison| {
            let cost = m.slices.as_ref()?.cpu.as_ref().filter(|cost| cost.bound)?;
            let tested = Tested::cpu(cost, m.lost);
            Some(evidence.verdict(comparison, &tested, all.next().flatten()))
        };
        let verdicts: Vec<_> = comparison.metrics.iter().filter_map(verdict).collect();
        let costs = comparison.metrics.iter_mut().filter_map(cpu_bound);
        for (cost, verdict) in costs.zip(verdicts) {
            cost.verdict = Some(verdict);
        }
    }
    factors.iter().flatten().count()
}

fn cpu_bound(metric: &mut MetricComparison) -> Option<&mut CpuCost> {
    metric.slices.as_mut()?.cpu.as_mut().filter(|cost| cost.bound)
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
    correct_paired(family.map(|m| m.paired.as_mut()).collect())
}

fn correct_paired(mut family: Vec<Option<&mut Paired>>) -> Vec<Option<f64>> {
    let p_values: Vec<_> = family.iter().map(|p| p.as_ref().and_then(|p| p.p)).collect();
    for (paired, p) in family.iter_mut().zip(holm(&p_values)) {
        if let Some(paired) = paired {
            paired.p_holm = p;
        }
    }
    holm_factors(&p_values)
}

/// The verdict on a headline, for every reason not to give one, what Holm's
/// correction multiplied p by, and the margin in logs.
pub(crate) fn judge<M>(
    metric: &MetricComparison<M>,
    refusals: Vec<Refusal>,
    factor: Option<f64>,
    margin: Option<f64>,
) -> Verdict {
    verdict_of(&Tested::headline(metric), refusals, factor, margin)
}

fn verdict_of(tested: &Tested, refusals: Vec<Refusal>, factor: Option<f64>, margin: Option<f64>) -> Verdict {
    let p = tested.paired.and_then(|p| p.p_holm);
    let corrected = p.map(|p| Corrected {
        p,
        factor: factor.unwrap_or(1.0),
    });
    match (tested.inference, corrected, margin) {
        (Some(inference), Some(p), Some(margin)) if refusals.is_empty() => verdict::of(inference, p, margin),
        _ if refusals.is_empty() => refused(vec![Refusal::NoEstimate]),
        _ => refused(refusals),
    }
}
