//! What holds for any input.

use proptest::prelude::*;
use tare_stats::*;

fn positive() -> impl Strategy<Value = f64> {
    (-20.0..20.0_f64).prop_map(f64::exp)
}

fn pairs() -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop::collection::vec((positive(), positive()), 2..40)
}

fn logs(pairs: &[(f64, f64)]) -> Vec<f64> {
    pairs.iter().filter_map(|(a, b)| log_ratio(*a, *b)).collect()
}

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        prop_oneof![
            Just(f64::NAN),
            Just(f64::INFINITY),
            Just(f64::NEG_INFINITY),
            Just(0.0),
            Just(-0.0),
            Just(f64::MAX),
            Just(f64::MIN_POSITIVE)
        ],
        -1e3..1e3,
    ]
}

/// Mostly sound, so that several at once are.
fn extreme() -> impl Strategy<Value = f64> {
    prop_oneof![
        1 => any_number(),
        2 => prop_oneof![Just(0.0), Just(1e-150), Just(1e150), Just(1.0)],
        9 => -1e3..1e3,
    ]
}

/// Every estimate of one series, for what must hold of all of them.
fn everything(values: &[f64]) -> Vec<Option<f64>> {
    let estimate = t_estimate(values, LEVEL, 1.0);
    vec![
        mean(values),
        sd(values),
        cv(values),
        median(values),
        skewness(values),
        lag1(values),
        autocorrelation(values).map(|a| a.widening),
        amount_interval(values, LEVEL).map(|i| i.low),
        amount_interval(values, LEVEL).map(|i| i.high),
        estimate.map(|e| e.interval.low),
        estimate.map(|e| e.interval.high),
        estimate.and_then(TEstimate::p_zero),
        estimate.and_then(|e| e.p_within(0.01)),
        correlation(values, values),
        ratio_of_means(values, values, LEVEL, 1.0).map(|r| r.interval.high),
    ]
}

proptest! {
    #[test]
    fn a_fit_over_sizes_is_finite_or_absent(
        cpus in prop::collection::vec(any_number(), 0..6),
        blocks in prop::collection::vec(prop::collection::vec(any_number(), 0..6), 0..12),
    ) {
        if let Some(fit) = size_fit(&cpus, &blocks, LEVEL) {
            let ends = [fit.pto, fit.pso].map(|e| e.interval);
            prop_assert!(ends.iter().all(|i| i.low.is_finite() && i.low <= i.high));
            prop_assert!(fit.p_fits.is_none_or(|p| (0.0..=1.0).contains(&p)));
        }
        let series = size_series(&blocks);
        prop_assert!(series.is_none_or(|s| s.excess.iter().all(|e| e.len() == blocks.len())));
    }
}

proptest! {
    #[test]
    fn what_several_hosts_say_is_finite_or_absent_and_the_next_may_lie_where_the_mean_may(
        hosts in prop::collection::vec((extreme(), extreme().prop_map(f64::abs)), 0..8),
    ) {
        let hosts: Vec<HostEstimate> =
            hosts.into_iter().map(|(mean, error)| HostEstimate { mean, error }).collect();
        if let Some(found) = across_hosts(&hosts, LEVEL) {
            let figures = [found.mean, found.between, found.error, found.next.low, found.next.high];
            prop_assert!(figures.iter().all(|figure| figure.is_finite()), "{found:?}");
            prop_assert!(found.next.low <= found.interval.low && found.interval.high <= found.next.high);
            prop_assert!(found.interval.contains(found.mean));
        }
    }

    #[test]
    fn several_hosts_scale_and_shift_with_their_figures(
        hosts in prop::collection::vec((-1.0..1.0_f64, 0.01..1.0_f64), 3..12),
        factor in 0.1..10.0_f64,
        shift in -1.0..1.0_f64,
    ) {
        let of = |factor: f64, shift: f64| {
            let host = |&(mean, error)| HostEstimate { mean: factor * mean + shift, error: factor * error };
            across_hosts(&hosts.iter().map(host).collect::<Vec<_>>(), LEVEL).unwrap()
        };
        let (plain, moved) = (of(1.0, 0.0), of(factor, shift));
        close(moved.mean, factor * plain.mean + shift);
        close(moved.error, factor * plain.error);
        prop_assert!((moved.next.high - factor * plain.next.high - shift).abs() < 1e-6 * factor);
    }
}

#[track_caller]
fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs())), "{a} {b}");
}

