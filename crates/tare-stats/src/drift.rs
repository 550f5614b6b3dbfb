//! Steps told from drift: where neighbours of a series are alike, its highs and lows pass for changes.

use crate::linear::{cholesky, solve};
use crate::{ChangePoint, count, lag1};

/// Correlations of neighbours that are tried, from 0 to 1.
const CORRELATIONS: u32 = 20;

/// Which changes of a series are steps, and whether others are no more than drift.
#[derive(Debug, Clone, PartialEq)]
pub struct Steps {
    /// Those that a series whose neighbours are alike would hardly show, in order.
    pub changes: Vec<ChangePoint>,
    /// The correlation of neighbours between these, where drift alone explains others.
    pub drift: Option<f64>,
}

/// Drops changes, the least likely first, until each one left makes the series more likely by 3 ln n on the
/// scale of chi squared. Compared are two fits with normal noise whose neighbours correlate by what fits best
/// (0 to 1), with and without the change. 3 ln n is the price of a change by Zhang and Siegmund,
/// "A modified Bayes information criterion" (2007).
pub fn steps(values: &[f64], found: Vec<ChangePoint>) -> Steps {
    let price = 3.0 * count(values).ln();
    let mut changes = found;
    let mut has_drift = false;
    while let Some((weakest, gain)) = weakest(values, &changes) {
        if gain >= price {
            break;
        }
        changes.remove(weakest);
        has_drift = true;
    }
    let drift = has_drift.then(|| lag1(&between(values, &changes)).unwrap_or(0.0));
    Steps { changes, drift }
}

/// The change that a series can do without best, and what the series would lose.
fn weakest(values: &[f64], changes: &[ChangePoint]) -> Option<(usize, f64)> {
    let places: Vec<usize> = changes.iter().map(|c| c.at).collect();
    let with = misfit(values, &places);
    let gain = |dropped: usize| {
        let mut others = places.clone();
        others.remove(dropped);
        let ratio = misfit(values, &others) / with;
        // A step between two levels without noise.
        let ratio = if ratio.is_nan() { f64::INFINITY } else { ratio };
        (dropped, (count(values) - 1.0) * ratio.ln())
    };
    (0..places.len()).map(gain).min_by(|a, b| a.1.total_cmp(&b.1))
}

/// The smallest sum of squares that a constant, steps at these places and the value before leave.
fn misfit(values: &[f64], places: &[usize]) -> f64 {
    let correlations = (0..=CORRELATIONS).map(|i| f64::from(i) / f64::from(CORRELATIONS));
    let sums = correlations.filter_map(|r| left_over(values, places, r));
    sums.fold(f64::INFINITY, f64::min)
}

/// The same for one correlation: least squares on the differences x(t) - r x(t - 1).
fn left_over(values: &[f64], places: &[usize], r: f64) -> Option<f64> {
    let is_after = |t: usize, place: usize| f64::from(u8::from(t >= place));
    let row = |t: usize| -> Vec<f64> {
        let steps = places.iter().map(|p| is_after(t, *p) - r * is_after(t - 1, *p));
        std::iter::once(1.0).chain(steps).collect()
    };
    let rows: Vec<Vec<f64>> = (1..values.len()).map(row).collect();
    let y: Vec<f64> = values.windows(2).map(|w| w[1] - r * w[0]).collect();
    let terms = 0..=places.len();
    let product = |i: usize, j: usize| rows.iter().map(|row| row[i] * row[j]).sum::<f64>();
    let matrix: Vec<Vec<f64>> = terms
        .clone()
        .map(|i| terms.clone().map(|j| product(i, j)).collect())
        .collect();
    let moments: Vec<f64> = terms
        .map(|i| rows.iter().zip(&y).map(|(row, y)| row[i] * y).sum())
        .collect();
    let fit = solve(&cholesky(&matrix)?, &moments);
    let rest = |(row, y): (&Vec<f64>, &f64)| y - row.iter().zip(&fit).map(|(x, b)| x * b).sum::<f64>();
    Some(rows.iter().zip(&y).map(|pair| rest(pair).powi(2)).sum())
}

/// The series without its steps.
fn between(values: &[f64], changes: &[ChangePoint]) -> Vec<f64> {
    let ends = changes.iter().map(|c| c.at).chain([values.len()]);
    let mut from = 0;
    let mut rest = Vec::with_capacity(values.len());
    for end in ends {
        let level = crate::mean(&values[from..end]).unwrap_or(0.0);
        rest.extend(values[from..end].iter().map(|value| value - level));
        from = end;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CHANGE_LEVEL, FEWEST_AROUND_CHANGE, change_points};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn found(values: &[f64]) -> Vec<ChangePoint> {
        change_points(values, FEWEST_AROUND_CHANGE, CHANGE_LEVEL, 1)
    }

    /// Noise about uniform, each value correlated by `r` with the one before.
    fn wander(seed: u64, n: usize, r: f64) -> Vec<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut value = 0.0;
        let mut next = || {
            value = r * value + random.random::<f64>() - 0.5;
            value
        };
        // The first ones remember where they began.
        (0..n + 50).map(|_| next()).skip(50).collect()
    }

    #[test]
    fn highs_and_lows_of_a_drift_are_no_steps() {
        let series: Vec<Vec<f64>> = (0..60).map(|seed| wander(seed, 30, 0.9)).collect();
        let changing: Vec<&Vec<f64>> = series.iter().filter(|values| !found(values).is_empty()).collect();
        assert!(changing.len() > 40, "{}", changing.len());
        let judged: Vec<Steps> = changing.iter().map(|v| steps(v, found(v))).collect();
        let wrong = judged.iter().filter(|s| !s.changes.is_empty()).count();
        assert!(wrong <= 12, "{wrong} of 60");
        let silent = judged
            .iter()
            .filter(|s| s.changes.is_empty() && s.drift.is_none());
        assert_eq!(silent.count(), 0);
    }

    #[test]
    fn a_step_between_independent_runs_stays_one() {
        for seed in 0..40 {
            let mut values = wander(seed, 20, 0.0);
            values[12..].iter_mut().for_each(|value| *value += 2.0);
            let all = found(&values);
            assert_eq!(
                steps(&values, all.clone()),
                Steps {
                    changes: all,
                    drift: None
                }
            );
        }
    }

    #[test]
    fn a_step_stands_out_from_a_drift() {
        let alone = (0..20).filter(|seed| {
            let mut values = wander(*seed, 30, 0.9);
            values[15..].iter_mut().for_each(|value| *value += 20.0);
            let left = steps(&values, found(&values)).changes;
            let places: Vec<usize> = left.iter().map(|c| c.at).collect();
            assert!(places.contains(&15), "{seed}: {places:?}");
            places.len() == 1
        });
        let alone = alone.count();
        assert!(alone >= 14, "{alone} of 20");
    }

    #[test]
    fn levels_without_noise_are_steps() {
        let values: Vec<f64> = [[1.0; 12], [2.0; 12]].concat();
        let all = found(&values);
        assert_eq!(all.len(), 1);
        assert_eq!(
            steps(&values, all.clone()),
            Steps {
                changes: all,
                drift: None
            }
        );
        assert_eq!(steps(&[], Vec::new()).changes, []);
    }
}
