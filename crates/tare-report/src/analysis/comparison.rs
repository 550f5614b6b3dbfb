//! What a comparison consists of: a cell, its baseline, and the figures of each
//! metric.

use super::cells::Estimate;
use super::verdict::Verdict;
use serde::Serialize;
use std::fmt;
use tare_model::metric::Metric;
use tare_model::study::Cell;
use tare_stats::TEstimate;

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

    /// The metrics, that with the verdict first.
    pub fn primary_first(&self) -> impl Iterator<Item = &MetricComparison> {
        let of = |primary| self.metrics.iter().filter(move |m| m.metric.primary == primary);
        of(true).chain(of(false))
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
    Tail {
        /// The ratio of means.
        ratio_of_means: f64,
    },
}

impl Flag {
    /// The name in files and narrow columns.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Autocorrelated { .. } => "autocorrelated",
            Self::Skewed { .. } => "skewed",
            Self::Tail { .. } => "tail",
        }
    }
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
            Self::Tail { ratio_of_means } => write!(
                f,
                "tail (the ratio of means is {}: both are headlines)",
                crate::show::ratio(*ratio_of_means)
            ),
        }
    }
}
