//! One metric of two cells, paired block by block.

use super::cells::Estimate;
use super::comparison::{Flag, MetricComparison, Op, Paired, QuantileFigure};
use super::trials::{CellTrials, Used};
use super::{steadiness, variability};
use tare_model::metric::{Direction, Metric};
use tare_stats::{Interval, PairedInference, QuantileRatio, Question, RatioOfMeans, correlation, infer};
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

/// Compares one metric of two cells.
pub(super) fn compare(
    metric: &Metric,
    cell: &CellTrials,
    baseline: &CellTrials,
    question: Question,
) -> MetricComparison {
    let pairs = pairs(metric, cell, baseline);
    let tried = cell.attempted.intersection(&baseline.attempted).count();
    let samples = Samples {
        lost: tried - pairs.len(),
        pairs,
        cell: cell.samples(&metric.name),
        baseline: baseline.samples(&metric.name),
    };
    of_samples(metric.clone(), metric.direction, &samples, question)
}

/// Every figure of one comparison. Where
/// one pair has no ratio in logs, none of the figures that rest on logs is told:
/// without that pair they would be those of a selection.
pub(crate) fn of_samples<M>(
    metric: M,
    direction: Direction,
    samples: &Samples,
    question: Question,
) -> MetricComparison<M> {
    let pairs = &samples.pairs;
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let losses = pairs.iter().map(|&(x, y)| direction.loss_in_logs(x, y));
    let losses: Option<Vec<f64>> = losses.collect();
    let inference = losses.and_then(|losses| infer(&losses, question));
    let means = |x, y| {
        let widening = inference.map_or(1.0, |i| i.widening);
        ratio_of_means(x, y, question.looks.level(), widening)
    };
    let ratio_of_means = match direction {
        Direction::Lower => means(&x, &y),
        Direction::Higher => means(&y, &x),
    };
    let ratio_of_means = ratio_of_means.and_then(|r| Estimate::new(r.ratio, r.interval));
    let loss = means(&x, &y).and_then(|r| loss(direction, r));
    let mut flags: Vec<Flag> = inference.iter().flat_map(series_flags).collect();
    flags.extend(tail(inference, ratio_of_means, question.margin));
    MetricComparison {
        metric,
        n: pairs.len(),
        lost: samples.lost,
        paired: inference.and_then(paired),
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
    }
}

/// The figures of both cells in every block where both have one, in the order
/// of the blocks. A figure of 0 or less has no ratio: such a pair is lost.
fn pairs(metric: &Metric, cell: &CellTrials, baseline: &CellTrials) -> Vec<(f64, f64)> {
    let pair = |(block, used): (&u32, &Used)| {
        let x = used.sample(&metric.name)?;
        let y = baseline.used.get(block)?.sample(&metric.name)?;
        (x > 0.0 && y > 0.0).then_some((x, y))
    };
    cell.used.iter().filter_map(pair).collect()
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

fn paired(inference: PairedInference) -> Option<Paired> {
    Some(Paired {
        ratio: Estimate::of_logs(inference.mean, inference.interval)?,
        mean_log: inference.mean,
        sd_log: inference.sd,
        widening: inference.widening,
        p: inference.p_t,
        p_wilcoxon: inference.p_wilcoxon,
        p_holm: None,
        p_equal: inference.p_tost,
    })
}

fn series_flags(inference: &PairedInference) -> impl Iterator<Item = Flag> + use<> {
    let autocorrelated = inference.autocorrelation.map(|a| Flag::Autocorrelated {
        r1: a.r1,
        widening: a.widening,
    });
    let ends_moved = inference.ends_moved;
    let skewed = inference.skewness.filter(|_| inference.skewed || ends_moved);
    let skewed = skewed.map(|g1| Flag::Skewed { g1, ends_moved });
    autocorrelated.into_iter().chain(skewed)
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