proptest! {
    #[test]
    fn whatever_is_given_a_figure_is_finite_or_absent(values in prop::collection::vec(any_number(), 0..30)) {
        for figure in everything(&values).into_iter().flatten() {
            prop_assert!(figure.is_finite());
        }
        for p in holm(&values.iter().map(|v| Some(*v)).collect::<Vec<_>>()).into_iter().flatten() {
            prop_assert!((0.0..=1.0).contains(&p));
        }
    }

    #[test]
    fn one_bad_value_makes_every_figure_absent(
        mut values in prop::collection::vec(-1e3..1e3, 0..30),
        at in any::<prop::sample::Index>(),
        bad in prop_oneof![Just(f64::NAN), Just(f64::INFINITY)],
    ) {
        values.insert(at.index(values.len() + 1), bad);
        prop_assert_eq!(everything(&values), vec![None; 15]);
    }

    #[test]
    fn the_mean_of_amounts_lies_in_its_interval_above_nought_whatever_the_unit(
        mut values in prop::collection::vec(0.0..1e3, 3..30),
        unit in positive(),
    ) {
        values[0] += 1.0;
        let found = amount_interval(&values, LEVEL).unwrap();
        prop_assert!(found.low > 0.0 && found.contains(mean(&values).unwrap()));
        let scaled: Vec<f64> = values.iter().map(|value| value * unit).collect();
        let scaled = amount_interval(&scaled, LEVEL).unwrap();
        close(scaled.low / unit, found.low);
        close(scaled.high / unit, found.high);
    }

    #[test]
    fn the_interval_holds_its_mean_and_grows_with_the_level(pairs in pairs()) {
        let d = logs(&pairs);
        let narrow = t_estimate(&d, 0.9, 1.0).unwrap();
        let wide = t_estimate(&d, 0.95, 1.0).unwrap();
        prop_assert!(narrow.interval.contains(narrow.mean));
        prop_assert!(wide.interval.low <= narrow.interval.low && narrow.interval.high <= wide.interval.high);
    }

    #[test]
    fn p_and_interval_agree_on_nought(values in prop::collection::vec(-1.0..1.0, 2..40), widening in 1.0..4.0) {
        let e = t_estimate(&values, LEVEL, widening).unwrap();
        let p = e.p_zero().unwrap();
        prop_assume!((p - 0.05).abs() > 1e-9);
        prop_assert_eq!(p < 0.05, !e.interval.contains(0.0));
    }

    #[test]
    fn turning_times_into_rates_flips_the_sign(pairs in pairs()) {
        let times = t_estimate(&logs(&pairs), LEVEL, 1.0).unwrap();
        let rates: Vec<_> = pairs.iter().map(|(a, b)| (1.0 / a, 1.0 / b)).collect();
        let rates = t_estimate(&logs(&rates), LEVEL, 1.0).unwrap();
        close(times.mean, -rates.mean);
        close(times.interval.low, -rates.interval.high);
        close(times.p_zero().unwrap(), rates.p_zero().unwrap());
    }

    #[test]
    fn ratios_do_not_depend_on_the_unit(pairs in pairs(), unit in positive()) {
        let scaled: Vec<_> = pairs.iter().map(|(a, b)| (a * unit, b * unit)).collect();
        close(
            t_estimate(&logs(&pairs), LEVEL, 1.0).unwrap().interval.low,
            t_estimate(&logs(&scaled), LEVEL, 1.0).unwrap().interval.low,
        );
        let ratio = |pairs: &[(f64, f64)]| {
            let (x, y): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
            ratio_of_means(&x, &y, LEVEL, 1.0).unwrap()
        };
        let (one, other) = (ratio(&pairs), ratio(&scaled));
        prop_assert!((one.ratio / other.ratio - 1.0).abs() < 1e-9);
        prop_assert!(one.interval.contains(one.ratio));
    }

    #[test]
    fn holm_never_lowers_a_p_value_and_keeps_the_order(p in prop::collection::vec(0.0..=1.0_f64, 0..30)) {
        let adjusted = holm(&p.iter().copied().map(Some).collect::<Vec<_>>());
        for (i, a) in adjusted.iter().enumerate() {
            prop_assert!(a.unwrap() >= p[i]);
            for (j, b) in adjusted.iter().enumerate() {
                prop_assert!(p[i] > p[j] || a.unwrap() <= b.unwrap());
            }
        }
    }
}

#[test]
fn too_few_values_give_no_figure() {
    assert_eq!(everything(&[]), vec![None; 15]);
    assert_eq!(mean(&[2.0]), Some(2.0));
    assert_eq!(median(&[2.0]), Some(2.0));
    for figure in [sd(&[2.0]), cv(&[2.0]), skewness(&[2.0]), lag1(&[2.0])] {
        assert_eq!(figure, None);
    }
    assert_eq!(t_estimate(&[2.0], LEVEL, 1.0), None);
    assert_eq!(ratio_of_means(&[2.0], &[1.0], LEVEL, 1.0), None);
    assert_eq!(ratio_of_means(&[2.0, 3.0], &[1.0], LEVEL, 1.0), None);
    assert_eq!(t_quantile(0.975, 0), None);
    assert_eq!(log_ratio(0.0, 1.0), None);
    assert_eq!(log_ratio(1.0, f64::INFINITY), None);
}
