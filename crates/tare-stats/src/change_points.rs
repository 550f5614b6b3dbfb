//! Where a series changes: E-divisive, after Matteson and James, "A nonparametric approach for
//! multiple change point analysis of multivariate data" (2014), with distances to the first power.
//!
//! A split of some m + n neighbours into X and Y is worth mn/(m + n) (2 E|X - Y| - E|X - X'| -
//! E|Y - Y'|). X begins where a stretch does; Y ends anywhere in it. The best split of all stretches
//! is a change if few orders of the values within their stretches split as well.

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

/// Values on either side of a change: of two that differ nobody knows which is the odd one.
pub const FEWEST_AROUND_CHANGE: usize = 3;
/// The largest p of a change.
pub const CHANGE_LEVEL: f64 = 0.01;
/// With fewer values than this no change has so small a p but by luck of the orders that are drawn: of
/// the 252 orders of five low and five high ones two split as well as the best, of nine two of 126.
pub const FEWEST_FOR_CHANGE: usize = 10;

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
        // Sums of the same distances in another order differ by their rounding.
        let as_good_from = worth - 1e-9 * worth.abs();
        let p_of = |as_good: u32| f64::from(as_good + 1) / f64::from(ORDERS + 1);
        let mut as_good = 0;
        for _ in 0..ORDERS {
            let mut other = values.to_vec();
            stretches
                .iter()
                .for_each(|&(from, to)| other[from..to].shuffle(&mut random));
            as_good += u32::from(best(&other, &stretches, fewest).is_some_and(|(_, w)| w >= as_good_from));
            // More orders would make p no smaller.
            if p_of(as_good) > alpha {
                return found;
            }
        }
        let p = p_of(as_good);
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

