//! Parameters of a workload that a study varies.

use crate::common::*;
use tare_analysis::{FactorLevel, Tuned, analyze};
use tare_model::results::Results;
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
    assert!((best.cost.value - 0.9).abs() < 0.02);
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
    assert_eq!(best.changes.len(), 1);
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
        .retain(|record| !matches!(record, tare_model::results::Record::Trial(t) if t.trial == last));
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
        |results: &mut Results| {
            let first = tuning(results).settings[0].levels.clone();
            tuning(results).settings[1].levels = first;
        },
    ] {
        let mut results = tuned_fraction(5, 3);
        spoil(&mut results);
        assert!(analyze(&results).tunings.is_empty());
        let mut alone = results;
        tuning(&mut alone).design = TuningDesign::OneAtATime;
        let _ = analyze(&alone);
    }
}

fn tuning(results: &mut Results) -> &mut tare_model::tuning::Tuning {
    results.header.study.tuning.as_mut().unwrap()
}
