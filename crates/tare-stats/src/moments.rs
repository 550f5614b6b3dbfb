//! Location, spread and shape of one series.

use crate::{Interval, count, finite};

/// The arithmetic mean.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    finite(values.iter().sum::<f64>() / count(values))
}

/// From the lowest to the highest value; from infinity to its negative without any.
pub fn extent(values: &[f64]) -> Interval {
    Interval {
        low: values.iter().copied().fold(f64::INFINITY, f64::min),
        high: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    }
}

/// Sum of squared deviations from the mean, and the mean. Two passes: the
/// one-pass form loses every digit where the mean is large.
pub(crate) fn squares(values: &[f64]) -> Option<(f64, f64)> {
    let mean = mean(values)?;
    if values.windows(2).all(|w| w[0] == w[1]) {
        // The mean of a constant may be off by its rounding; the spread is not.
        return Some((0.0, mean));
    }
    let sum = values.iter().map(|v| (v - mean).powi(2)).sum();
    Some((finite(sum)?, mean))
}

/// The sample standard deviation, with n - 1 in the denominator.
pub fn sd(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let (sum, _) = squares(values)?;
    finite((sum / (count(values) - 1.0)).sqrt())
}

/// The coefficient of variation: standard deviation over mean. Only for
/// positive means; elsewhere it says nothing.
pub fn cv(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    if mean > 0.0 {
        finite(sd(values)? / mean)
    } else {
        None
    }
}

/// The median: the middle value, or the mean of the two in the middle.
pub fn median(values: &[f64]) -> Option<f64> {
    if values.is_empty() || !values.iter().all(|v| v.is_finite()) {
        return None;
    }
    // Selecting takes a time in proportion to the number of values, sorting more.
    let mut values = values.to_vec();
    let middle = values.len() / 2;
    let odd = values.len() % 2 == 1;
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = below.iter().copied().max_by(f64::total_cmp);
    let lower = lower.filter(|_| !odd).unwrap_or(*upper);
    finite(lower + (*upper - lower) / 2.0)
}

/// The skewness g1: third central moment over the 3/2 power of the second,
/// both with n in the denominator. Beyond 1 on either side a series is flagged.
pub fn skewness(values: &[f64]) -> Option<f64> {
    let (sum, mean) = squares(values)?;
    let n = count(values);
    let third = values.iter().map(|v| (v - mean).powi(3)).sum::<f64>() / n;
    finite(third / (sum / n).powf(1.5))
}

/// The excess kurtosis g2: fourth central moment over the square of the second,
/// both with n in the denominator, less 3 (that of a normal distribution).
pub fn kurtosis(values: &[f64]) -> Option<f64> {
    let (sum, mean) = squares(values)?;
    let n = count(values);
    let fourth = values.iter().map(|v| (v - mean).powi(4)).sum::<f64>() / n;
    finite(fourth / (sum / n).powi(2) - 3.0)
}

/// ln(a / b), for positive finite figures.
pub fn log_ratio(a: f64, b: f64) -> Option<f64> {
    // Each by itself: the quotient of two ordinary numbers may overflow.
    let log = |x: f64| if x > 0.0 { finite(x.ln()) } else { None };
    Some(log(a)? - log(b)?)
}
