//! What a comparison consists of: a cell, its baseline, and the figures of each
//! metric.

use super::carry_over::CarryOver;
use super::cells::Estimate;
use super::slices::SliceFigures;
use super::steadiness::Steady;
use super::verdict::Verdict;
use serde::Serialize;
use std::fmt;
use tare_model::metric::Metric;
use tare_model::study::{Against, Cell};
use tare_stats::PairedInference;

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
    /// What ran before its trials and moved its primary metric.
    pub carry_over: Vec<CarryOver>,
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

    /// The metrics, that with the verdict first.
    pub fn primary_first(&self) -> impl Iterator<Item = &MetricComparison> {
        let of = |primary| self.metrics.iter().filter(move |m| m.metric.primary == primary);
        of(true).chain(of(false))
    }
}

/// One metric of a comparison. Every figure is over the same pairs, except the
/// variability overhead, which is over all trials. Where cells ran in slices, the
/// headline is what these say, and what comes from samples is over the pairs of trials.
#[derive(Debug, Clone, Serialize)]
pub struct MetricComparison<M = Metric> {
    /// The metric: of a study, or of foreign data.
    #[serde(flatten)]
    pub metric: M,
    /// Pairs: blocks in which both cells have a figure.
    pub n: usize,
    /// Pairs lost: blocks in which both were tried and one has no figure.
    pub lost: usize,
    /// The headline: what one typical run costs.
    pub paired: Option<Paired>,
    /// What slices say, of cells that ran in them: then the headline is the typical cost.
    pub slices: Option<SliceFigures>,
    /// Ratio of means, over 1 where the platform costs more: what many runs cost
    /// in total. The same figure is known as the overhead ratio.
    pub ratio_of_means: Option<Estimate>,
    /// Loss: share of the baseline's mean; positive is worse.
    pub loss: Option<Estimate>,
    /// li2018's performance overhead.
    pub op: Option<Op>,
    /// li2018's variability overhead, over all trials of both cells.
    pub variability_overhead: Option<f64>,
    /// The noise of the cell over that of its baseline.
    pub steadiness: Option<Steady>,
    /// Ratios of quantiles, where the flag `tail` is up.
    pub quantiles: Vec<QuantileFigure>,
    /// Correlation of the pair's logs over blocks.
    pub pair_correlation: Option<f64>,
    /// Reasons to read the interval with care.
    pub flags: Vec<Flag>,
    /// The verdict; primary metrics only.
    pub verdict: Option<Verdict>,
    /// What the losses in logs say, from which the headline comes.
    #[serde(skip)]
    pub(crate) inference: Option<PairedInference>,
    /// The same of the samples alone; differs where there are slices.
    #[serde(skip)]
    pub(crate) sampled: Option<PairedInference>,
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
    /// p of Wilcoxon's signed-rank test, beside it: it decides nothing.
    pub p_wilcoxon: Option<f64>,
    /// The same after Holm's correction; primary metrics only.
    pub p_holm: Option<f64>,
    /// p of the two one-sided tests that d is within the margin.
    pub p_equal: Option<f64>,
}

impl Paired {
    /// What is reported of an inference, before any correction for many tests.
    pub(crate) fn of(inference: &PairedInference) -> Option<Self> {
        Some(Self {
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
}

/// A quantile of a cell's cost over that of its baseline; over 1 costs more. The
/// cost of a rate is its reciprocal: p90 is what 9 of 10 trials stay below.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct QuantileFigure {
    /// Which quantile: 0.9 for p90.
    pub quantile: f64,
    /// The ratio.
    #[serde(flatten)]
    pub ratio: Estimate,
    /// Whether the interval is approximate: fewer than 30 pairs.
    pub approximate: bool,
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
    /// d is skewed: |g1| > 1, or the check by bootstrap-t moved an end.
    Skewed {
        /// Skewness g1 of d.
        g1: f64,
        /// Whether an end of the bootstrap-t lies further out than that of t by
        /// over a quarter of the half-width, or further in.
        ends_moved: bool,
    },
    /// Something else used the CPU of cells that never wait by themselves.
    Contended {
        /// The share of it that this had in a quarter of the rounds or more.
        share: f64,
        /// By how many times a difference can be larger than its typical cost shows.
        times: f64,
    },
    /// Paired ratio and ratio of means differ by more than the margin.
    Tail {
        /// The ratio of means.
        ratio_of_means: f64,
    },
    /// The same of slices: typical and mean cost differ by more than the margin.
    #[serde(rename = "tail")]
    TailOfSlices {
        /// The mean cost, over 1 where the platform costs more.
        mean_cost: f64,
    },
}

impl Flag {
    /// What the order and the shape of d say against its interval.
    pub(crate) fn of_series(inference: &PairedInference) -> impl Iterator<Item = Self> + use<> {
        let autocorrelated = inference.autocorrelation.map(|a| Self::Autocorrelated {
            r1: a.r1,
            widening: a.widening,
        });
        let ends_moved = inference.ends_moved;
        let skewed = inference.skewness.filter(|_| inference.skewed || ends_moved);
        let skewed = skewed.map(|g1| Self::Skewed { g1, ends_moved });
        autocorrelated.into_iter().chain(skewed)
    }

    /// Whether one figure does not tell the whole.
    pub const fn is_tail(&self) -> bool {
        matches!(self, Self::Tail { .. } | Self::TailOfSlices { .. })
    }

    /// The name in files and narrow columns.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Autocorrelated { .. } => "autocorrelated",
            Self::Skewed { .. } => "skewed",
            Self::Contended { .. } => "contended",
            Self::Tail { .. } | Self::TailOfSlices { .. } => "tail",
        }
    }
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Autocorrelated { r1, widening } => {
                write!(
                    f,
                    "autocorrelated (r1 {r1:.2}, interval widened {widening:.2} times, which may not be enough)"
                )
            }
            Self::Skewed {
                g1,
                ends_moved: false,
            } => write!(f, "skewed (g1 {g1:.1})"),
            Self::Skewed { g1, ends_moved: true } => write!(
                f,
                "skewed (g1 {g1:.1}; bootstrap-t differs from t, the wider ends are shown)"
            ),
            Self::Contended { share, times } => write!(
                f,
                "contended (something else had {} of the CPU or more in a quarter of the rounds: a difference up to {times:.2} times as large could look the same, and the interval reaches so far)",
                crate::show::percent(*share)
            ),
            Self::Tail { ratio_of_means } => write!(
                f,
                "tail (the ratio of means is {}: both are headlines)",
                crate::show::ratio(*ratio_of_means)
            ),
            Self::TailOfSlices { mean_cost } => write!(
                f,
                "tail (the mean cost is {}: both are headlines)",
                crate::show::ratio(*mean_cost)
            ),
        }
    }
}
