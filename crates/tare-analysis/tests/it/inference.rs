//! What the analysis makes of the inference: labels, flags, families.

use crate::common::*;
use tare_analysis::{Flag, Steadiness, analyze};

#[test]
fn a_study_with_looks_allows_for_them() {
    let results = Synthetic::new()
        .blocks(60)
        .noise(0.01)
        .cost("docker", Pinned, "syscall", 1.003)
        .build();
    let fixed = analyze(&results);
    let looked_at = analyze(&adaptive(results));
    assert_eq!(fixed.intervals, "95 %");
    assert_eq!(looked_at.intervals, "95 % (allowing for looks)");
    let (one, other) = (headline(&fixed), headline(&looked_at));
    let (one, other) = (one.paired.as_ref().unwrap(), other.paired.as_ref().unwrap());
    assert!(other.ratio.low < one.ratio.low && one.ratio.high < other.ratio.high);
    // t(0.98, 59) over t(0.975, 59), by SciPy.
    let width = |low: f64, high: f64| high.ln() - low.ln();
    let wider = width(other.ratio.low, other.ratio.high) / width(one.ratio.low, one.ratio.high);
    assert!((wider - 2.099_97 / 2.000_995).abs() < 1e-4, "{wider}");
    near(other.p.unwrap(), 1.25 * one.p.unwrap());
}

#[test]
fn a_noisier_platform_is_less_steady_from_thirty_pairs_on() {
    let steadiness = |blocks, times| {
        let mut results = Synthetic::new()
            .blocks(blocks)
            .noise(0.01)
            .block_noise(0.1)
            .build();
        // What the blocks share would be shaken too.
        if times > 1.0 {
            results = Synthetic::new().blocks(blocks).noise(0.01).build();
            shake(&mut results, times);
        }
        headline(&analyze(&results)).steadiness.clone().unwrap()
    };
    let shaken = steadiness(40, 4.0);
    assert_eq!(shaken.verdict, Some(Steadiness::LessSteady));
    assert!(
        shaken.low.unwrap() < 4.0 && 4.0 < shaken.high.unwrap(),
        "{shaken:?}"
    );
    assert_eq!(shaken.p, shaken.p_holm);
    assert_eq!(steadiness(40, 1.0).verdict, Some(Steadiness::Inconclusive));
    let few = steadiness(29, 4.0);
    assert!(few.value > 2.0);
    assert_eq!((few.low, few.p, few.verdict), (None, None, None));
}

#[test]
fn a_cost_without_a_verdict_has_none_on_its_steadiness() {
    let mut results = Synthetic::new().blocks(40).noise(0.01).build();
    shake(&mut results, 4.0);
    proof_of(&mut results, "docker").proven = false;
    let analysis = analyze(&results);
    let steadiness = headline(&analysis).steadiness.as_ref().unwrap();
    assert_eq!((steadiness.verdict, steadiness.p_holm), (None, None));
    assert!(steadiness.p.is_some());
}

#[test]
fn a_tail_shows_ratios_of_quantiles() {
    let mut results = Synthetic::new().blocks(40).noise(0.001).build();
    for trial in trials_of(&mut results, "docker", Pinned).filter(|t| t.block % 8 == 7) {
        scale(trial, 10.0);
    }
    let analysis = analyze(&results);
    let metric = headline(&analysis);
    assert!(metric.flags.iter().any(Flag::is_tail));
    let told: Vec<f64> = metric.quantiles.iter().map(|q| q.quantile).collect();
    assert_eq!(told, [0.5, 0.9]);
    assert!((metric.quantiles[0].ratio.value - 1.0).abs() < 0.01);
    assert!(metric.quantiles[1].ratio.value > 5.0);
    let calm = analyze(&Synthetic::new().noise(0.001).build());
    assert_eq!(headline(&calm).quantiles, []);
}

#[test]
fn ratios_of_quantiles_are_of_costs_for_rates_too() {
    use tare_model::kernel::Kernel::{Linpack, Syscall};
    let mut results = Synthetic::new()
        .kernels(&[Syscall, Linpack])
        .blocks(40)
        .noise(0.001)
        .build();
    for trial in trials_of(&mut results, "docker", Pinned).filter(|t| t.block % 8 == 7) {
        let factor = if trial.cell.workload == "linpack" {
            0.1
        } else {
            10.0
        };
        scale(trial, factor);
    }
    let analysis = analyze(&results);
    let p90 = |workload| {
        let metric = compared(&analysis, "docker", workload).primary().unwrap();
        metric.quantiles[1].ratio.value
    };
    assert!((p90("linpack") / p90("syscall")).ln().abs() < 0.1);
}

/// "About 1 more block" stood beside a Holm p of 1.000 once.
#[test]
fn the_blocks_needed_bring_the_corrected_p_down() {
    let results = default_study().noise(0.03).build();
    let analysis = analyze(&results);
    let mut seen = 0;
    for metric in analysis.comparisons.iter().filter_map(|c| c.primary()) {
        let (Some(paired), Some(verdict)) = (&metric.paired, &metric.verdict) else {
            continue;
        };
        if paired.p.is_some_and(|p| p < 0.05) && paired.p_holm.is_some_and(|p| p > 0.2) {
            assert!(verdict.more_blocks.unwrap() >= 4, "{paired:?} {verdict:?}");
            seen += 1;
        }
    }
    assert!(seen > 0, "no comparison that Holm refuses");
}

#[test]
fn cells_that_do_not_move_together_have_no_correlation() {
    let analysis = analyze(&moving_apart());
    assert!(headline(&analysis).pair_correlation.unwrap() < 0.1);
}
