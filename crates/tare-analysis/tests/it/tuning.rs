//! Parameters of a workload that a study varies.

use crate::common::*;
use tare_analysis::{FactorLevel, NoBest, Tuned, analyze};
use tare_model::results::{Record, Results};
use tare_model::study::Fresh;
use tare_model::tuning::TuningDesign;

fn only(results: &Results) -> Tuned {
    let found = analyze(results).tunings;
    let [tuned] = &found[..] else { panic!("{found:?}") };
    tuned.clone()
}

fn level(factor: &str, level: &str) -> FactorLevel {
    FactorLevel {
        factor: factor.to_owned(),
        level: level.to_owned(),
    }
}

fn shown(of: &Tuned) -> Vec<&str> {
    let shown = of.effects.iter().filter(|level| level.effect.is_shown);
    shown.map(|level| level.factor.as_str()).collect()
}

/// All settings of two levels of each factor.
fn all(factors: usize) -> Vec<Vec<usize>> {
    let of_set = |set: usize| (0..factors).map(|factor| set >> factor & 1).collect();
    (0..1 << factors).map(of_set).collect()
}

#[test]
fn a_fraction_finds_the_factors_that_matter_and_the_setting_to_take() {
    let of = only(&tuned_fraction(5, 3));
    assert_eq!((of.blocks, of.lost, of.settings.len()), (5, 0, 16));
    // What does most first.
    assert_eq!(shown(&of), ["f3", "f0"]);
    for (place, truth) in [(0, 1.2), (1, 0.9)] {
        let cost = of.effects[place].effect.cost.unwrap();
        assert!(cost.low < truth && truth < cost.high, "{cost:?}");
    }
    // Seven sets of three pairs, none of which does anything.
    assert!(of.interactions.len() == 7 && of.interactions.iter().all(|of| of.pairs.len() == 3));
    assert!(of.interactions.iter().all(|of| !of.effect.is_shown));
    let best = of.best.unwrap();
    assert_eq!(best.changes, [level("f0", "l1")]);
    // That setting is not among the sixteen.
    assert!((best.cost.value - 0.9).abs() < 0.02 && !best.ran);
}

#[test]
fn pairs_that_a_fraction_does_not_tell_apart_leave_no_best_setting() {
    // Whatever a and b do together c and d may do.
    let settings: Vec<Vec<usize>> = all(4)
        .into_iter()
        .filter(|levels| levels.iter().sum::<usize>() % 2 == 0)
        .collect();
    let cost = |levels: &[usize]| match levels {
        [1, 1, ..] => 0.3,
        [1, 0, ..] => 1.4,
        _ => 1.0,
    };
    let of = only(&tuned(TuningDesign::Fractional, &[2; 4], &settings, 6, 5, cost));
    let shown: Vec<usize> = of
        .interactions
        .iter()
        .filter(|of| of.effect.is_shown)
        .map(|of| of.pairs.len())
        .collect();
    assert_eq!(shown, [2]);
    assert_eq!((of.best.is_none(), of.no_best), (true, Some(NoBest::MixedPairs)));
}

#[test]
fn a_setting_whose_own_trials_do_not_show_it_is_not_the_best() {
    // All three act together: the first saves a third on average, and costs more with both others at their first level.
    let cost = |levels: &[usize]| {
        let [a, b, c] = [0, 1, 2].map(|factor| 2.0 * levels[factor] as f64 - 1.0);
        (0.2 * (a * b * c - 0.8 * a)).exp()
    };
    let of = only(&tuned(TuningDesign::Full, &[2; 3], &all(3), 8, 5, cost));
    assert!(
        of.effects
            .iter()
            .any(|of| of.factor == "f0" && of.effect.is_shown)
    );
    assert_eq!(
        (of.best.is_none(), of.no_best),
        (true, Some(NoBest::OwnTrials)),
        "{of:?}"
    );
}

#[test]
fn what_is_equal_within_the_margin_is_not_shown_to_matter() {
    let cost = |levels: &[usize]| 1.0 + 0.004 * levels[0] as f64;
    let mut results = tuned(TuningDesign::Full, &[2; 3], &all(3), 60, 5, cost);
    results.header.study.protocol.margin = 0.02;
    let of = only(&results);
    assert!(
        of.effects
            .iter()
            .all(|of| of.effect.is_equal && !of.effect.is_shown),
        "{of:?}"
    );
    assert_eq!(of.no_best, Some(NoBest::NoneBetter));
}

