//! Several comparisons over the blocks that all of them have: what is said of one over another
//! is worked out within each block.

use super::comparison::Comparison;
use super::estimate::Estimate;
use super::refusal::Refusal;
use super::size_effects::Shown;
use super::trials::Trials;
use super::{fitness, pairing};
use std::collections::{BTreeMap, BTreeSet};
use tare_stats::{Interval, PairedInference, Question, holm, infer};

/// A comparison and its losses in logs by block.
pub(super) struct Measured<'a> {
    pub comparison: &'a Comparison,
    losses: BTreeMap<u32, f64>,
    tried: BTreeSet<u32>,
}

/// What was measured of the primary metric of a comparison.
pub(super) fn measured<'a>(trials: &Trials, comparison: &'a Comparison) -> Option<Measured<'a>> {
    let metric = &comparison.primary()?.metric;
    let cell = trials.get(&comparison.cell)?.of_own_comparisons();
    let baseline = trials.get(&comparison.baseline)?;
    let tried = cell.attempted.intersection(&baseline.attempted).copied();
    Some(Measured {
        comparison,
        tried: tried.collect(),
        losses: pairing::losses(metric, &cell, baseline),
    })
}

/// What several comparisons have in common.
pub(super) struct Common {
    /// The losses of all in every block in which none is missing.
    pub blocks: Vec<Vec<f64>>,
    /// Blocks in which all were tried and one is missing.
    pub lost: usize,
    /// The reasons not to judge any of them, and those of the blocks that all have. Pairs of
    /// one alone do not matter here.
    pub refusals: Vec<Refusal>,
}

impl Common {
    pub fn of<'a>(all: impl Iterator<Item = &'a Measured<'a>>) -> Self {
        let all: Vec<&Measured> = all.collect();
        let first = || all.first().into_iter();
        let row = |block: &u32| all.iter().map(|m| m.losses.get(block).copied()).collect();
        let blocks: Vec<Vec<f64>> = first().flat_map(|m| m.losses.keys()).filter_map(row).collect();
        let by_all = |block: &&u32| all.iter().all(|m| m.tried.contains(block));
        let tried = first().flat_map(|m| &m.tried).filter(by_all).count();
        let lost = tried - blocks.len();
        Self {
            refusals: refusals(&all, blocks.len(), lost),
            blocks,
            lost,
        }
    }
}

fn refusals(all: &[&Measured], n: usize, lost: usize) -> Vec<Refusal> {
    let primary = || all.iter().filter_map(|m| m.comparison.primary());
    let of_pairs = |r: &&Refusal| matches!(r, Refusal::FewPairs { .. } | Refusal::PairsLost { .. });
    let verdicts = primary().filter_map(|metric| metric.verdict.as_ref());
    let mut reasons: Vec<Refusal> = verdicts
        .flat_map(|v| &v.refusals)
        .filter(|r| !of_pairs(r))
        .cloned()
        .collect();
    reasons.extend(fitness::pairs(n, lost));
    let mut slices = primary().filter_map(|metric| metric.slices.as_ref());
    reasons.extend(
        slices
            .any(|slices| slices.contended.is_some())
            .then_some(Refusal::Contended),
    );
    let mut told: Vec<Refusal> = Vec::new();
    for reason in reasons {
        if !told.contains(&reason) {
            told.push(reason);
        }
    }
    told
}

/// A test of one effect, and what is told of it.
pub(super) struct Judged<'a> {
    /// The estimate in logs.
    pub estimate: Option<PairedInference>,
    /// Whether there are reasons not to judge.
    pub is_refused: bool,
    pub p: Option<f64>,
    pub p_holm: &'a mut Option<f64>,
    pub shown: &'a mut Option<Shown>,
}

/// Holm's correction over all effects of a kind, then what each shows. The answer is the number of tests.
pub(super) fn judge<'a>(effects: impl Iterator<Item = Judged<'a>>, margin: Option<f64>) -> usize {
    let effects: Vec<Judged> = effects.collect();
    let p_values: Vec<Option<f64>> = effects.iter().map(|effect| effect.p).collect();
    for (effect, p_holm) in effects.into_iter().zip(holm(&p_values)) {
        *effect.p_holm = p_holm;
        *effect.shown = Shown::of(effect.estimate, p_holm, margin).filter(|_| !effect.is_refused);
    }
    p_values.iter().flatten().count()
}

/// The ratio behind losses in logs, as the headline's is estimated.
pub(super) fn ratio(losses: impl Iterator<Item = f64>, question: Question) -> Option<Estimate> {
    let losses: Vec<f64> = losses.collect();
    as_ratio(&infer(&losses, question)?)
}

/// An estimate in logs as a ratio.
pub(super) fn as_ratio(estimate: &PairedInference) -> Option<Estimate> {
    let interval = Interval {
        low: estimate.interval.low.exp(),
        high: estimate.interval.high.exp(),
    };
    Estimate::new(estimate.mean.exp(), interval)
}
