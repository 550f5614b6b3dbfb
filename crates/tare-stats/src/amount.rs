//! The mean of what cannot be below 0: times, rates, bytes, counts.

use crate::{Interval, finite, t_estimate};

/// The interval of the mean of `values` at `level`, of what cannot be below 0: Student's t on the
/// logarithm of the mean, taken back. By the delta method the standard error of ln(mean) is that of
/// the mean over the mean.
///
/// A t interval of the mean itself reaches below 0 where values are lopsided, as if a disk could be
/// read by less than nothing, and misses a true mean above it twice as often. Logarithms of the
/// values would tell of their geometric mean instead, and a value of 0 has none.
///
/// Where a value is below 0 all the same, and where all are 0, it is the t interval. At least 2
/// values.
pub fn amount_interval(values: &[f64], level: f64) -> Option<Interval> {
    let t = t_estimate(values, level, 1.0)?;
    let is_amount = values.iter().all(|value| *value >= 0.0);
    if !is_amount || t.mean == 0.0 {
        return Some(t.interval);
    }
    let reach = ((t.interval.high - t.mean) / t.mean).exp();
    Some(Interval {
        low: finite(t.mean / reach)?,
        high: finite(t.mean * reach)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LEVEL;

    fn both(values: &[f64]) -> [Interval; 2] {
        let t = t_estimate(values, LEVEL, 1.0).expect("a t interval");
        [amount_interval(values, LEVEL).expect("an interval"), t.interval]
    }

    #[test]
    fn one_reading_among_noughts_reaches_far_up_and_not_below_nought() {
        let mut values = [0.0; 10];
        values[3] = 45_056.0;
        let [amount, t] = both(&values);
        assert!(t.low < 0.0, "{t:?}");
        // The standard error is the mean, and t is 2.262.
        let reach = 2.262_157_162_798_f64.exp();
        assert!((amount.low * reach / 4505.6 - 1.0).abs() < 1e-9, "{amount:?}");
        assert!((amount.high / reach / 4505.6 - 1.0).abs() < 1e-9, "{amount:?}");
    }

    #[test]
    fn where_values_spread_little_it_is_that_of_t() {
        let [amount, t] = both(&[1.00, 1.01, 0.99, 1.02, 0.98]);
        let half = (t.high - t.low) / 2.0;
        assert!((amount.low - t.low).abs() < 0.02 * half);
        assert!((amount.high - t.high).abs() < 0.02 * half);
    }

    #[test]
    fn what_can_be_below_nought_and_nought_itself_have_that_of_t() {
        for values in [[-1.0, 2.0, 3.0], [0.0; 3], [-2.0, -1.0, -4.0]] {
            let [amount, t] = both(&values);
            assert_eq!(amount, t, "{values:?}");
        }
        assert_eq!(amount_interval(&[1.0], LEVEL), None);
    }
}
