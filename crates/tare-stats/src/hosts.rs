//! One figure from several hosts: the host as a random factor.
//!
//! Each host's estimate scatters around a mean of its own, and these around the mean of all hosts
//! that might have been chosen. Between-host variance after Paule and Mandel (1982). The error of the
//! mean is the largest of three: the hosts' own, that of Hartung and Knapp (2001; the first two are
//! the modified floor of Röver, Knapp and Friede, 2015), and the robust one of Sidik and Jonkman
//! (2006). Where the next host lies is a confidence distribution after Nagashima, Noma and Furukawa
//! (2019), over the variances between hosts that the Q profile of Viechtbauer (2007) allows.

use crate::student::two_sided;
use crate::{Interval, PairedInference, count, finite, t_quantile};
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal, StudentsT};

/// Fewer hosts than this say nothing of hosts that were not measured.
pub const FEWEST_HOSTS: usize = 3;

/// What one host says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostEstimate {
    pub mean: f64,
    /// The standard error of that.
    pub error: f64,
}

impl HostEstimate {
    /// The mean of one comparison with its error: that of Student's t, widened by autocorrelation
    /// and as far as a mean that is understated may lie.
    ///
    /// Not with the ends of the check by bootstrap-t: an error that is too large passes for noise
    /// what hosts differ by, and a host not yet seen lies further off than it is said to.
    pub fn of(inference: &PairedInference) -> Option<Self> {
        let Interval { low, high } = inference.t.interval;
        let width = high.max(inference.hidden(high)) - low.min(inference.hidden(low));
        let level = f64::midpoint(1.0, inference.looks.level());
        let quantile = t_quantile(level, inference.n.checked_sub(1)?)?;
        Some(Self {
            mean: inference.mean,
            error: finite(width / 2.0 / quantile)?,
        })
    }
}

/// Results over several hosts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AcrossHosts {
    pub hosts: usize,
    /// The mean over hosts.
    pub mean: f64,
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
    let between2 = between_from(hosts, count(hosts) - 1.0, 0.0)?;
    let fit = Fit::of(hosts, between2)?;
    let error = fit.error2(hosts, between2)?.sqrt();
    let half = t_quantile(f64::midpoint(1.0, level), n - 1)? * error;
    let interval = Interval::around(fit.mean, half)?;
    let next = next_host(hosts, error.powi(2), level)?;
    Some(AcrossHosts {
        hosts: n,
        mean: fit.mean,
        interval,
        between: between2.sqrt(),
        next: Interval {
            low: next.low.min(interval.low),
            high: next.high.max(interval.high),
        },
        error,
    })
}

/// For each host, with the number of values behind its estimate, p that it is one like the others: where the next
/// host lies by what these say, at its own error, of which Student's t accounts. `None` of a host that fewer than
/// [`FEWEST_HOSTS`] others stand beside.
pub fn p_alike(hosts: &[(HostEstimate, usize)]) -> Vec<Option<f64>> {
    let of = |(i, (host, n)): (usize, &(HostEstimate, usize))| {
        let others = hosts.iter().enumerate().filter(|(other, _)| *other != i);
        let others: Vec<HostEstimate> = others.map(|(_, (estimate, _))| *estimate).collect();
        if others.len() < FEWEST_HOSTS {
            return None;
        }
        let own2 = host.error.powi(2);
        let below = |node: &Node| {
            let spread2 = node.spread2 + own2;
            let t = (host.mean - node.mean) / spread2.sqrt();
            // By Satterthwaite: the rest of the spread has a distribution of its own, which the nodes stand for.
            let freedom = f64::from(u32::try_from(n.checked_sub(1)?).ok()?) * (spread2 / own2).powi(2);
            let tail = match StudentsT::new(0.0, 1.0, freedom) {
                Ok(student) => student.cdf(-t.abs()),
                Err(_) => Normal::standard().cdf(-t.abs()),
            };
            Some(if t < 0.0 { tail } else { 1.0 - tail })
        };
        let between2 = between_from(&others, count(&others) - 1.0, 0.0)?;
        let error2 = Fit::of(&others, between2)?.error2(&others, between2)?;
        let nodes = nodes(&others, error2)?;
        let below: f64 = nodes.iter().map(below).sum::<Option<f64>>()? / count(&nodes);
        finite(2.0 * below.min(1.0 - below))
    };
    hosts.iter().enumerate().map(of).collect()
}

