//! Counts of campaigns: what share may lie behind them.

use statrs::distribution::{Binomial, DiscreteCDF};

/// The largest share that still gives so few or fewer of `n` with probability
/// 1 - `level`: the upper end of Clopper and Pearson (1934), one-sided.
pub fn upper(count: u64, n: u64, level: f64) -> f64 {
    if count >= n {
        return 1.0;
    }
    root(|share| at_most(count, n, share) < 1.0 - level)
}

/// The smallest share that still gives so many or more of `n` with probability
/// 1 - `level`: the lower end, one-sided.
pub fn lower(count: u64, n: u64, level: f64) -> f64 {
    if count == 0 {
        return 0.0;
    }
    root(|share| 1.0 - at_most(count - 1, n, share) >= 1.0 - level)
}

/// Probability of at most so many of `n`, each with this probability.
pub fn at_most(count: u64, n: u64, share: f64) -> f64 {
    Binomial::new(share, n).map_or(f64::NAN, |binomial| binomial.cdf(count))
}

/// Where a condition that fails at 0 and holds at 1 begins to hold.
fn root(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_those_of_the_methodology() {
        // A/A: a one-sided 95 % bound of 7 % on false verdicts.
        assert!(upper(19, 400, 0.95) <= 0.07 && upper(20, 400, 0.95) > 0.07);
        assert!(upper(56, 1000, 0.95) <= 0.07 && upper(57, 1000, 0.95) > 0.07);
        // To show under 5 %.
        assert!(upper(12, 400, 0.95) <= 0.05 && upper(13, 400, 0.95) > 0.05);
        assert!(upper(38, 1000, 0.95) <= 0.05 && upper(39, 1000, 0.95) > 0.05);
        // Intervals that exclude 1: a bound of 8 %.
        assert!(upper(65, 1000, 0.95) <= 0.08 && upper(66, 1000, 0.95) > 0.08);
        // Injection: coverage with a lower bound of 93 %.
        assert!(lower(381, 400, 0.95) >= 0.93 && lower(380, 400, 0.95) < 0.93);
        assert!(lower(944, 1000, 0.95) >= 0.93 && lower(943, 1000, 0.95) < 0.93);
    }

    #[test]
    fn what_a_gate_lets_pass_is_as_told() {
        assert!((at_most(19, 400, 0.035) - 0.93).abs() < 0.015);
        assert!(at_most(56, 1000, 0.035) > 0.995);
        assert!((1.0 - at_most(20, 400, 0.05) - 0.44).abs() < 0.015);
        assert!((1.0 - at_most(943, 1000, 0.95) - 0.83).abs() < 0.015);
        assert!((1.0 - at_most(380, 400, 0.95) - 0.47).abs() < 0.015);
    }

    #[test]
    fn nothing_and_everything_have_bounds_too() {
        assert_eq!((lower(0, 10, 0.95), upper(10, 10, 0.95)), (0.0, 1.0));
        // The rule of three.
        assert!((upper(0, 100, 0.95) - 0.03).abs() < 0.001);
        assert!((lower(100, 100, 0.95) - 0.97).abs() < 0.001);
    }
}
