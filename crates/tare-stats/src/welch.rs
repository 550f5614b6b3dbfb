//! The difference of two means from samples that are not paired.

use crate::{Interval, finite, t_estimate};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// One of the two samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Number of values.
    pub n: usize,
    pub mean: f64,
    /// Standard deviation; widened where the values are autocorrelated.
    pub sd: f64,
}

impl Sample {
    /// The sample of a series, its standard deviation multiplied by `widening`.
    pub fn of(values: &[f64], widening: f64) -> Option<Self> {
        // The level does not matter: only mean and spread are taken.
        let estimate = t_estimate(values, 0.95, widening)?;
        Some(Self {
            n: estimate.n,
            mean: estimate.mean,
            sd: estimate.sd,
        })
    }

    /// Variance of the mean.
    #[expect(clippy::cast_precision_loss, reason = "no slice has 2^52 values")]
    fn error2(self) -> f64 {
        self.sd.powi(2) / self.n as f64
    }
}

/// What the t test of Welch says of the difference of two means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Welch {
    /// Mean of the second less that of the first.
    pub difference: f64,
    /// Standard error of it.
    pub error: f64,
    /// Degrees of freedom by Welch and Satterthwaite.
    pub freedom: f64,
    /// Interval of the difference.
    pub interval: Interval,
}

/// The difference of the means of two independent samples, `second` less
/// `first`, with its interval at `level`, by Welch (1947): the variances need
/// not be equal. At least 2 values each; where neither has any spread the
/// interval is the difference itself.
pub fn welch(first: Sample, second: Sample, level: f64) -> Option<Welch> {
    let freedom_of = |sample: Sample| sample.n.checked_sub(1).filter(|df| *df > 0);
    let (a, b) = (first.error2(), second.error2());
    let difference = finite(second.mean - first.mean)?;
    let error = finite((a + b).sqrt())?;
    let freedom = freedom([(a, freedom_of(first)?), (b, freedom_of(second)?)])?;
    let quantile = finite(student(freedom)?.inverse_cdf(f64::midpoint(1.0, level)))?;
    Some(Welch {
        difference,
        error,
        freedom,
        interval: Interval::around(difference, quantile * error)?,
    })
}

/// (a + b)^2 / (a^2 / df_a + b^2 / df_b), by shares so that no square underflows.
#[expect(clippy::cast_precision_loss, reason = "no slice has 2^52 values")]
fn freedom(samples: [(f64, usize); 2]) -> Option<f64> {
    let sum: f64 = samples.iter().map(|(error2, _)| error2).sum();
    if sum == 0.0 {
        return Some(samples.iter().map(|(_, df)| *df as f64).sum());
    }
    let shares = samples.map(|(error2, df)| (error2 / sum).powi(2) / df as f64);
    finite(1.0 / shares.iter().sum::<f64>())
}

fn student(freedom: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, freedom).ok()
}

impl Welch {
    /// Two-sided p value of no difference.
    pub fn p_zero(self) -> Option<f64> {
        self.lower_tail(-self.difference.abs())
            .map(|p| (2.0 * p).min(1.0))
    }

    /// p value of the two one-sided tests (TOST) that the difference lies within
    /// `-margin` to `margin`.
    pub fn p_within(self, margin: f64) -> Option<f64> {
        let not_below = self.lower_tail(-(self.difference + margin))?;
        let not_above = self.lower_tail(self.difference - margin)?;
        Some(not_below.max(not_above))
    }

    fn lower_tail(self, distance: f64) -> Option<f64> {
        if distance == 0.0 {
            return Some(0.5);
        }
        if self.error == 0.0 {
            return finite(0.5 + 0.5 * distance.signum());
        }
        finite(student(self.freedom)?.cdf(finite(distance / self.error)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [f64; 6] = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9];
    const B: [f64; 5] = [27.1, 22.0, 20.8, 23.4, 23.4];

    fn of(first: &[f64], second: &[f64]) -> Option<Welch> {
        welch(Sample::of(first, 1.0)?, Sample::of(second, 1.0)?, 0.95)
    }

    #[test]
    fn it_says_what_scipy_says() {
        // scipy.stats.ttest_ind(B, A, equal_var=False), and its t for the margin of 8.
        let found = of(&A, &B).expect("an estimate");
        let expected = [
            (found.difference, 2.34),
            (found.error, 1.933_976_904_377_782),
            (found.freedom, 8.292_809_489_996_24),
            (found.interval.low, -2.092_497_263_574_874),
            (found.interval.high, 6.772_497_263_574_881),
            (found.p_zero().expect("a p"), 0.259_659_193_283_022),
            (found.p_within(8.0).expect("a p"), 0.009_185_843_572_317),
        ];
        for (found, expected) in expected {
            assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
        }
    }

    #[test]
    fn exchanging_the_samples_changes_the_sign_alone() {
        let (one, other) = (of(&A, &B).expect("one"), of(&B, &A).expect("other"));
        assert!((one.difference + other.difference).abs() < 1e-12);
        assert!((one.interval.low + other.interval.high).abs() < 1e-9);
        assert_eq!(one.p_zero(), other.p_zero());
    }

    #[test]
    fn without_spread_a_difference_is_certain() {
        let found = of(&[1.0, 1.0], &[2.0, 2.0, 2.0]).expect("an estimate");
        assert_eq!((found.interval.low, found.interval.high), (1.0, 1.0));
        assert_eq!((found.p_zero(), found.p_within(0.5)), (Some(0.0), Some(1.0)));
        assert_eq!(of(&[1.0, 1.0], &[1.0, 1.0]).and_then(Welch::p_zero), Some(1.0));
    }

    #[test]
    fn one_value_is_no_sample() {
        assert_eq!(of(&[1.0], &B), None);
        let lone = Sample {
            n: 1,
            mean: 1.0,
            sd: 0.1,
        };
        assert_eq!(welch(lone, lone, 0.95), None);
        assert_eq!(of(&A, &[f64::NAN, 1.0]), None);
    }
}
