//! What a comparison consists of: a cell, its baseline, and the figures of each
//! metric.

use super::carry_over::CarryOver;
use super::estimate::Estimate;
use super::family::Family;
use super::flag::Flag;
use super::paired::Paired;
use super::slices::SliceFigures;
use super::steadiness::Steady;
use super::verdict::{Verdict, Word};
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Ordering;
use tare_model::metric::Metric;
use tare_model::study::{Against, Cell};
use tare_stats::{LEVEL, PairedInference, t_quantile};

/// One cell against one of its baselines.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Comparison {
    #[serde(flatten)]
    pub cell: Cell,
    /// Which baseline.
    pub against: Against,
    /// The baseline's cell.
    pub baseline: Cell,
    /// With which others it is corrected for their number.
    pub family: Family,
    /// Each metric; the primary one carries the verdict.
    pub metrics: Vec<MetricComparison>,
    /// What ran before its trials and moved its primary metric.
    pub carry_over: Vec<CarryOver>,
    /// What the primary metric cost in every block that has a pair, in the order of time.
    pub course: Vec<BlockCost>,
    /// About how wide the interval would be after one more minute for this cell and its baseline alone, over its width now.
    pub after_minute: Option<f64>,
}

/// What a cell cost in one block.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct BlockCost {
    pub block: u32,
    /// The cost over the baseline: of slices the typical one.
    pub cost: f64,
    /// Findings of either trial.
    pub findings: Vec<&'static str>,
}

impl Comparison {
    /// The price of the quota: the baseline platform against itself.
    pub fn is_price_of_quota(&self) -> bool {
        self.against == Against::NativeSet && self.cell.kind.platform == self.baseline.kind.platform
    }

    /// What one more minute would do, where a trial took so many seconds with all that belongs to it.
    #[expect(clippy::cast_precision_loss, reason = "a number of blocks")]
    pub(super) fn narrowed_by_minute(&self, trial_seconds: f64) -> Option<f64> {
        let n = self.primary().map(|metric| metric.n).filter(|n| *n > 1)?;
        let width =
            |blocks: usize| Some(t_quantile(f64::midpoint(1.0, LEVEL), blocks - 1)? / (blocks as f64).sqrt());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a few blocks; the cast saturates"
        )]
        let more = (60.0 / (2.0 * trial_seconds)) as usize;
        Some(width(n.saturating_add(more))? / width(n)?)
    }

    /// The metric that carries the verdict.
    pub fn primary(&self) -> Option<&MetricComparison> {
        self.metrics.iter().find(|m| m.metric.primary)
    }

    /// The cost of the metric that carries the verdict, with its interval.
    pub fn ratio(&self) -> Option<Estimate> {
        Some(self.primary()?.paired.as_ref()?.ratio)
    }

    /// On which side of another cell's cost over the same baseline it is shown to lie. By the
    /// verdicts: both have one that decides, they are not both `equal`, and their intervals do not meet.
    pub fn beside(&self, other: &Self) -> Option<Ordering> {
        let words = [self.word(), other.word()];
        let apart = words.iter().all(|word| word.decides()) && words != [Word::Equal; 2];
        apart.then(|| self.ratio()?.beside(other.ratio()?)).flatten()
    }

    /// What is shown of that.
    pub fn word(&self) -> Word {
        self.primary().map_or(Word::None, MetricComparison::word)
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
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct MetricComparison<M = Metric> {
    /// The metric: of a study, or of foreign data.
    #[serde(flatten)]
    pub metric: M,
    /// Pairs: blocks in which both cells have a figure.
    pub n: usize,
    /// Pairs lost: blocks in which both ran and one has no figure.
    pub lost: usize,
    /// The headline: what one typical run costs.
    pub paired: Option<Paired>,
    /// The cost in the only pair that there is: a ratio without an interval, of which nothing
    /// follows. Absent where there are more.
    pub single: Option<f64>,
    /// The costs in the blocks, where their interval would say nothing.
    pub range: Option<CostRange>,
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

impl<M> MetricComparison<M> {
    /// What is shown; nothing where no verdict was asked for either.
    pub fn word(&self) -> Word {
        self.verdict.as_ref().map_or(Word::None, |v| v.word)
    }

    /// What one typical run costs, with an interval or, of one block, without.
    pub fn cost(&self) -> Option<f64> {
        let paired = self.paired.as_ref().map(|p| p.ratio.value);
        paired.or(self.single).or_else(|| Some(self.range?.typical))
    }

    /// The noise, where a cost that is fit for a verdict makes its noise fit for one.
    pub(crate) fn fit_steadiness(&mut self) -> Option<&mut Steady> {
        let verdict = self.verdict.as_ref()?;
        self.steadiness.as_mut().filter(|_| verdict.word != Word::None)
    }
}

/// Costs of blocks that are too unlike one another for an interval.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct CostRange {
    /// Their geometric mean.
    pub typical: f64,
    pub lowest: f64,
    pub highest: f64,
}

/// A quantile of a cell's cost over that of its baseline; over 1 costs more. The
/// cost of a rate is its reciprocal: p90 is what 9 of 10 trials stay below.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct QuantileFigure {
    /// Which quantile: 0.9 for p90.
    pub quantile: f64,
    #[serde(flatten)]
    pub ratio: Estimate,
    /// Whether the interval is approximate: fewer than 30 pairs.
    pub approximate: bool,
}

/// li2018's Op = |Mm - Mb| / Mb, with its sign apart.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct Op {
    /// The figure, never negative.
    pub value: f64,
    /// Whether the platform is worse.
    pub worse: bool,
    /// Strictly below 1 %: the study ignores it. A rule of display, not a test.
    pub ignored: bool,
}
