//! Student's t: interval of a mean and tests on it.

use crate::{count, finite, mean, sd};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A closed interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// `centre` plus and minus `half`, if both are finite.
    pub(crate) fn around(centre: f64, half: f64) -> Option<Self> {
        Some(Self {
            low: finite(centre - half)?,
            high: finite(centre + half)?,
        })
    }

    /// Whether `value` lies within, the ends included.
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// The quantile of Student's t at probability `p` with `df` degrees of freedom.
pub fn t_quantile(p: f64, df: usize) -> Option<f64> {
    if !(p > 0.0 && p < 1.0) {
        return None;
    }
    finite(student(df)?.inverse_cdf(p))
}

/// Probability of an estimate this far from 0 or further, where it is 0 and its
/// standard error is `error` with `df` degrees of freedom.
pub(crate) fn two_sided(estimate: f64, error: f64, df: usize) -> Option<f64> {
    if error == 0.0 {
        // No error at all: what lies off is impossible.
        return Some(if estimate == 0.0 { 1.0 } else { 0.0 });
    }
    let t = finite(estimate / error)?;
    finite(2.0 * student(df)?.cdf(-t.abs()))
}

#[expect(clippy::cast_precision_loss, reason = "no slice has 2^52 values")]
fn student(df: usize) -> Option<StudentsT> {
    if df == 0 {
        return None;
    }
    StudentsT::new(0.0, 1.0, df as f64).ok()
}

/// The mean of a series with what Student's t says of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TEstimate {
    /// Number of values.
    pub n: usize,
    pub mean: f64,
    /// Standard deviation, multiplied by the widening.
    pub sd: f64,
    /// Interval of the mean.
    pub interval: Interval,
}

/// Mean and t interval of `values` at `level` (0.95 for 95 %), n - 1 degrees of
/// freedom. The half-width is multiplied by `widening`: 1, or what
/// [`crate::autocorrelation`] asks for.
pub fn t_estimate(values: &[f64], level: f64, widening: f64) -> Option<TEstimate> {
    let sd = finite(sd(values)? * widening)?;
    let mean = mean(values)?;
    let quantile = t_quantile(f64::midpoint(1.0, level), values.len() - 1)?;
    Some(TEstimate {
        n: values.len(),
        mean,
        sd,
        interval: Interval::around(mean, quantile * sd / count(values).sqrt())?,
    })
}

impl TEstimate {
    /// The interval of the same mean at another level.
    pub fn interval_at(self, level: f64) -> Option<Interval> {
        let quantile = t_quantile(f64::midpoint(1.0, level), self.n.checked_sub(1)?)?;
        #[expect(clippy::cast_precision_loss, reason = "no slice has 2^52 values")]
        let error = self.sd / (self.n as f64).sqrt();
        Interval::around(self.mean, quantile * error)
    }

    /// Two-sided p value of the mean being 0: the paired t test, where the
    /// values are differences of pairs. It uses the widened standard deviation,
    /// so that p < 0.05 and "the 95 % interval excludes 0" are one statement.
    pub fn p_zero(self) -> Option<f64> {
        self.lower_tail(-self.mean.abs()).map(|p| 2.0 * p)
    }

    /// p value of the two one-sided tests (TOST) that the mean lies within
    /// `-margin` to `margin`: the larger of the two.
    pub fn p_within(self, margin: f64) -> Option<f64> {
        let not_below = self.lower_tail(-(self.mean + margin))?;
        let not_above = self.lower_tail(self.mean - margin)?;
        Some(not_below.max(not_above))
    }

    /// Probability of a mean this far below its expectation, or further.
    fn lower_tail(self, distance: f64) -> Option<f64> {
        if self.sd == 0.0 && distance != 0.0 {
            // No spread at all: what lies off is impossible, what lies beyond certain.
            return finite(0.5 + 0.5 * distance.signum());
        }
        if distance == 0.0 {
            return Some(0.5);
        }
        #[expect(clippy::cast_precision_loss, reason = "no slice has 2^52 values")]
        let t = distance / (self.sd / (self.n as f64).sqrt());
        finite(student(self.n.checked_sub(1)?)?.cdf(finite(t)?))
    }
}
