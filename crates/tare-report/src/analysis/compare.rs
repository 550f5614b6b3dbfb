//! A cell against its baseline, block by block.

use super::cells::Estimate;
use super::trials::{CellTrials, Trials};
use super::verdict::Verdict;
use super::{LEVEL, variability};
use serde::Serialize;
use std::fmt;
use tare_model::metric::{Direction, Metric};
use tare_model::platform::Provisioning;
use tare_model::study::{BoxKind, Cell, Study};
use tare_stats::{Interval, TEstimate, autocorrelation, correlation, log_ratio, ratio_of_means};
use tare_stats::{sd, skewness, t_estimate};

/// Which of the two baselines a cell is held against. They are named after the
/// usual baseline platform, `native`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Against {
    /// The baseline platform, limited by the same mechanism.
    Native,
    /// The baseline platform with as many CPUs by set and no quota: what buying
    /// a size costs.
    NativeSet,
}

/// One cell against one of its baselines.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// The cell.
    #[serde(flatten)]
    pub cell: Cell,
    /// Which baseline.
    pub against: Against,
    /// The baseline's cell.
    pub baseline: Cell,
    /// Each metric; the primary one carries the verdict.
    pub metrics: Vec<MetricComparison>,
}

impl Comparison {
    /// The price of the quota: the baseline platform against itself.
    pub fn is_price_of_quota(&self) -> bool {
        self.against == Against::NativeSet && self.cell.kind.platform == self.baseline.kind.platform
    }

    /// The metric that carries the verdict.
    pub fn primary(&self) -> Option<&MetricComparison> {
        self.metrics.iter().find(|m| m.metric.primary)
    }
}

/// One metric of a comparison. Every figure is over the same pairs, except
/// the variability overhead.
#[derive(Debug, Clone, Serialize)]
pub struct MetricComparison {
    /// The metric.
    #[serde(flatten)]
    pub metric: Metric,
    /// Pairs: blocks in which both cells have a figure.
    pub n: usize,
    /// Pairs lost: blocks in which both were tried and one has no figure.
    pub lost: usize,
    /// The headline: what one typical run costs.
    pub paired: Option<Paired>,
    /// Ratio of means, over 1 where the platform costs more: what many runs cost
    /// in total. The same figure is known as the overhead ratio.
    pub ratio_of_means: Option<Estimate>,
    /// Loss: share of the baseline's mean; positive is worse.
    pub loss: Option<Estimate>,
    /// li2018's performance overhead.
    pub op: Option<Op>,
    /// li2018's variability overhead, over all trials of both cells.
    pub variability_overhead: Option<f64>,
    /// Correlation of the pair's logs over blocks.
    pub pair_correlation: Option<f64>,
    /// Reasons to read the interval with care.
    pub flags: Vec<Flag>,
    /// The verdict; primary metrics only.
    pub verdict: Option<Verdict>,
    /// The estimate of the loss in logs that the headline comes from.
    #[serde(skip)]
    pub(crate) estimate: Option<TEstimate>,
}

/// The paired ratio exp(mean d) and what belongs to it. d is the loss in logs
/// within one block, positive where the platform is worse.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Paired {
    /// The geometric mean of the ratios within blocks; over 1 costs more.
    #[serde(flatten)]
    pub ratio: Estimate,
    /// Mean of d.
    pub mean_log: f64,
    /// Standard deviation of d.
    pub sd_log: f64,
    /// Factor by which autocorrelation widened the interval.
    pub widening: f64,
    /// p of the paired t test that d is 0.
    pub p: Option<f64>,
    /// The same after Holm's correction; primary metrics only.
    pub p_holm: Option<f64>,
    /// p of the two one-sided tests that d is within the margin.
    pub p_equal: Option<f64>,
}

/// li2018's Op = |Mm - Mb| / Mb, with its sign apart.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Op {
    /// The figure, never negative.
    pub value: f64,
    /// Whether the platform is worse.
    pub worse: bool,
    /// Strictly below 1 %: the study ignores it. A rule of display, not a test.
    pub ignored: bool,
}

/// A reason to read an interval with care.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "flag", rename_all = "kebab-case")]
pub enum Flag {
    /// Neighbouring blocks resemble one another.
    Autocorrelated {
        /// Lag-1 autocorrelation of d.
        r1: f64,
        /// Factor on the half-width.
        widening: f64,
    },
    /// d is skewed.
    Skewed {
        /// Skewness g1 of d.
        g1: f64,
    },
    /// Paired ratio and ratio of means differ by more than the margin.
    Tail,
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Autocorrelated { r1, widening } => {
                write!(
                    f,
                    "autocorrelated (r1 {r1:.2}, interval widened {widening:.2} times)"
                )
            }
            Self::Skewed { g1 } => write!(f, "skewed (g1 {g1:.1})"),
            Self::Tail => f.write_str("tail (the ratio of means differs: both are headlines)"),
        }
    }
}

/// Every cell against its baselines, in the order of the study; `native` first.
pub(crate) fn all(study: &Study, trials: &Trials) -> Vec<Comparison> {
    let against = |against| {
        let compared = move |cell: &CellTrials| compare(study, trials, cell, against);
        trials.cells.iter().filter_map(compared)
    };
    against(Against::Native)
        .chain(against(Against::NativeSet))
        .collect()
}

fn compare(study: &Study, trials: &Trials, cell: &CellTrials, against: Against) -> Option<Comparison> {
    let baseline = trials.get(&baseline(study, &cell.cell, against)?)?;
    let compared = |metric| metric_comparison(metric, cell, baseline, margin(study));
    Some(Comparison {
        cell: cell.cell.clone(),
        against,
        baseline: baseline.cell.clone(),
        metrics: cell.metrics.iter().map(compared).collect(),
    })
}

/// The margin in logs: ln(1 + margin), if the study's is a positive number.
pub(crate) fn margin(study: &Study) -> Option<f64> {
    let margin = study.margin.ln_1p();
    (margin.is_finite() && margin > 0.0).then_some(margin)
}

/// The cell that `cell` is held against, if it is not itself that cell.
fn baseline(study: &Study, cell: &Cell, against: Against) -> Option<Cell> {
    let kind = match (against, cell.kind.provisioning) {
        (Against::Native, _) => study.baseline_of(&cell.kind),
        (Against::NativeSet, Provisioning::Vanilla) => BoxKind {
            platform: study.baseline.clone(),
            provisioning: Provisioning::Pinned,
        },
        (Against::NativeSet, Provisioning::Pinned) => return None,
    };
    (kind != cell.kind).then(|| Cell {
        kind,
        workload: cell.workload.clone(),
    })
}

fn metric_comparison(
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
    let pair = |(block, used): (&u32, &super::trials::Used)| {
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
    let apart = log_ratio(means?.value, 1.0)? - estimate?.mean;
    (apart.abs() > margin?).then_some(Flag::Tail)
}
