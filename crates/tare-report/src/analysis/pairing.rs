//! One metric of two cells, paired block by block.

use super::cells::Estimate;
use super::comparison::{Flag, MetricComparison, Op, Paired};
use super::trials::{CellTrials, Used};
use super::{LEVEL, variability};
use tare_model::metric::{Direction, Metric};
use tare_stats::{Interval, TEstimate, autocorrelation, correlation, log_ratio, ratio_of_means};
use tare_stats::{sd, skewness, t_estimate};

/// Compares one metric of two cells; `margin` is in logs.
pub(super) fn compare(
    metric: &Metric,
    cell: &CellTrials,
    baseline: &CellTrials,
    margin: Option<f64>,
) -> MetricComparison {
    let pairs = pairs(metric, cell, baseline);
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let tried = cell.attempted.intersection(&baseline.attempted).count();
    let losses: Vec<f64> = pairs
        .iter()
        .filter_map(|&(x, y)| loss_in_logs(metric, x, y))
        .collect();
    let ratio_of_means = overhead_ratio(metric, &x, &y);
    let mut flags = series_flags(&losses);
    let estimate = t_estimate(&losses, LEVEL, widening(&flags));
    flags.extend(tail(estimate, ratio_of_means, margin));
    let all_sd = |cell: &CellTrials| sd(&cell.samples(&metric.name));
    MetricComparison {
        metric: metric.clone(),
        n: pairs.len(),
        lost: tried - pairs.len(),
        paired: estimate.and_then(|e| paired(e, widening(&flags), margin)),
        ratio_of_means,
        loss: loss(metric, &x, &y),
        op: loss(metric, &x, &y).map(|loss| op(loss.value)),
        variability_overhead: variability::overhead(all_sd(cell), all_sd(baseline)),
        pair_correlation: correlation(&logs(&x), &logs(&y)),
        flags,
        verdict: None,
        estimate,
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

fn loss_in_logs(metric: &Metric, x: f64, y: f64) -> Option<f64> {
    match metric.direction {
        Direction::Lower => log_ratio(x, y),
        Direction::Higher => log_ratio(y, x),
    }
}

fn logs(values: &[f64]) -> Vec<f64> {
    values.iter().map(|v| v.ln()).collect()
}

/// Time-like Mm / Mb, rate-like Mb / Mm.
fn overhead_ratio(metric: &Metric, x: &[f64], y: &[f64]) -> Option<Estimate> {
    let ratio = match metric.direction {
        Direction::Lower => ratio_of_means(x, y, LEVEL),
        Direction::Higher => ratio_of_means(y, x, LEVEL),
    };
    ratio.and_then(|r| Estimate::new(r.ratio, r.interval))
}

/// Lower is better: (Mm - Mb) / Mb. Higher is better: (Mb - Mm) / Mb.
fn loss(metric: &Metric, x: &[f64], y: &[f64]) -> Option<Estimate> {
    let r = ratio_of_means(x, y, LEVEL)?;
    let (value, low, high) = match metric.direction {
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

fn paired(estimate: TEstimate, widening: f64, margin: Option<f64>) -> Option<Paired> {
    let interval = Interval {
        low: estimate.interval.low.exp(),
        high: estimate.interval.high.exp(),
    };
    Some(Paired {
        ratio: Estimate::new(estimate.mean.exp(), interval)?,
        mean_log: estimate.mean,
        sd_log: estimate.sd / widening,
        widening,
        p: estimate.p_zero(),
        p_holm: None,
        p_equal: margin.and_then(|m| estimate.p_within(m)),
    })
}

/// Spread in logs below which a series is constant but for rounding: its
/// shape is then that of the rounding errors.
const ROUNDING: f64 = 1e-12;

fn series_flags(losses: &[f64]) -> Vec<Flag> {
    if sd(losses).is_none_or(|sd| sd < ROUNDING) {
        return Vec::new();
    }
    let autocorrelated = autocorrelation(losses).filter(|a| a.flagged);
    let autocorrelated = autocorrelated.map(|a| Flag::Autocorrelated {
        r1: a.r1,
        widening: a.widening,
    });
    let skewed = skewness(losses).filter(|g1| g1.abs() > 1.0);
    let skewed = skewed.map(|g1| Flag::Skewed { g1 });
    autocorrelated.into_iter().chain(skewed).collect()
}

fn widening(flags: &[Flag]) -> f64 {
    let widening = |flag: &Flag| match flag {
        Flag::Autocorrelated { widening, .. } => Some(*widening),
        _ => None,
    };
    flags.iter().find_map(widening).unwrap_or(1.0)
}

fn tail(estimate: Option<TEstimate>, means: Option<Estimate>, margin: Option<f64>) -> Option<Flag> {
    let ratio_of_means = means?.value;
    let apart = log_ratio(ratio_of_means, 1.0)? - estimate?.mean;
    (apart.abs() > margin?).then_some(Flag::Tail { ratio_of_means })
}
