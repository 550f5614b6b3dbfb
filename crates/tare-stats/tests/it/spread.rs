//! Steadiness and quantiles: figures of NumPy 2 and SciPy 1.17, and what holds for
//! any input.

use proptest::prelude::*;
use tare_stats::*;

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-8 * expected.abs().max(1e-12),
        "{found} is not {expected}"
    );
}

fn series(n: u32, value: impl Fn(f64) -> f64) -> Vec<f64> {
    (0..n).map(|i| value(f64::from(i))).collect()
}

#[test]
fn the_steadiness_ratio_agrees_with_its_formula_in_numpy() {
    let x = series(32, |i| {
        (0.03 * (i * 1.7).sin() + 0.01 * (i * 0.9).cos() + 0.002 * i).exp()
    });
    let y = series(32, |i| (0.02 * (i * 2.9 + 1.0).sin() + 0.002 * i).exp());
    let found = steadiness(&x, &y, LEVEL).unwrap();
    near(found.ratio, 1.200_603_213_040_590_1);
    let spread = found.spread.unwrap();
    near(spread.interval.low, 0.846_381_658_649_897_6);
    near(spread.interval.high, 1.703_071_020_540_200_4);
    near(spread.p, 0.267_127_601_923_999_9);
}

#[test]
fn below_thirty_pairs_steadiness_is_a_figure_alone() {
    let x = series(29, |i| 1.0 + 0.1 * (i * 1.7).sin());
    let found = steadiness(&x, &x, LEVEL).unwrap();
    assert_eq!((found.n, found.ratio, found.spread), (29, 1.0, None));
}

#[test]
fn steadiness_is_not_defined_without_noise_or_logs() {
    let x = series(30, |i| 1.0 + 0.1 * (i * 1.7).sin());
    for (a, b) in [
        (&x[..], &[1.0; 30][..]),
        (&[1.0; 30], &x),
        (&x, &x[..20]),
        (&x, &[0.0; 30]),
        (&[], &[]),
    ] {
        assert_eq!(steadiness(a, b, LEVEL), None);
    }
}

/// SciPy's `bootstrap(paired=True, method='BCa')` with 60,000 resamples: 0.9906 to
/// 1.0188 and 1.0010 to 1.1914; with 2,000 its ends move by 0.001.
#[test]
fn ratios_of_quantiles_agree_with_scipy() {
    let x = series(40, |i| {
        let stall = if i % 9.0 == 4.0 { 0.2 } else { 0.0 };
        1.0 + 0.02 * (i * 1.7).sin() + stall + 0.001 * (i % 5.0)
    });
    let y = series(40, |i| 1.0 + 0.02 * (i * 2.9 + 1.0).sin() + 0.001 * (i % 4.0));
    let found = quantile_ratios(&x, &y, LEVEL, 42);
    // With 40 pairs there is less than one value beyond p99.
    let expected = [
        (0.5, 1.002_094_4, 0.9906, 1.0188),
        (0.9, 1.019_923_98, 1.0010, 1.1914),
    ];
    assert_eq!(found.len(), expected.len());
    for (found, (quantile, ratio, low, high)) in found.iter().zip(expected) {
        assert_eq!((found.quantile, found.approximate), (quantile, false));
        assert!((found.ratio - ratio).abs() < 1e-4, "{found:?}");
        assert!((found.interval.low - low).abs() < 2e-3, "{found:?}");
        assert!((found.interval.high - high).abs() < 5e-3, "{found:?}");
    }
}

#[test]
fn quantiles_are_told_where_values_lie_beyond_them() {
    let told = |n| {
        let x = series(n, |i| 1.0 + 0.1 * (i * 1.7).sin());
        let ratios = quantile_ratios(&x, &x, LEVEL, 1);
        let told: Vec<f64> = ratios.iter().map(|r| r.quantile).collect();
        (told, ratios.iter().all(|r| r.approximate))
    };
    assert_eq!(told(19), (vec![0.5], true));
    assert_eq!(told(20), (vec![0.5, 0.9], true));
    assert_eq!(told(200), (vec![0.5, 0.9, 0.99], false));
    assert_eq!(told(0).0, Vec::<f64>::new());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn steadiness_ignores_units_and_turns_with_its_cells(
        pairs in prop::collection::vec((0.1..10.0_f64, 0.1..10.0_f64), 30..50),
        unit in 1e-6..1e6_f64,
    ) {
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let scaled: Vec<f64> = x.iter().map(|v| v * unit).collect();
        let (one, other) = (steadiness(&x, &y, LEVEL).unwrap(), steadiness(&y, &scaled, LEVEL).unwrap());
        prop_assert!((one.ratio * other.ratio - 1.0).abs() < 1e-6);
        let (one, other) = (one.spread.unwrap(), other.spread.unwrap());
        prop_assert!((one.interval.low * other.interval.high - 1.0).abs() < 1e-6);
        prop_assert!((one.p - other.p).abs() < 1e-6);
    }

    /// A rate has the noise of its time.
    #[test]
    fn steadiness_is_the_same_of_times_and_rates(pairs in prop::collection::vec((0.1..10.0_f64, 0.1..10.0_f64), 30..50)) {
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().map(|(x, y)| (1.0 / x, 1.0 / y)).unzip();
        let (times, rates) = (steadiness(&x, &y, LEVEL).unwrap(), steadiness(&a, &b, LEVEL).unwrap());
        prop_assert!((times.ratio / rates.ratio - 1.0).abs() < 1e-9);
    }

    #[test]
    fn whatever_is_given_figures_are_finite(values in prop::collection::vec(
        (prop_oneof![any::<f64>(), 0.5..2.0_f64], prop_oneof![Just(1.0), 0.5..2.0_f64]), 0..60), seed in any::<u64>()) {
        let (x, y): (Vec<f64>, Vec<f64>) = values.into_iter().unzip();
        if let Some(found) = steadiness(&x, &y, LEVEL) {
            prop_assert!(found.ratio.is_finite());
        }
        for found in quantile_ratios(&x, &y, LEVEL, seed) {
            prop_assert!(found.ratio.is_finite() && found.interval.low <= found.interval.high);
        }
    }

    #[test]
    fn a_ratio_of_quantiles_ignores_units(pairs in prop::collection::vec((0.1..10.0_f64, 0.1..10.0_f64), 20..50)) {
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let scaled: Vec<f64> = x.iter().map(|v| v * 8.0).collect();
        for (one, other) in quantile_ratios(&x, &y, LEVEL, 7).iter().zip(quantile_ratios(&scaled, &y, LEVEL, 7)) {
            prop_assert!((one.ratio * 8.0 / other.ratio - 1.0).abs() < 1e-9);
            prop_assert!((one.interval.low * 8.0 / other.interval.low - 1.0).abs() < 1e-6);
        }
    }
}
