//! Estimates, intervals and tests: pure functions on slices.
//!
//! Nothing here reads or prints; what is drawn at random follows from a seed that
//! the caller gives. Every function answers `None` where its figure is not defined:
//! too few values, a value that is not finite, no spread where one is divided by.
//! None panics, whatever it is given.
//!
//! The formulas are those of `METHODOLOGY.md`; each function names its source.

#![forbid(unsafe_code)]

mod amount;
mod blocks;
mod bootstrap;
mod change_points;
mod decide;
mod draws;
mod drift;
mod factorial;
mod gaps;
mod holm;
mod hosts;
mod hotelling;
mod infer;
mod latencies;
mod levels;
mod line;
mod linear;
mod looks;
mod moments;
mod quantile;
mod ranks;
mod ratio;
mod regression;
mod rounds;
mod series;
mod size;
mod steadiness;
mod student;
mod welch;
mod wilcoxon;

pub use amount::amount_interval;
pub use blocks::more_blocks;
pub use change_points::{CHANGE_LEVEL, ChangePoint, FEWEST_AROUND_CHANGE, FEWEST_FOR_CHANGE, change_points};
pub use decide::{Row, decide};
pub use drift::{Steps, steps};
pub use factorial::Design;
pub use gaps::{Added, Gaps};
pub use holm::{holm, holm_factors};
pub use hosts::{AcrossHosts, FEWEST_HOSTS, HostEstimate, across_hosts, p_alike};
pub use infer::{LEVEL, Looks, Odd, PairedInference, Question, infer, infer_beside, least_noise};
pub use latencies::Latencies;
pub use levels::{Levels, levels};
pub use line::{Line, line};
pub use looks::{Aim, Judgement, LOOK_LEVEL, LOOK_P_FACTOR, LOOK_PRECISE, LOOKS, Look, look, next_look};
pub use moments::{cv, extent, kurtosis, log_ratio, mean, median, sd, skewness};
pub use quantile::{QuantileRatio, quantile_ratios};
pub use ranks::ranks;
pub use ratio::{RatioOfMeans, Share, ratio_of_means, share};
pub use regression::{Coefficient, regression};
pub use rounds::{
    CPU_BOUND, after, error_of_typical, mean_of_medians, medians, round_losses, stall_share, told_apart,
    typical, understated_by, upper_quartile,
};
pub use series::{Autocorrelation, autocorrelation, correlation, lag1};
pub use size::{DyingOut, Excess, SizeFit, SizeSeries, dying_out, fit_is_quotable, size_fit, size_series};
pub use steadiness::{STEADINESS_PAIRS, Steadiness, SteadinessSpread, steadiness};
pub use student::{Interval, TEstimate, t_estimate, t_quantile};
pub use welch::{Sample, Welch, welch};
pub use wilcoxon::wilcoxon;

/// `value` if it is a finite number.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// The number of values as a factor in formulas.
#[expect(clippy::cast_precision_loss, reason = "no slice has 2^52 values")]
fn count<T>(values: &[T]) -> f64 {
    values.len() as f64
}