/// Variances between hosts that are weighed for the next one: the more hosts, the nearer they lie together.
const fn nodes_of(hosts: usize) -> u32 {
    if hosts > 100 { 10 } else { 50 }
}

/// One of some variances between hosts that are as likely as each other by what the hosts say.
struct Node {
    /// The mean over hosts at that.
    mean: f64,
    /// The variance of the next host around it.
    spread2: f64,
}

/// `error2` is the squared standard error of the mean.
fn nodes(hosts: &[HostEstimate], error2: f64) -> Option<Vec<Node>> {
    let chi2 = ChiSquared::new(count(hosts) - 1.0).ok()?;
    let mut between2 = 0.0;
    // The larger the squares that are wanted the smaller the variance: each is the next one's start.
    let all = nodes_of(hosts.len());
    let node = |node: u32| {
        let squares = chi2.inverse_cdf((f64::from(node) + 0.5) / f64::from(all));
        between2 = between_from(hosts, squares, between2)?;
        let fit = Fit::of(hosts, between2)?;
        Some(Node {
            mean: fit.mean,
            spread2: between2 + error2.max(1.0 / fit.weights),
        })
    };
    (0..all).rev().map(node).collect()
}

/// Where the next host lies: the mean of normal distributions, one for each node.
fn next_host(hosts: &[HostEstimate], error2: f64, level: f64) -> Option<Interval> {
    let nodes: Vec<(f64, f64)> = nodes(hosts, error2)?
        .iter()
        .map(|node| (node.mean, node.spread2.sqrt()))
        .collect();
    let standard = Normal::standard();
    let below = |x: f64| {
        let all: f64 = nodes.iter().map(|(mean, sd)| standard.cdf((x - mean) / sd)).sum();
        all / count(&nodes)
    };
    // So far from every mean no normal distribution has anything.
    let reach = |sign: f64| {
        nodes
            .iter()
            .map(|(mean, sd)| sign * mean + 10.0 * sd)
            .fold(f64::NEG_INFINITY, f64::max)
    };
    let all = (-reach(-1.0), reach(1.0));
    let miss = (1.0 - level) / 2.0;
    Some(Interval {
        low: finite(bisect(all, |x| below(x) < miss))?,
        high: finite(bisect(all, |x| below(x) < 1.0 - miss))?,
    })
}

