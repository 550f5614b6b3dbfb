//! One figure from several hosts: the host as a random factor.
//!
//! Each host's estimate scatters around a mean of its own, and these around the mean of all hosts
//! that might have been chosen. Between-host variance after Paule and Mandel (1982), the interval
//! after Hartung and Knapp (2001) with the modified floor of Röver, Knapp and Friede (2015), the
//! prediction interval after Higgins, Thompson and Spiegelhalter (2009).

use crate::student::two_sided;
use crate::{Interval, count, finite, t_quantile};

/// Fewer hosts than this say nothing of hosts that were not measured.
pub const FEWEST_HOSTS: usize = 3;

/// What one host says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostEstimate {
    /// Its mean.
    pub mean: f64,
    /// The standard error of that.
    pub error: f64,
}

/// What several hosts say together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AcrossHosts {
    /// Hosts.
    pub hosts: usize,
    /// The mean over hosts.
    pub mean: f64,
    /// Its interval.
    pub interval: Interval,
    /// Standard deviation between hosts.
    pub between: f64,
    /// Where a host that was not measured lies.
    pub next: Interval,
    /// The standard error of the mean.
    pub error: f64,
}

impl AcrossHosts {
    /// Two-sided p value of the mean being 0, by the same t.
    pub fn p_zero(self) -> Option<f64> {
        two_sided(self.mean, self.error, self.hosts.checked_sub(1)?)
    }
}

/// The mean over hosts with its interval at `level`, and where the next host lies at the same
/// level. `None` under [`FEWEST_HOSTS`], or where no host has an error above 0 and all agree.
pub fn across_hosts(hosts: &[HostEstimate], level: f64) -> Option<AcrossHosts> {
    let n = hosts.len();
    let sound = |h: &HostEstimate| h.mean.is_finite() && h.error.is_finite() && h.error >= 0.0;
    if n < FEWEST_HOSTS || !hosts.iter().all(sound) {
        return None;
    }
    let between2 = paule_mandel(hosts)?;
    let fit = Fit::of(hosts, between2)?;
    // Hartung and Knapp's factor below 1 would make the interval narrower than one that takes
    // the errors as they are.
    let factor = (fit.q / (count(hosts) - 1.0)).max(1.0);
    let error2 = factor / fit.weights;
    let half = |df: usize, variance: f64| Some(t_quantile(f64::midpoint(1.0, level), df)? * variance.sqrt());
    Some(AcrossHosts {
        hosts: n,
        mean: fit.mean,
        interval: Interval::around(fit.mean, half(n - 1, error2)?)?,
        between: between2.sqrt(),
        next: Interval::around(fit.mean, half(n - 2, between2 + error2)?)?,
        error: error2.sqrt(),
    })
}

/// The weighted mean at a variance between hosts, and how far hosts lie from it.
struct Fit {
    mean: f64,
    weights: f64,
    /// Sum of weighted squares: hosts less 1 where the variance is right.
    q: f64,
}

impl Fit {
    fn of(hosts: &[HostEstimate], between2: f64) -> Option<Self> {
        let weight = |h: &HostEstimate| 1.0 / (h.error.powi(2) + between2);
        let weights = finite(hosts.iter().map(weight).sum())?;
        let mean = finite(hosts.iter().map(|h| weight(h) * h.mean).sum::<f64>() / weights)?;
        let q = finite(hosts.iter().map(|h| weight(h) * (h.mean - mean).powi(2)).sum())?;
        Some(Self { mean, weights, q })
    }
}

/// The variance between hosts at which the weighted squares come to hosts less 1; 0 where they
/// come to less without any.
fn paule_mandel(hosts: &[HostEstimate]) -> Option<f64> {
    let wanted = count(hosts) - 1.0;
    let spread = hosts
        .iter()
        .map(|h| h.mean)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), m| {
            (low.min(m), high.max(m))
        });
    let widest = finite((spread.1 - spread.0).powi(2))?;
    let exact = hosts.iter().any(|h| h.error == 0.0);
    if !exact && Fit::of(hosts, 0.0)?.q <= wanted {
        return Some(0.0);
    }
    // At the square of the whole range the squares come to less than hosts less 1.
    let (mut low, mut high) = (0.0, finite(widest).filter(|w| *w > 0.0)?);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if Fit::of(hosts, middle)?.q > wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(f64::midpoint(low, high))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn hosts(all: &[(f64, f64)]) -> Vec<HostEstimate> {
        all.iter()
            .map(|&(mean, error)| HostEstimate { mean, error })
            .collect()
    }

    #[test]
    fn hosts_of_one_error_are_a_sample_of_their_means() {
        // Means 1, 2, 3: variance 1, of which 0.25 is error.
        let found = across_hosts(&hosts(&[(1.0, 0.5), (2.0, 0.5), (3.0, 0.5)]), 0.95).unwrap();
        assert!((found.mean - 2.0).abs() < 1e-12);
        assert!((found.between.powi(2) - 0.75).abs() < 1e-9, "{found:?}");
        let half = t_quantile(0.975, 2).unwrap() / 3_f64.sqrt();
        assert!((found.interval.high - 2.0 - half).abs() < 1e-8, "{found:?}");
        let next = t_quantile(0.975, 1).unwrap() * (0.75_f64 + 1.0 / 3.0).sqrt();
        assert!((found.next.high - 2.0 - next).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn hosts_that_agree_have_no_variance_between_them_and_no_interval_narrower_than_their_errors() {
        let found = across_hosts(&hosts(&[(1.0, 0.5), (1.01, 0.5), (0.99, 0.5), (1.0, 0.5)]), 0.95).unwrap();
        assert!(found.between.abs() < 1e-12);
        let half = t_quantile(0.975, 3).unwrap() * 0.25;
        assert!(
            (found.interval.high - found.mean - half).abs() < 1e-9,
            "{found:?}"
        );
    }

    #[test]
    fn two_hosts_say_nothing_of_others_and_neither_do_figures_that_are_none() {
        assert_eq!(across_hosts(&hosts(&[(1.0, 0.1), (2.0, 0.1)]), 0.95), None);
        assert_eq!(
            across_hosts(&hosts(&[(1.0, 0.1), (2.0, f64::NAN), (2.0, 0.1)]), 0.95),
            None
        );
        assert_eq!(
            across_hosts(&hosts(&[(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)]), 0.95),
            None
        );
    }

    #[test]
    fn a_host_without_error_counts_as_one_host() {
        let found = across_hosts(&hosts(&[(1.0, 0.0), (2.0, 0.0), (3.0, 0.0)]), 0.95).unwrap();
        assert!(
            (found.mean - 2.0).abs() < 1e-12 && (found.between - 1.0).abs() < 1e-9,
            "{found:?}"
        );
    }
}
