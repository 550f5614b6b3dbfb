//! Ratios of quantiles, where a mean does not tell the whole.

use crate::bootstrap::tail_rank;
use crate::draws::{Draws, RESAMPLES};
use crate::{Interval, finite, sd};
use statrs::function::erf::{erfc, erfc_inv};
use std::f64::consts::SQRT_2;

/// Quantiles that are told.
const TOLD: [f64; 3] = [0.5, 0.9, 0.99];

/// Values to be expected beyond a quantile, without which it is one value's whim.
const BEYOND: f64 = 2.0;

/// Pairs below which the interval is approximate only.
const EXACT_FROM: usize = 30;

/// A quantile of one series over that of another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuantileRatio {
    /// Which quantile: 0.9 for the value that 9 of 10 stay below.
    pub quantile: f64,
    pub ratio: f64,
    pub interval: Interval,
    /// Whether the interval is approximate: fewer than 30 pairs.
    pub approximate: bool,
}

/// Ratios of quantiles of pairs (`x[i]`, `y[i]`), all positive: of p50, p90 and p99
/// those beyond which at least 2 values are to be expected.
///
/// Quantiles by linear interpolation (type 7 of Hyndman and Fan 1996, the default
/// of R and NumPy). Intervals by the BCa bootstrap on the log of the ratio, pairs
/// drawn together (Efron and Tibshirani 1993, chapter 14.3), 2,000 resamples from
/// `seed`. They are not widened by autocorrelation.
pub fn quantile_ratios(x: &[f64], y: &[f64], level: f64, seed: u64) -> Vec<QuantileRatio> {
    let (Some(x), Some(y)) = (Sorted::new(x), Sorted::new(y)) else {
        return Vec::new();
    };
    let n = x.values.len();
    if n != y.values.len() {
        return Vec::new();
    }
    #[expect(clippy::cast_precision_loss, reason = "no slice has 2^52 values")]
    let told = TOLD.into_iter().filter(|q| n as f64 * (1.0 - q) >= BEYOND - 1e-9);
    let told: Vec<f64> = told.collect();
    let drawn = resample(&x, &y, &told, seed);
    told.iter()
        .zip(drawn)
        .filter_map(|(q, drawn)| ratio(&x, &y, *q, drawn, level))
        .collect()
}

/// A series in rising order, and the place of each value in it.
struct Sorted {
    values: Vec<f64>,
    /// `order[k]` is the index of the k-th value in the series.
    order: Vec<usize>,
    /// `rank[i]` is the place of the i-th value of the series.
    rank: Vec<usize>,
}

impl Sorted {
    fn new(series: &[f64]) -> Option<Self> {
        if !series.iter().all(|v| *v > 0.0 && v.is_finite()) {
            return None;
        }
        let mut order: Vec<usize> = (0..series.len()).collect();
        order.sort_by(|a, b| series[*a].total_cmp(&series[*b]));
        let mut rank = vec![0; order.len()];
        for (place, index) in order.iter().enumerate() {
            rank[*index] = place;
        }
        Some(Self {
            values: order.iter().map(|i| series[*i]).collect(),
            order,
            rank,
        })
    }

    /// The log of a quantile.
    fn quantile(&self, q: f64) -> f64 {
        Place::of(q, self.values.len()).between(|k| self.values[k])
    }

    /// The same without the value `left_out` of the series.
    fn quantile_without(&self, q: f64, left_out: usize) -> f64 {
        let gap = self.rank[left_out];
        let at = |k| self.values[if k < gap { k } else { k + 1 }];
        Place::of(q, self.values.len() - 1).between(at)
    }

    /// The same of a resample, given how often each value of the series is in it.
    fn quantile_of(&self, q: f64, times: &[usize]) -> f64 {
        let place = Place::of(q, times.len());
        let (mut passed, mut k) = (0, 0);
        let at = |wanted| {
            while passed + times[self.order[k]] <= wanted {
                passed += times[self.order[k]];
                k += 1;
            }
            self.values[k]
        };
        place.between(at)
    }
}

/// Where a quantile lies among n values in rising order: (n - 1) q from the first.
struct Place {
    below: usize,
    above: usize,
    share: f64,
}

impl Place {
    #[expect(clippy::cast_precision_loss, reason = "no slice has 2^52 values")]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and n"
    )]
    fn of(q: f64, n: usize) -> Self {
        let place = (n - 1) as f64 * q;
        let below = place as usize;
        Self {
            below,
            above: (below + 1).min(n - 1),
            share: place - below as f64,
        }
    }

    /// The log of the value there; `at` is asked in rising order.
    fn between(&self, mut at: impl FnMut(usize) -> f64) -> f64 {
        let below = at(self.below);
        (below + (at(self.above) - below) * self.share).ln()
    }
}

/// For each quantile the log of its ratio in every resample.
fn resample(x: &Sorted, y: &Sorted, told: &[f64], seed: u64) -> Vec<Vec<f64>> {
    let n = x.values.len();
    let mut drawn = vec![Vec::with_capacity(RESAMPLES); told.len()];
    if told.is_empty() {
        return drawn;
    }
    let mut draws = Draws::new(seed, n);
    let mut times = vec![0; n];
    for _ in 0..RESAMPLES {
        times.fill(0);
        for index in draws.resample() {
            times[*index as usize] += 1;
        }
        for (q, drawn) in told.iter().zip(&mut drawn) {
            drawn.push(x.quantile_of(*q, &times) - y.quantile_of(*q, &times));
        }
    }
    drawn
}

fn ratio(x: &Sorted, y: &Sorted, q: f64, mut drawn: Vec<f64>, level: f64) -> Option<QuantileRatio> {
    let n = x.values.len();
    let log = x.quantile(q) - y.quantile(q);
    drawn.sort_unstable_by(f64::total_cmp);
    let shift = shift(&drawn, log)?;
    let without = |i| x.quantile_without(q, i) - y.quantile_without(q, i);
    let acceleration = acceleration(&(0..n).map(without).collect::<Vec<_>>());
    let end = |z: f64| {
        let z = shift + (shift + z) / (1.0 - acceleration * (shift + z));
        finite(drawn[tail_rank(drawn.len(), erfc(-z / SQRT_2) / 2.0)].exp())
    };
    let z = SQRT_2 * erfc_inv(1.0 - level);
    Some(QuantileRatio {
        quantile: q,
        ratio: finite(log.exp())?,
        interval: Interval {
            low: end(-z)?,
            high: end(z)?,
        },
        approximate: n < EXACT_FROM,
    })
}

/// The normal quantile of the share of resamples below the estimate, of those equal
/// to it one half: quantiles of few values repeat themselves.
fn shift(drawn: &[f64], log: f64) -> Option<f64> {
    let below = drawn.partition_point(|d| *d < log);
    let up_to = drawn.partition_point(|d| *d <= log);
    #[expect(clippy::cast_precision_loss, reason = "at most 2,000")]
    let share = (below + up_to) as f64 / (2 * drawn.len()) as f64;
    finite(-SQRT_2 * erfc_inv(2.0 * share))
}

/// From the estimates that leave out one pair each: a sixth of their skewness, over
/// the square root of their number, turned. 0 where they are all one.
fn acceleration(without: &[f64]) -> f64 {
    if sd(without).is_none_or(|sd| sd == 0.0) {
        return 0.0;
    }
    let n = crate::count(without);
    crate::skewness(without).map_or(0.0, |g1| -g1 / (6.0 * n.sqrt()))
}
