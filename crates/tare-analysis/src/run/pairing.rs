//! One metric of two cells, paired block by block.

use super::comparison::{CostRange, MetricComparison, Op, QuantileFigure};
use super::estimate::Estimate;
use super::flag::Flag;
use super::paired::Paired;
use super::slices::{self, BlockOfSlices, SliceFigures};
use super::trials::{CellTrials, Used};
use super::{question, steadiness, variability};
use std::collections::BTreeMap;
use tare_model::metric::{Direction, Metric};
use tare_model::study::{Cell, Study};
use tare_stats::{
    Interval, PairedInference, QuantileRatio, Question, RatioOfMeans, correlation, extent, infer,
};
use tare_stats::{log_ratio, quantile_ratios, ratio_of_means, sd};

/// What is known of one metric of two cells.
pub(crate) struct Samples {
    /// The figures of both in every block where both have one, in the order of
    /// the blocks.
    pub pairs: Vec<(f64, f64)>,
    /// Blocks in which one of the two has no figure.
    pub lost: usize,
    /// Every figure of the cell.
    pub cell: Vec<f64>,
    /// Every figure of the baseline.
    pub baseline: Vec<f64>,
}

/// What carries the verdict.
struct Headline {
    n: usize,
    /// The losses in logs of the pairs; none where a pair has none.
    losses: Vec<f64>,
    inference: Option<PairedInference>,
    slices: Option<SliceFigures>,
}

/// Compares one metric of two cells. In blocks in which both ran in slices of one
/// group, d is that of the typical cost; in others that of the samples.
pub(super) fn compare(
    metric: &Metric,
    cell: &CellTrials,
    baseline: &CellTrials,
    study: &Study,
) -> MetricComparison {
    let question = question(study);
    let busy = busy_cpus(study, &cell.cell);
    let blocks = slices::blocks(metric, cell, baseline);
    let losses = with_slices(&blocks, losses_of_samples(metric, cell, baseline));
    let tried = cell.attempted.intersection(&baseline.attempted);
    let samples = Samples {
        lost: tried.filter(|block| !losses.contains_key(block)).count(),
        pairs: pairs(metric, cell, baseline),
        cell: cell.samples(metric),
        baseline: baseline.samples(metric),
    };
    let Some(mut slices) = slices::figures(metric, blocks, busy, question) else {
        return of_samples(metric.clone(), metric.direction, &samples, question);
    };
    let losses: Vec<f64> = losses.into_values().collect();
    let headline = Headline {
        n: losses.len(),
        inference: slices
            .infer(&losses, question)
            .map(|found| found.understated(slices.contended.unwrap_or(1.0), question.margin)),
        losses,
        slices: Some(slices),
    };
    let sampled = losses_of_pairs(metric.direction, &samples.pairs).and_then(|l| infer(&l, question));
    figures(
        metric.clone(),
        metric.direction,
        &samples,
        sampled,
        headline,
        question,
    )
}

/// The CPUs that the work of a cell uses all the time, if it never waits by itself; of a
/// command that is not known.
fn busy_cpus(study: &Study, cell: &Cell) -> Option<f64> {
    let workload = study.workload(cell)?;
    let spec = workload.kernel().filter(|spec| spec.kernel.never_waits())?;
    let cpus = study.instance_of(&cell.kind)?.size.cpus.as_f64();
    Some(f64::from(spec.threads).min(cpus.ceil()))
}

/// The loss in logs of every block in which the pair has one: the one number of a
/// block from which every interval and verdict comes.
pub(super) fn losses(metric: &Metric, cell: &CellTrials, baseline: &CellTrials) -> BTreeMap<u32, f64> {
    let blocks = slices::blocks(metric, cell, baseline);
    with_slices(&blocks, losses_of_samples(metric, cell, baseline))
}

fn with_slices(blocks: &[BlockOfSlices], mut losses: BTreeMap<u32, f64>) -> BTreeMap<u32, f64> {
    losses.extend(blocks.iter().map(|b| (b.block, b.typical)));
    losses
}

fn losses_of_samples(metric: &Metric, cell: &CellTrials, baseline: &CellTrials) -> BTreeMap<u32, f64> {
    let loss = |(block, used): (&u32, &Used)| {
        let (x, y) = pair(metric, used, baseline.used.get(block)?)?;
        Some((*block, metric.direction.loss_in_logs(x, y)?))
    };
    cell.used.iter().filter_map(loss).collect()
}

/// Every figure of one comparison without slices. Where
/// one pair has no ratio in logs, none of the figures that rest on logs is told:
/// without that pair they would be those of a selection.
pub(crate) fn of_samples<M>(
    metric: M,
    direction: Direction,
    samples: &Samples,
    question: Question,
) -> MetricComparison<M> {
    let losses = losses_of_pairs(direction, &samples.pairs).unwrap_or_default();
    let inference = infer(&losses, question);
    let headline = Headline {
        n: samples.pairs.len(),
        losses,
        inference,
        slices: None,
    };
    figures(metric, direction, samples, inference, headline, question)
}

fn losses_of_pairs(direction: Direction, pairs: &[(f64, f64)]) -> Option<Vec<f64>> {
    let losses = pairs.iter().map(|&(x, y)| direction.loss_in_logs(x, y));
    losses.collect()
}