#[test]
fn boxes_that_are_unfit_for_verdicts_show_nothing() {
    for spoil in [
        |results: &mut Results| results.header.study.protocol.fresh = Fresh::Study,
        |results: &mut Results| {
            for record in &mut results.records {
                if let Record::Proof(proof) = record {
                    proof.proven = false;
                }
            }
        },
    ] {
        let mut results = tuned_fraction(5, 3);
        spoil(&mut results);
        let of = only(&results);
        assert!(
            !of.refusals.is_empty() && shown(&of).is_empty() && of.best.is_none(),
            "{of:?}"
        );
    }
}

#[test]
fn what_two_do_together_decides_which_setting_is_the_best() {
    // Each alone saves a tenth; both together cost half as much again.
    let cost = |levels: &[usize]| match levels {
        [1, 1, ..] => 1.5,
        [0, 0, ..] => 1.0,
        _ => 0.9,
    };
    let of = only(&tuned(TuningDesign::Full, &[2; 3], &all(3), 6, 5, cost));
    let together = &of.interactions[0];
    assert_eq!(together.pairs, [["f0".to_owned(), "f1".to_owned()]]);
    assert!(together.effect.is_shown);
    let ratio = together.effect.cost.unwrap();
    assert!((ratio.value / (1.5 / 0.81) - 1.0).abs() < 0.05, "{ratio:?}");
    let best = of.best.unwrap();
    assert!(best.changes.len() == 1 && best.ran);
    assert!((best.cost.value - 0.9).abs() < 0.04, "{best:?}");
}

#[test]
fn one_at_a_time_takes_any_number_of_levels_and_says_what_is_best_alone() {
    let settings = [[0, 0], [1, 0], [2, 0], [0, 1]].map(Vec::from);
    let cost = |levels: &[usize]| [1.0, 0.8, 1.0][levels[0]] * [1.0, 1.3][levels[1]];
    let of = only(&tuned(TuningDesign::OneAtATime, &[3, 2], &settings, 12, 7, cost));
    let told = of.effects.iter().filter(|of| of.effect.is_shown);
    let told: Vec<(&str, &str)> = told.map(|of| (of.factor.as_str(), of.to.as_str())).collect();
    assert_eq!(told, [("f1", "l1"), ("f0", "l1")]);
    assert!(of.interactions.is_empty());
    assert_eq!(of.best.unwrap().changes, [level("f0", "l1")]);
}

#[test]
fn nothing_is_shown_in_too_few_blocks_or_where_nothing_is() {
    let of = only(&tuned_fraction(4, 3));
    assert!(of.blocks < of.fewest && shown(&of).is_empty() && of.best.is_none());
    // Of families in which nothing is at most one in twenty shows something; 7 of 60 would be one in 500 by chance.
    let cost = |_: &[usize]| 1.0;
    let is_wrong = |seed: &u64| {
        let of = only(&tuned(TuningDesign::Full, &[2; 3], &all(3), 5, *seed, cost));
        of.best.is_some() || !shown(&of).is_empty()
    };
    assert!((0..60).filter(is_wrong).count() <= 7);
}

#[test]
fn a_block_that_lacks_a_setting_is_lost() {
    let mut results = tuned_fraction(7, 3);
    let last = results.trials().filter(|t| t.block < 2).last().unwrap().trial;
    results
        .records
        .retain(|record| !matches!(record, Record::Trial(t) if t.trial == last));
    assert_eq!(only(&results).blocks, 6);
}

#[test]
fn settings_that_cannot_be_are_no_tuning() {
    for spoil in [
        |results: &mut Results| tuning(results).settings[3].levels[0] = 9,
        |results: &mut Results| tuning(results).settings[3].levels.clear(),
        |results: &mut Results| tuning(results).settings.clear(),
        |results: &mut Results| tuning(results).factors[0].levels.clear(),
        |results: &mut Results| tuning(results).settings[0].workload = "none".to_owned(),
        |results: &mut Results| tuning(results).settings.truncate(3),
        |results: &mut Results| tuning(results).settings.swap(0, 1),
        |results: &mut Results| {
            tuning(results).settings[2].workload = tuning(results).settings[3].workload.clone()
        },
        |results: &mut Results| {
            let first = tuning(results).settings[0].levels.clone();
            tuning(results).settings[1].levels = first;
        },
    ] {
        let mut results = tuned_fraction(5, 3);
        spoil(&mut results);
        assert!(analyze(&results).tunings.is_empty());
        tuning(&mut results).design = TuningDesign::OneAtATime;
        assert!(analyze(&results).tunings.is_empty());
    }
}

fn tuning(results: &mut Results) -> &mut tare_model::tuning::Tuning {
    results.header.study.tuning.as_mut().unwrap()
}