/// Where what holds at the lower end ceases to hold.
fn bisect((mut low, mut high): (f64, f64), holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The weighted mean at a variance between hosts, and how far hosts lie from it.
struct Fit {
    mean: f64,
    weights: f64,
    /// Sum of weighted squares: hosts less 1 where the variance is right.
    q: f64,
    /// By how much that falls as the variance grows.
    slope: f64,
}

impl Fit {
    fn of(hosts: &[HostEstimate], between2: f64) -> Option<Self> {
        let weight = |h: &HostEstimate| 1.0 / (h.error.powi(2) + between2);
        let weights = finite(hosts.iter().map(weight).sum())?;
        let mean = finite(hosts.iter().map(|h| weight(h) * h.mean).sum::<f64>() / weights)?;
        let off = |h: &HostEstimate| weight(h) * (h.mean - mean).powi(2);
        let q = finite(hosts.iter().map(off).sum())?;
        let slope = hosts.iter().map(|h| weight(h) * off(h)).sum();
        Some(Self {
            mean,
            weights,
            q,
            slope,
        })
    }

    /// The squared standard error of the mean: the largest of three.
    ///
    /// - The one that follows from the weights: hosts that happen to agree say nothing against
    ///   their errors.
    /// - The same times how far the hosts lie apart for their errors, after Hartung and Knapp.
    /// - The one that trusts no weight. Errors are known from a few blocks: a host whose error came
    ///   out small by chance weighs too much, which the other two do not see. With 20 hosts and
    ///   more the interval would cover some 93 %.
    fn error2(&self, hosts: &[HostEstimate], between2: f64) -> Option<f64> {
        let factor = (self.q / (count(hosts) - 1.0)).max(1.0);
        let share = |h: &HostEstimate| 1.0 / (h.error.powi(2) + between2) / self.weights;
        let off = |h: &HostEstimate| share(h).powi(2) / (1.0 - share(h)) * (h.mean - self.mean).powi(2);
        let robust: f64 = hosts.iter().map(off).sum();
        finite((factor / self.weights).max(robust))
    }
}

/// The variance between hosts at which the weighted squares come to so much; `from`, no larger
/// than that, where they come to less there.
///
/// The squares are convex in the variance and fall with it, so that Newton's steps from the left
/// never go too far. Their slope is that at a fixed mean, which is where they are least.
fn between_from(hosts: &[HostEstimate], squares: f64, from: f64) -> Option<f64> {
    let mut between2 = from;
    if from == 0.0 && hosts.iter().any(|h| h.error == 0.0) {
        // A host without error has all the weight there is without a variance between hosts.
        between2 = finite(spread2(hosts)).filter(|s| *s > 0.0)? * 1e-12;
    }
    for _ in 0..100 {
        let fit = Fit::of(hosts, between2)?;
        let step = (fit.q - squares) / fit.slope;
        if fit.q <= squares || step <= 1e-13 * between2 {
            break;
        }
        between2 = finite(between2 + step)?;
    }
    Some(between2)
}

/// The square of the range of the means.
fn spread2(hosts: &[HostEstimate]) -> f64 {
    let means = || hosts.iter().map(|h| h.mean);
    (means().fold(f64::NEG_INFINITY, f64::max) - means().fold(f64::INFINITY, f64::min)).powi(2)
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
    }

    #[test]
    fn the_next_of_hosts_without_errors_lies_where_the_next_value_of_a_sample_does() {
        for means in [
            vec![1.0, 2.0, 3.0],
            vec![4.0, 1.0, 2.5, 2.0, 3.0, 0.5, 2.25, 1.75],
        ] {
            let exact: Vec<(f64, f64)> = means.iter().map(|mean| (*mean, 0.0)).collect();
            let found = across_hosts(&hosts(&exact), 0.95).unwrap();
            let n = count(&means);
            let spread = crate::sd(&means).unwrap() * (1.0 + 1.0 / n).sqrt();
            let half = t_quantile(0.975, means.len() - 1).unwrap() * spread;
            // Fifty variances stand for all of them.
            let ratio = (found.next.high - found.mean) / half;
            assert!((0.99..1.02).contains(&ratio), "{n} hosts: {ratio}");
            let middle = f64::midpoint(found.next.low, found.next.high);
            assert!((middle - found.mean).abs() < 1e-6, "{found:?}");
        }
    }

    #[test]
    fn the_next_host_lies_no_nearer_than_the_mean_may_and_as_far_off_as_hosts_may_differ() {
        let four = [(1.0, 0.5), (1.4, 0.5), (0.6, 0.5), (1.1, 0.5)];
        let found = across_hosts(&hosts(&four), 0.95).unwrap();
        assert!(found.between.abs() < 1e-12, "{found:?}");
        assert!(found.next.low <= found.interval.low && found.next.high >= found.interval.high);
        // Forty that lie apart as far as their errors let one expect may still differ a little.
        let four = [(1.0, 0.5), (1.65, 0.5), (0.33, 0.5), (1.1, 0.5)];
        let forty: Vec<(f64, f64)> = four.into_iter().cycle().take(40).collect();
        let found = across_hosts(&hosts(&forty), 0.95).unwrap();
        assert!(found.between.abs() < 1e-12, "{found:?}");
        let half = |interval: Interval| interval.high - found.mean;
        assert!(half(found.next) > 1.5 * half(found.interval), "{found:?}");
    }

    #[test]
    fn the_variance_between_hosts_is_that_at_which_the_squares_come_to_what_is_wanted() {
        let all = hosts(&[(1.0, 0.1), (2.0, 0.5), (3.0, 0.2), (1.5, 0.3), (1.2, 0.05)]);
        for squares in [0.3, 2.0, 4.0, 9.0] {
            let between2 = between_from(&all, squares, 0.0).unwrap();
            let found = Fit::of(&all, between2).unwrap().q;
            assert!((found - squares).abs() < 1e-9, "{found}, not {squares}");
        }
        assert_eq!(between_from(&all, 1e9, 0.0), Some(0.0));
    }

    #[test]
    fn a_host_of_much_weight_that_lies_off_counts_more_than_by_the_weights() {
        let mut all = hosts(&[(1.0, 0.4); 5]);
        all.push(HostEstimate {
            mean: 2.0,
            error: 0.2,
        });
        let fit = Fit::of(&all, 0.0).unwrap();
        let by_weights = (fit.q / 5.0).max(1.0) / fit.weights;
        // By hand: shares of 4/9 and 1/9 each, 5/9 and 4/9 off the mean.
        let by_hand =
            5.0 / 9.0 * 16.0 / 81.0 / (5.0 / 9.0) * 5.0 / 9.0 + 5.0 * 1.0 / 81.0 / (8.0 / 9.0) * 16.0 / 81.0;
        let found = fit.error2(&all, 0.0).unwrap();
        assert!((found - by_hand).abs() < 1e-12, "{found}, not {by_hand}");
        assert!(found > 2.0 * by_weights, "{found}, {by_weights}");
    }

    #[test]
    fn what_a_host_says_is_its_mean_with_the_error_of_student_s_t() {
        // The check by bootstrap-t moves an end of these.
        let d = [0.01, 0.011, 0.012, 0.01, 0.013, 0.011, 0.012, 0.01, 0.011, 0.09];
        let question = crate::Question {
            looks: crate::Looks::Allowed,
            margin: None,
            check: Some(1),
        };
        let inference = crate::infer(&d, question).unwrap();
        assert!(inference.ends_moved);
        let found = HostEstimate::of(&inference).unwrap();
        let error = crate::sd(&d).unwrap() / 10.0_f64.sqrt() * inference.widening;
        assert!((found.error / error - 1.0).abs() < 1e-6, "{found:?}, not {error}");
        // Half a cost that was measured may be hidden: the error reaches as far.
        let understated = inference.understated(2.0, None);
        let found = HostEstimate::of(&understated).unwrap();
        assert!(found.error > 1.2 * error, "{found:?}");
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

    #[test]
    fn a_host_unlike_the_others_is_told_from_them_and_hosts_that_differ_alike_are_not() {
        let mut all: Vec<(HostEstimate, usize)> = (0..12)
            .map(|i| {
                let mean = 0.1 + 0.01 * f64::from(i % 4);
                (HostEstimate { mean, error: 0.002 }, 20)
            })
            .collect();
        assert!(p_alike(&all).iter().all(|p| p.unwrap() > 0.05));
        all[7].0.mean = 0.3;
        let p = p_alike(&all);
        assert!(p[7].unwrap() < 1e-6, "{p:?}");
        assert!(
            p.iter().enumerate().all(|(i, p)| i == 7 || p.unwrap() > 0.1),
            "{p:?}"
        );
        assert_eq!(p_alike(&all[..3]), [None; 3]);
    }
}