/// The cost of the only block that there is.
fn single(losses: &[f64]) -> Option<f64> {
    match losses {
        [only] => Some(only.exp()),
        _ => None,
    }
}

/// The costs of blocks that have no interval.
fn range(losses: &[f64], inference: &PairedInference) -> CostRange {
    let Interval { low, high } = extent(losses);
    CostRange {
        typical: inference.mean.exp(),
        lowest: low.exp(),
        highest: high.exp(),
    }
}

fn figures<M>(
    metric: M,
    direction: Direction,
    samples: &Samples,
    sampled: Option<PairedInference>,
    headline: Headline,
    question: Question,
) -> MetricComparison<M> {
    let pairs = &samples.pairs;
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let means = |x, y| {
        let widening = sampled.map_or(1.0, |i| i.widening);
        ratio_of_means(x, y, question.looks.level(), widening)
    };
    let ratio_of_means = match direction {
        Direction::Lower => means(&x, &y),
        Direction::Higher => means(&y, &x),
    };
    let ratio_of_means = ratio_of_means.and_then(|r| Estimate::new(r.ratio, r.interval));
    let loss = means(&x, &y).and_then(|r| loss(direction, r));
    let Headline {
        n,
        losses,
        inference,
        slices,
    } = headline;
    let paired = inference.as_ref().and_then(Paired::of);
    let range = inference.filter(|_| paired.is_none()).map(|i| range(&losses, &i));
    let mut flags: Vec<Flag> = inference.iter().flat_map(Flag::of_series).collect();
    flags.extend(slices.as_ref().and_then(SliceFigures::contention));
    flags.extend(match &slices {
        Some(slices) => slices::tail(slices, question.margin),
        None => tail(inference, ratio_of_means, question.margin),
    });
    MetricComparison {
        metric,
        n,
        lost: samples.lost,
        paired,
        single: single(&losses),
        range,
        slices,
        ratio_of_means,
        loss,
        op: loss.map(|loss| op(loss.value)),
        variability_overhead: variability::overhead(sd(&samples.cell), sd(&samples.baseline)),
        steadiness: steadiness::ratio(&x, &y),
        quantiles: quantiles(direction, pairs, &flags, question),
        pair_correlation: correlation(&logs(&x), &logs(&y)),
        flags,
        verdict: None,
        inference,
        sampled,
    }
}

/// The figures of both cells in every block where both have one, in the order
/// of the blocks.
fn pairs(metric: &Metric, cell: &CellTrials, baseline: &CellTrials) -> Vec<(f64, f64)> {
    let pair = |(block, used): (&u32, &Used)| pair(metric, used, baseline.used.get(block)?);
    cell.used.iter().filter_map(pair).collect()
}

/// A figure of 0 or less has no ratio: such a pair is lost.
fn pair(metric: &Metric, cell: &Used, baseline: &Used) -> Option<(f64, f64)> {
    let (x, y) = (cell.sample(metric)?, baseline.sample(metric)?);
    (x > 0.0 && y > 0.0).then_some((x, y))
}

fn logs(values: &[f64]) -> Vec<f64> {
    values.iter().map(|v| v.ln()).collect()
}

/// From Mm / Mb. Lower is better: (Mm - Mb) / Mb. Higher is better: (Mb - Mm) / Mb.
fn loss(direction: Direction, r: RatioOfMeans) -> Option<Estimate> {
    let (value, low, high) = match direction {
        Direction::Lower => (r.ratio - 1.0, r.interval.low - 1.0, r.interval.high - 1.0),
        Direction::Higher => (1.0 - r.ratio, 1.0 - r.interval.high, 1.0 - r.interval.low),
    };
    Estimate::new(value, Interval { low, high })
}

fn op(loss: f64) -> Op {
    Op {
        value: loss.abs(),
        worse: loss > 0.0,
        ignored: loss.abs() < 0.01,
    }
}

fn tail(inference: Option<PairedInference>, means: Option<Estimate>, margin: Option<f64>) -> Option<Flag> {
    let ratio_of_means = means?.value;
    let apart = log_ratio(ratio_of_means, 1.0)? - inference?.mean;
    (apart.abs() > margin?).then_some(Flag::Tail { ratio_of_means })
}

/// Only where a mean does not tell the whole.
fn quantiles(
    direction: Direction,
    pairs: &[(f64, f64)],
    flags: &[Flag],
    question: Question,
) -> Vec<QuantileFigure> {
    let Some(seed) = question.check.filter(|_| flags.iter().any(Flag::is_tail)) else {
        return Vec::new();
    };
    let cost = |value: f64| match direction {
        Direction::Lower => value,
        Direction::Higher => value.recip(),
    };
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().map(|&(x, y)| (cost(x), cost(y))).unzip();
    let figure = |found: QuantileRatio| {
        Some(QuantileFigure {
            quantile: found.quantile,
            ratio: Estimate::new(found.ratio, found.interval)?,
            approximate: found.approximate,
        })
    };
    let found = quantile_ratios(&x, &y, question.looks.level(), seed);
    found.into_iter().filter_map(figure).collect()
}
