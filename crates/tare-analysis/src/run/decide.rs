//! Holm's correction within each family, then a verdict for every primary metric.

use super::boxes::BoxFigures;
use super::comparison::{Comparison, MetricComparison};
use super::family::{Family, FamilySize};
use super::fitness::{refusals, smaller_work};
use super::paired::Paired;
use super::refusal::Refusal;
use super::slices::CpuCost;
use super::trials::Trials;
use super::verdict::{self, Corrected, Verdict, refused};
use super::{margin, steadiness};
use tare_model::study::Study;
use tare_stats::{PairedInference, holm, holm_factors};

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

    /// The CPU cost, of work that is bound by the CPU.
    fn cpu(metric: &'a MetricComparison) -> Option<Self> {
        let cost = metric.slices.as_ref()?.cpu.as_ref().filter(|cost| cost.bound)?;
        Some(Self {
            n: cost.n,
            lost: metric.lost,
            paired: Some(&cost.cost),
            inference: Some(&cost.inference),
        })
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
    fn case(&self, comparison: &Comparison, tested: &Tested) -> Case {
        let pairs = (tested.n, tested.lost);
        Case {
            family: comparison.family,
            refusals: refusals(comparison, pairs, self.study, self.trials, self.boxes),
            factor: None,
        }
    }

    fn verdict(&self, comparison: &Comparison, tested: &Tested, case: Case) -> Verdict {
        let verdict = verdict_of(tested, case.refusals, case.factor, margin(self.study));
        match smaller_work(comparison, self.trials, verdict.word) {
            Some(unfit) => refused(vec![unfit]),
            None => verdict,
        }
    }
}

/// A test before its verdict.
struct Case {
    family: Family,
    refusals: Vec<Refusal>,
    /// What Holm's correction multiplied p by.
    factor: Option<f64>,
}

impl Case {
    /// Whether it counts in its family. One that gets no verdict whatever its figures are is no
    /// chance to be wrong; one that its figures alone disqualify was such a chance.
    fn counts(&self) -> bool {
        self.refusals.iter().all(Refusal::rests_on_figures)
    }
}

/// Fills in the corrected p values and the verdicts; tells the families that have a test.
pub(crate) fn all(comparisons: &mut [Comparison], evidence: Evidence) -> Vec<FamilySize> {
    let primary = headlines(comparisons, evidence);
    let cpu = cpu_costs(comparisons, evidence);
    let size = |family| FamilySize {
        family,
        tests: primary.iter().filter(|of| **of == family).count(),
        cpu_tests: cpu.iter().filter(|of| **of == family).count(),
    };
    for family in Family::ALL {
        let of_family = comparisons.iter_mut().filter(|c| c.family == family);
        let metrics = of_family.flat_map(|c| c.metrics.iter_mut());
        steadiness::judge(metrics.filter_map(MetricComparison::fit_steadiness));
    }
    let sizes = Family::ALL.into_iter().map(size);
    sizes.filter(|s| s.tests + s.cpu_tests > 0).collect()
}

/// The answer is the family of each test.
fn headlines(comparisons: &mut [Comparison], evidence: Evidence) -> Vec<Family> {
    let primary = |m: &&MetricComparison| m.metric.primary;
    let of = |comparison: &Comparison| -> Vec<Case> {
        let metrics = comparison.metrics.iter().filter(primary);
        metrics
            .map(|m| evidence.case(comparison, &Tested::headline(m)))
            .collect()
    };
    let mut cases: Vec<Case> = comparisons.iter().flat_map(of).collect();
    let paired = primaries(comparisons).map(|m| m.paired.as_mut()).collect();
    let tested = correct_cases(&mut cases, paired);
    let mut cases = cases.into_iter();
    for comparison in &mut *comparisons {
        let metrics = comparison.metrics.iter().filter(primary).zip(&mut cases);
        let verdict = |(m, case)| evidence.verdict(comparison, &Tested::headline(m), case);
        let verdicts: Vec<_> = metrics.map(verdict).collect();
        let primary = comparison.metrics.iter_mut().filter(|m| m.metric.primary);
        for (metric, verdict) in primary.zip(verdicts) {
            metric.verdict = Some(verdict);
        }
    }
    tested
}

/// The CPU costs of CPU-bound work are a second primary figure, and families of
/// their own.
fn cpu_costs(comparisons: &mut [Comparison], evidence: Evidence) -> Vec<Family> {
    let of = |comparison: &Comparison| -> Vec<Case> {
        let costs = comparison.metrics.iter().filter_map(Tested::cpu);
        costs.map(|tested| evidence.case(comparison, &tested)).collect()
    };
    let mut cases: Vec<Case> = comparisons.iter().flat_map(of).collect();
    let costs = primaries(comparisons).filter_map(cpu_bound);
    let tested = correct_cases(&mut cases, costs.map(|cost| Some(&mut cost.cost)).collect());
    let mut cases = cases.into_iter();
    for comparison in &mut *comparisons {
        let costs = comparison.metrics.iter().filter_map(Tested::cpu).zip(&mut cases);
        let verdict = |(tested, case)| evidence.verdict(comparison, &tested, case);
        let verdicts: Vec<_> = costs.map(verdict).collect();
        let costs = comparison.metrics.iter_mut().filter_map(cpu_bound);
        for (cost, verdict) in costs.zip(verdicts) {
            cost.verdict = Some(verdict);
        }
    }
    tested
}

/// Corrects each family by itself; the answer is the family of each test that was.
fn correct_cases(cases: &mut [Case], mut paired: Vec<Option<&mut Paired>>) -> Vec<Family> {
    for family in Family::ALL {
        let p = |(case, paired): (&Case, &Option<&mut Paired>)| {
            let is_counted = case.family == family && case.counts();
            paired.as_ref().filter(|_| is_counted)?.p
        };
        let p_values: Vec<_> = cases.iter().zip(&paired).map(p).collect();
        let corrected = holm(&p_values).into_iter().zip(holm_factors(&p_values));
        for ((case, paired), (p, factor)) in cases.iter_mut().zip(&mut paired).zip(corrected) {
            if let Some(paired) = paired.as_mut().filter(|_| p.is_some()) {
                paired.p_holm = p;
                case.factor = factor;
            }
        }
    }
    let tested = cases.iter().filter(|case| case.factor.is_some());
    tested.map(|case| case.family).collect()
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
