//! The ratio of two means from pairs.

use crate::{Interval, count, finite, mean, sd, t_quantile};

/// A ratio of means with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioOfMeans {
    /// Mean of the one over mean of the other.
    pub ratio: f64,
    pub interval: Interval,
}

/// mean(x) / mean(y) of pairs (`x[i]`, `y[i]`), as ghatrehsamani2020 has it: what
/// many runs cost in total. Interval: R +- t(n-1) sd(x_i - R y_i) / (sqrt(n) mean(y)),
/// the half-width multiplied by `widening`: that of the paired ratio of the same
/// pairs, whose d is, to first order, what x_i - R y_i is over the mean.
///
/// Only where mean(y) is positive. Of figures that are never negative neither is
/// the ratio: its lower end is at least 0.
pub fn ratio_of_means(x: &[f64], y: &[f64], level: f64, widening: f64) -> Option<RatioOfMeans> {
    let mean_y = mean(y)?;
    if x.len() != y.len() || mean_y <= 0.0 {
        return None;
    }
    let ratio = finite(mean(x)? / mean_y)?;
    let residuals: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - ratio * y).collect();
    let quantile = t_quantile(f64::midpoint(1.0, level), x.len().checked_sub(1)?)?;
    let half = widening * quantile * sd(&residuals)? / (count(x).sqrt() * mean_y);
    let mut interval = Interval::around(ratio, half)?;
    if x.iter().all(|x| *x >= 0.0) {
        interval.low = interval.low.max(0.0);
    }
    Some(RatioOfMeans { ratio, interval })
}
