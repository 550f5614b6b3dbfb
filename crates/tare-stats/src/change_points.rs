//! Where a series changes: E-divisive, after Matteson and James, "A nonparametric approach for
//! multiple change point analysis of multivariate data" (2014), with distances to the first power.
//!
//! A split of a stretch is worth mn/(m + n) (2 E|X - Y| - E|X - X'| - E|Y - Y'|); the best split of
//! all stretches is a change if few orders of the values within their stretches split as well.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// A place in a series from which on it is another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// The first value after the change.
    pub at: usize,
    /// The share of orders of the values that split as well.
    pub p: f64,
}

/// Orders that are drawn for each test: p is told in steps of 1/400.
const ORDERS: u32 = 399;

/// The changes of a series, in order: each has p of at most `alpha`, and at least `fewest` values on
/// either side up to its neighbours. The same seed gives the same answer. Empty where a value is
/// not finite.
pub fn change_points(values: &[f64], fewest: usize, alpha: f64, seed: u64) -> Vec<ChangePoint> {
    let fewest = fewest.max(2);
    if !values.iter().all(|v| v.is_finite()) {
        return Vec::new();
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut found: Vec<ChangePoint> = Vec::new();
    loop {
        let stretches = stretches(&found, values.len());
        let Some((at, worth)) = best(values, &stretches, fewest) else {
            break;
        };
        let as_good = (0..ORDERS).filter(|_| {
            let mut other = values.to_vec();
            stretches
                .iter()
                .for_each(|&(from, to)| other[from..to].shuffle(&mut random));
            best(&other, &stretches, fewest).is_some_and(|(_, other)| other >= worth)
        });
        #[expect(clippy::cast_precision_loss, reason = "hundreds")]
        let p = (as_good.count() + 1) as f64 / f64::from(ORDERS + 1);
        if p > alpha {
            break;
        }
        found.push(ChangePoint { at, p });
        found.sort_by_key(|change| change.at);
    }
    found
}

fn stretches(found: &[ChangePoint], end: usize) -> Vec<(usize, usize)> {
    let from = std::iter::once(0).chain(found.iter().map(|c| c.at));
    let to = found.iter().map(|c| c.at).chain([end]);
    from.zip(to).collect()
}

/// The best split of all stretches, with what it is worth.
fn best(values: &[f64], stretches: &[(usize, usize)], fewest: usize) -> Option<(usize, f64)> {
    let splits = stretches.iter().filter_map(|&(from, to)| {
        let (at, worth) = split(&values[from..to], fewest)?;
        Some((from + at, worth))
    });
    splits.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The best split of one stretch. Sums of distances are carried from split to split.
fn split(values: &[f64], fewest: usize) -> Option<(usize, f64)> {
    let n = values.len();
    if n < 2 * fewest {
        return None;
    }
    let to_before: Vec<f64> = (0..n).map(|i| distances(values[i], &values[..i])).collect();
    let to_after: Vec<f64> = (0..n).map(|i| distances(values[i], &values[i + 1..])).collect();
    let mut within_left: f64 = to_before[..fewest].iter().sum();
    let mut within_right: f64 = to_after[fewest..].iter().sum();
    let all: f64 = to_before.iter().sum();
    let mut best: Option<(usize, f64)> = None;
    for at in fewest..=n - fewest {
        if at > fewest {
            within_left += to_before[at - 1];
            within_right -= to_after[at - 1];
        }
        let worth = worth(
            at,
            n - at,
            within_left,
            within_right,
            all - within_left - within_right,
        );
        if best.is_none_or(|(_, known)| worth > known) {
            best = Some((at, worth));
        }
    }
    best
}

fn distances(value: f64, others: &[f64]) -> f64 {
    others.iter().map(|other| (value - other).abs()).sum()
}

#[expect(clippy::cast_precision_loss, reason = "no slice has 2^52 values")]
fn worth(m: usize, n: usize, within_left: f64, within_right: f64, between: f64) -> f64 {
    let (m, n) = (m as f64, n as f64);
    let mean_within = |sum: f64, of: f64| 2.0 * sum / (of * (of - 1.0));
    let energy = 2.0 * between / (m * n) - mean_within(within_left, m) - mean_within(within_right, n);
    m * n / (m + n) * energy
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of 1 with a little of the golden ratio's noise.
    fn series(levels: &[(usize, f64)]) -> Vec<f64> {
        let all = levels
            .iter()
            .flat_map(|(n, level)| std::iter::repeat_n(*level, *n));
        let noise = (1_u32..).map(|i| (f64::from(i) * 0.618_034).fract() - 0.5);
        all.zip(noise).map(|(level, noise)| level + 0.2 * noise).collect()
    }

    fn places(values: &[f64]) -> Vec<usize> {
        change_points(values, 3, 0.01, 7).iter().map(|c| c.at).collect()
    }

    #[test]
    fn steps_are_found_where_they_are() {
        assert_eq!(places(&series(&[(20, 1.0), (15, 2.0), (25, 1.5)])), [20, 35]);
    }

    #[test]
    fn noise_alone_has_no_change() {
        assert_eq!(places(&series(&[(60, 1.0)])), Vec::<usize>::new());
        assert_eq!(places(&[]), Vec::<usize>::new());
        assert_eq!(places(&[1.0; 30]), Vec::<usize>::new());
        assert_eq!(places(&[1.0, f64::NAN, 2.0, 3.0, 4.0, 5.0]), Vec::<usize>::new());
    }

    #[test]
    fn carried_sums_are_those_of_all_distances() {
        let values = series(&[(5, 1.0), (6, 3.0)]);
        let plain = |at: usize| {
            let (left, right) = values.split_at(at);
            let sum = |a: &[f64], b: &[f64]| a.iter().map(|x| distances(*x, b)).sum::<f64>();
            worth(
                at,
                right.len(),
                sum(left, left) / 2.0,
                sum(right, right) / 2.0,
                sum(left, right),
            )
        };
        let best = (2..=9)
            .map(|at| (at, plain(at)))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let found = split(&values, 2);
        assert_eq!(found.map(|f| f.0), best.map(|b| b.0));
        assert!(found.zip(best).is_some_and(|(f, b)| (f.1 - b.1).abs() < 1e-9));
    }
}
