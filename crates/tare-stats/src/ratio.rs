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

/// A share of a whole, both with chance in them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// Mean of the part over mean of the whole.
    pub share: f64,
    pub interval: Interval,
}

/// The share of a whole from pairs (`part[i]`, `whole[i]`), with the interval of Fieller's theorem: all r for which the
/// mean of part - r whole is not told apart from 0 by its t interval (Fieller, Some problems in interval estimation, 1954).
///
/// `widening` multiplies the half-widths of these t intervals.
///
/// `None` where the whole is not told apart from 0: any share would do.
pub fn share(part: &[f64], whole: &[f64], level: f64, widening: f64) -> Option<Share> {
    if part.len() != whole.len() {
        return None;
    }
    let quantile = widening * t_quantile(f64::midpoint(1.0, level), part.len().checked_sub(1)?)?;
    let of_error = quantile * quantile / count(part);
    let (mean_part, mean_whole) = (mean(part)?, mean(whole)?);
    let off = |values: &[f64], mean: f64| values.iter().map(|v| v - mean).collect::<Vec<f64>>();
    let (part, whole) = (off(part, mean_part), off(whole, mean_whole));
    let covariance =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / (count(a) - 1.0);
    // The bounds are the roots of a r^2 - 2 b r + c.
    let a = mean_whole * mean_whole - of_error * covariance(&whole, &whole);
    let b = mean_part * mean_whole - of_error * covariance(&part, &whole);
    let c = mean_part * mean_part - of_error * covariance(&part, &part);
    if a <= 0.0 {
        return None;
    }
    let root = (b * b - a * c).max(0.0).sqrt();
    Some(Share {
        share: finite(mean_part / mean_whole)?,
        interval: Interval {
            low: finite((b - root) / a)?,
            high: finite((b + root) / a)?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::t_estimate;

    #[test]
    fn a_share_ends_where_the_rest_is_not_told_apart_from_nought() {
        let part = [0.24, 0.26, 0.22, 0.27, 0.25, 0.23];
        let whole = [0.25, 0.29, 0.24, 0.26, 0.27, 0.25];
        let told = share(&part, &whole, 0.95, 1.0).unwrap();
        for end in [told.interval.low, told.interval.high] {
            let rest: Vec<f64> = part.iter().zip(whole).map(|(p, w)| p - end * w).collect();
            let interval = t_estimate(&rest, 0.95, 1.0).unwrap().interval;
            let nearest = interval.low.abs().min(interval.high.abs());
            assert!(nearest < 1e-12, "{end}: {interval:?}");
        }
        assert!(told.interval.contains(told.share));
    }

    #[test]
    fn there_is_no_share_of_what_is_not_shown() {
        assert_eq!(share(&[0.1, 0.2, 0.1], &[0.1, -0.1, 0.05], 0.95, 1.0), None);
        assert_eq!(share(&[0.1], &[0.1], 0.95, 1.0), None);
        assert_eq!(share(&[0.1, 0.2], &[0.1], 0.95, 1.0), None);
        assert_eq!(share(&[f64::NAN, 0.2], &[0.1, 0.1], 0.95, 1.0), None);
    }
}
