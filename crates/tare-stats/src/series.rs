//! Dependence: of a series on its own past, and of two series on each other.

use crate::moments::squares;
use crate::{count, finite};

/// The lag-1 autocorrelation r1: the sum of products of neighbouring deviations
/// over the sum of squared deviations (Box and Jenkins' estimate).
pub fn lag1(values: &[f64]) -> Option<f64> {
    let (sum, mean) = squares(values)?;
    let products = values.windows(2).map(|w| (w[0] - mean) * (w[1] - mean));
    finite(products.sum::<f64>() / sum)
}

/// What the autocorrelation of a series means for the interval of its mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Autocorrelation {
    /// The lag-1 autocorrelation.
    pub r1: f64,
    /// Whether the flag is up.
    pub flagged: bool,
    /// Factor for the half-width of the interval; 1 where the flag is down.
    pub widening: f64,
}

/// Judges the autocorrelation of a series of at least 4 values.
///
/// The flag is up where (r1 + 1/n) sqrt(n) > 1.28, a one-sided test at 10 % in
/// which 1/n undoes the bias of r1. The half-width is then multiplied by
/// sqrt((1 + r) / (1 - r)), r = min(0.9, (r1 + 1/n) / (1 - 3/n)).
pub fn autocorrelation(values: &[f64]) -> Option<Autocorrelation> {
    let n = count(values);
    if n < 4.0 {
        return None;
    }
    let r1 = lag1(values)?;
    let unbiased = r1 + 1.0 / n;
    let flagged = unbiased * n.sqrt() > 1.28;
    let r = (unbiased / (1.0 - 3.0 / n)).min(0.9);
    Some(Autocorrelation {
        r1,
        flagged,
        widening: if flagged {
            ((1.0 + r) / (1.0 - r)).sqrt()
        } else {
            1.0
        },
    })
}

/// Pearson's correlation of two series of one length.
pub fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.len() != b.len() {
        return None;
    }
    let (sum_a, mean_a) = squares(a)?;
    let (sum_b, mean_b) = squares(b)?;
    let products = a.iter().zip(b).map(|(x, y)| (x - mean_a) * (y - mean_b));
    // Rounding may carry a perfect correlation past 1.
    finite(products.sum::<f64>() / (sum_a.sqrt() * sum_b.sqrt())).map(|r| r.clamp(-1.0, 1.0))
}
