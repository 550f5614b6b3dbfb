//! Figures of other programs. Unless said otherwise: Python, NumPy 2 and SciPy
//! 1.17 on the two series below.

use tare_stats::*;

const X: [f64; 10] = [10.1, 9.8, 10.4, 10.0, 9.9, 10.6, 10.2, 9.7, 10.3, 10.05];
const Y: [f64; 10] = [9.0, 9.1, 9.4, 8.8, 9.05, 9.3, 9.2, 8.9, 9.15, 9.25];

/// Differences near 0, for the tests on them.
const D: [f64; 10] = [
    0.004, -0.002, 0.007, 0.001, -0.003, 0.006, 0.002, 0.0, 0.005, -0.001,
];

#[track_caller]
fn near(found: Option<f64>, expected: f64) {
    let found = found.expect("a figure");
    let off = (found - expected).abs() / expected.abs().max(1e-12);
    assert!(off < 1e-8, "{found} is not {expected}");
}

#[test]
fn moments_agree_with_numpy() {
    near(mean(&X), 10.105);
    near(sd(&X), 0.277_338_541_617_761_17);
    near(cv(&X), 0.027_445_674_578_699_772);
    near(median(&X), 10.075);
    near(median(&[3.0, 1.0, 2.0]), 2.0);
    near(skewness(&X), 0.277_211_296_531_766_96);
}

#[test]
fn quantiles_of_t_agree_with_scipy() {
    for (p, df, expected) in [
        (0.975, 1, 12.706_204_736_174_694),
        (0.975, 2, 4.302_652_729_749_462),
        (0.975, 9, 2.262_157_162_798_205),
        (0.975, 29, 2.045_229_642_132_703),
        (0.98, 9, 2.398_440_984_856_505_6),
        (0.999, 59, 3.234_207_344_447_292_5),
        (0.025, 9, -2.262_157_162_798_205),
        (0.975, 1000, 1.962_339_080_826_408_3),
    ] {
        near(t_quantile(p, df), expected);
    }
    // The incomplete beta function of statrs loses digits for very long series: harmless here.
    assert!((t_quantile(0.975, 99_999).unwrap() - 1.959_987_707_771_844_2).abs() < 1e-5);
}

#[test]
fn the_t_interval_agrees_with_scipy() {
    let e = t_estimate(&X, 0.95, 1.0).unwrap();
    near(Some(e.interval.low), 9.906_603_958_961_9);
    near(Some(e.interval.high), 10.303_396_041_038_097);
}

#[test]
fn the_paired_t_test_on_logs_agrees_with_scipy() {
    let d: Vec<f64> = X.iter().zip(Y).map(|(x, y)| log_ratio(*x, y).unwrap()).collect();
    let e = t_estimate(&d, 0.95, 1.0).unwrap();
    near(Some(e.mean), 0.102_955_585_136_887_52);
    near(Some(e.interval.low), 0.088_884_719_929_757_92);
    near(Some(e.interval.high), 0.117_026_450_344_017_11);
    near(e.p_zero(), 4.783_714_875_682_901e-8);
    near(
        t_estimate(&D, 0.95, 1.0).unwrap().p_zero(),
        0.118_189_798_115_901_16,
    );
}

#[test]
fn the_two_one_sided_tests_agree_with_scipy() {
    let p = t_estimate(&D, 0.95, 1.0).unwrap().p_within(0.01_f64.ln_1p());
    near(p, 2.237_637_142_818_527_7e-5);
}

#[test]
fn correlations_agree_with_scipy() {
    near(lag1(&X), -0.405_236_547_490_068_77);
    near(correlation(&X, &Y), 0.699_937_459_819_753_3);
}

#[test]
fn the_ratio_of_means_agrees_with_its_formula_in_numpy() {
    let r = ratio_of_means(&X, &Y, 0.95, 1.0).unwrap();
    near(Some(r.ratio), 1.108_612_177_729_017_9);
    near(Some(r.interval.low), 1.093_046_905_222_631);
    near(Some(r.interval.high), 1.124_177_450_235_404_7);
}

/// By hand: 1 to 10 has r1 = 0.7; (0.7 + 0.1) sqrt(10) = 2.53; (0.8 / 0.7) is
/// capped at 0.9, and sqrt(1.9 / 0.1) = 4.3589.
#[test]
fn a_ramp_is_flagged_and_its_widening_capped() {
    let ramp: Vec<f64> = (1..=10).map(f64::from).collect();
    let a = autocorrelation(&ramp).unwrap();
    near(Some(a.r1), 0.7);
    assert!(a.flagged);
    near(Some(a.widening), 4.358_898_943_540_674);
    let narrow = t_estimate(&ramp, 0.95, 1.0).unwrap().interval;
    let wide = t_estimate(&ramp, 0.95, a.widening).unwrap().interval;
    near(
        Some((wide.high - wide.low) / (narrow.high - narrow.low)),
        a.widening,
    );
}

/// By hand: r1 = 0.1538, (r1 + 1/12) sqrt(12) = 0.82, below 1.28.
#[test]
fn weak_autocorrelation_is_not_flagged() {
    let a = autocorrelation(&[1.0, 2.0, 3.0, 1.0, 2.0, 4.0, 3.0, 5.0, 4.0, 2.0, 3.0, 6.0]).unwrap();
    near(Some(a.r1), 0.153_846_153_846_153_85);
    assert_eq!((a.flagged, a.widening), (false, 1.0));
}

/// Worked example: R's `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")`.
#[test]
fn holm_agrees_with_r() {
    let adjusted = holm(&[Some(0.01), Some(0.04), None, Some(0.03), Some(0.005)]);
    for (found, expected) in adjusted
        .into_iter()
        .zip([Some(0.03), Some(0.06), None, Some(0.06), Some(0.02)])
    {
        match expected {
            Some(expected) => near(found, expected),
            None => assert_eq!(found, None),
        }
    }
}

#[test]
fn a_series_without_spread_is_certain() {
    let e = t_estimate(&[0.05; 12], 0.95, 1.0).unwrap();
    assert!((e.interval.high - e.interval.low).abs() < 1e-15);
    assert_eq!(t_estimate(&[0.0; 12], 0.95, 1.0).unwrap().p_zero(), Some(1.0));
    assert_eq!(t_estimate(&[0.5; 12], 0.95, 1.0).unwrap().p_zero(), Some(0.0));
    assert_eq!(
        t_estimate(&[0.5; 12], 0.95, 1.0).unwrap().p_within(0.01),
        Some(1.0)
    );
    assert_eq!(
        t_estimate(&[0.0; 12], 0.95, 1.0).unwrap().p_within(0.01),
        Some(0.0)
    );
    assert_eq!(correlation(&[1.0; 12], &[2.0; 12]), None);
    assert_eq!(autocorrelation(&[1.0; 12]), None);
    assert_eq!(sd(&[1e-3; 20]), Some(0.0));
}