/// The best split of one stretch: all before `at` against what follows, up to any end. A stretch
/// that goes back to where it was has its first change that way, which all that follows would hide.
///
/// Sums of distances are carried from split to split, for each end.
fn split(values: &[f64], fewest: usize) -> Option<(usize, f64)> {
    let n = values.len();
    if n < 2 * fewest {
        return None;
    }
    let mut left = 0.0;
    // Of what lies from `at` to each end: distances within it, and to what lies before `at`.
    let mut right = vec![0.0; n + 1];
    for end in 1..=n {
        right[end] = right[end - 1] + distances(values[end - 1], &values[..end - 1]);
    }
    let mut between = vec![0.0; n + 1];
    let mut best: Option<(usize, f64)> = None;
    for at in 1..=n - fewest {
        let moved = values[at - 1];
        let to_left = distances(moved, &values[..at - 1]);
        left += to_left;
        let mut to_right = 0.0;
        for end in at + 1..=n {
            to_right += (moved - values[end - 1]).abs();
            right[end] -= to_right;
            between[end] += to_right - to_left;
            if at < fewest || end < at + fewest {
                continue;
            }
            let worth = worth(at, end - at, left, right[end], between[end]);
            if best.is_none_or(|(_, known)| worth > known) {
                best = Some((at, worth));
            }
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
    use proptest::prelude::*;

    /// The definition, term by term.
    fn defined(x: &[f64], y: &[f64]) -> f64 {
        let mean_distance = |a: &[f64], b: &[f64], pairs: f64| {
            let all = a.iter().flat_map(|x| b.iter().map(move |y| (x - y).abs()));
            all.sum::<f64>() / pairs
        };
        let (m, n) = (crate::count(x), crate::count(y));
        let apart = 2.0 * mean_distance(x, y, m * n)
            - mean_distance(x, x, m * (m - 1.0))
            - mean_distance(y, y, n * (n - 1.0));
        m * n / (m + n) * apart
    }

    /// What a split at each place is worth at most: every end is tried, and all distances are summed
    /// anew each time.
    fn plain(values: &[f64], fewest: usize) -> Vec<(usize, f64)> {
        let of = |at: usize| {
            let ends = at + fewest..=values.len();
            let worth = ends.map(|end| defined(&values[..at], &values[at..end]));
            (at, worth.fold(f64::NEG_INFINITY, f64::max))
        };
        let last = (values.len() + 1).saturating_sub(fewest);
        (fewest..last).map(of).collect()
    }

    fn places(values: &[f64]) -> Vec<usize> {
        let found = change_points(values, FEWEST_AROUND_CHANGE, CHANGE_LEVEL, 7);
        found.iter().map(|c| c.at).collect()
    }

    /// Steps of 1 with a little of the golden ratio's noise.
    fn series(levels: &[(usize, f64)]) -> Vec<f64> {
        let all = levels
            .iter()
            .flat_map(|(n, level)| std::iter::repeat_n(*level, *n));
        let noise = (1_u32..).map(|i| (f64::from(i) * 0.618_034).fract() - 0.5);
        all.zip(noise).map(|(level, noise)| level + 0.2 * noise).collect()
    }

    #[track_caller]
    fn same(found: f64, right: f64) {
        let off = (found - right).abs();
        assert!(off <= 1e-9 * right.abs().max(1.0), "{found}, not {right}");
    }

    proptest! {
        #[test]
        fn the_best_split_is_that_of_the_definition(
            values in prop::collection::vec(-1.0..1.0_f64, 0..30),
            step in 0.0..2.0_f64,
            from in 0_usize..30,
            fewest in 2_usize..5,
        ) {
            let after = |(i, value): (usize, &f64)| if i < from { *value } else { value + step };
            let values: Vec<f64> = values.iter().enumerate().map(after).collect();
            let plain = plain(&values, fewest);
            let Some((at, worth)) = split(&values, fewest) else {
                prop_assert!(values.len() < 2 * fewest && plain.is_empty());
                return Ok(());
            };
            let best = plain.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
            let (best_at, best_worth) = best.expect("a split");
            same(worth, best_worth);
            // Two places may be worth the same but for rounding.
            let elsewhere = plain.iter().filter(|(place, _)| *place != best_at);
            let next = elsewhere.map(|s| s.1).fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(at == best_at || best_worth - next < 1e-9);
        }

        #[test]
        fn whole_numbers_with_many_ties_are_split_as_by_the_definition(
            values in prop::collection::vec(0_u8..3, 4..25),
        ) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let (at, worth) = split(&values, 2).expect("a split");
            let plain = plain(&values, 2);
            same(worth, plain.iter().map(|s| s.1).fold(f64::NEG_INFINITY, f64::max));
            let there = plain.iter().find(|(place, _)| *place == at).expect("a place");
            same(worth, there.1);
        }
    }

    /// Of `tests/test_detection.py` of mongodb/signal-processing-algorithms: whole numbers drawn from
    /// 1 to 50, 60 to 120 and 150 to 250.
    const DRAWN: [f64; 60] = [
        41.0, 18.0, 23.0, 3.0, 32.0, 11.0, 40.0, 13.0, 29.0, 48.0, 47.0, 35.0, 18.0, 21.0, 6.0, 2.0, 23.0,
        3.0, 4.0, 7.0, 120.0, 103.0, 102.0, 81.0, 71.0, 62.0, 115.0, 61.0, 108.0, 63.0, 70.0, 98.0, 65.0,
        96.0, 64.0, 74.0, 70.0, 113.0, 90.0, 114.0, 208.0, 196.0, 153.0, 150.0, 225.0, 179.0, 206.0, 165.0,
        177.0, 151.0, 218.0, 217.0, 244.0, 245.0, 229.0, 195.0, 225.0, 229.0, 176.0, 250.0,
    ];

    /// What that program says of its series.
    #[test]
    fn what_splits_are_worth_agrees_with_another_program() {
        same(defined(&DRAWN[..20], &DRAWN[20..40]), 893.578_947_368_421);
        same(defined(&DRAWN[..40], &DRAWN[40..]), 2_848.116_959_064_327_6);
        let mut steps = [50.0; 45];
        steps[2] = 100.0;
        steps[15..30].fill(100.0);
        same(defined(&steps[..15], &steps[15..30]), 649.999_999_999_999_9);
        steps[30..].fill(150.0);
        same(defined(&steps[..30], &steps[30..]), 1_209.195_402_298_850_5);
        assert_eq!(split(&DRAWN[..40], 2).map(|found| found.0), Some(20));
    }

    #[test]
    fn changes_are_found_where_other_programs_find_them() {
        assert_eq!(places(&DRAWN), [20, 40]);
        let mut step = [50.0; 30];
        step[15..].fill(100.0);
        assert_eq!(places(&step), [15]);
        step[14] = 74.0;
        assert_eq!(places(&step), [15]);
        step[14] = 76.0;
        assert_eq!(places(&step), [14]);
        // Of `tests/change_point_divisive_test.py` of apache/otava.
        let otava = [
            0.3, 2.4, 1.5, -0.9, -0.5, 99.7, 98.3, 99.1, 149.0, 149.7, 149.5, 149.1, 148.8, 150.0,
        ];
        assert_eq!(places(&otava), [5]);
        // With p up to 1 % it is too few for the second, which is the next best.
        assert_eq!(split(&otava[5..], 3).map(|found| found.0), Some(3));
    }

    #[test]
    fn steps_are_found_where_they_are() {
        assert_eq!(places(&series(&[(12, 1.0), (12, 2.0)])), [12]);
        assert_eq!(places(&series(&[(20, 1.0), (15, 2.0), (25, 1.5)])), [20, 35]);
    }

    #[test]
    fn what_goes_back_to_where_it_was_has_changed_twice() {
        assert_eq!(places(&series(&[(25, 1.0), (4, 2.0), (25, 1.0)])), [25, 29]);
    }

    #[test]
    fn noise_alone_has_no_change() {
        assert_eq!(places(&series(&[(60, 1.0)])), Vec::<usize>::new());
        assert_eq!(places(&[]), Vec::<usize>::new());
        assert_eq!(places(&[1.0; 30]), Vec::<usize>::new());
        assert_eq!(places(&[1.0, f64::NAN, 2.0, 3.0, 4.0, 5.0]), Vec::<usize>::new());
    }

    /// Of the 126 orders of four low and five high values two split as well as the best, whatever the
    /// size of the step. The sums of the second differ from those of the first by their rounding.
    #[test]
    fn p_is_the_share_of_orders_that_split_as_well() {
        let values = series(&[(4, 1.0), (5, 20.0)]);
        let p_values = (0..100).map(|seed| match change_points(&values, 3, 0.1, seed)[..] {
            [ChangePoint { at: 4, p }] => p,
            ref other => panic!("{other:?}"),
        });
        let mean = p_values.sum::<f64>() / 100.0;
        // The order that was seen counts as one of 400.
        let right = (399.0 * 2.0 / 126.0 + 1.0) / 400.0;
        assert!((mean - right).abs() < 0.002, "{mean}, not {right}");
    }
}
