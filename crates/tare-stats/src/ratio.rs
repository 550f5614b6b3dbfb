//! The ratio of two means from pairs.

use crate::{Interval, count, finite, mean, sd, t_quantile};

/// A ratio of means with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioOfMeans {
    /// Mean of the one over mean of the other.
    pub ratio: f64,
    /// Its interval.
    pub interval: Interval,
}

/// mean(x) / mean(y) of pairs (`x[i]`, `y[i]`), as ghatrehsamani2020 has it: what
/// many runs cost in total. Interval: R +- t(n-1) sd(x_i - R y_i) / (sqrt(n) mean(y)).
///
/// Only where mean(y) is positive.
pub fn ratio_of_means(x: &[f64], y: &[f64], level: f64) -> Option<RatioOfMeans> {
    let mean_y = mean(y)?;
    if x.len() != y.len() || mean_y <= 0.0 {
        return None;
    }
    let ratio = finite(mean(x)? / mean_y)?;
    let residuals: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - ratio * y).collect();
    let quantile = t_quantile(f64::midpoint(1.0, level), x.len().checked_sub(1)?)?;
    let half = quantile * sd(&residuals)? / (count(x).sqrt() * mean_y);
    Some(RatioOfMeans {
        ratio,
        interval: Interval::around(ratio, half)?,
    })
}
