//! Workloads that a study holds together.

use crate::common::*;
use tare_analysis::{Shown, WorkloadEffect, analyze};
use tare_model::results::Results;

fn only(results: &Results) -> WorkloadEffect {
    let found = analyze(results).workload_effects;
    let [effect] = &found.effects[..] else {
        panic!("one kind of box has a baseline: {found:?}");
    };
    assert_eq!(found.family, 1);
    effect.clone()
}

fn shown(of: f64, against: f64, noise: f64) -> Option<Shown> {
    only(&held(of, against, noise)).shown
}

#[test]
fn the_ratio_of_both_costs_is_the_one_that_was_put_in() {
    let effect = only(&held(1.2, 1.05, 0.001));
    let ratio = effect.ratio.expect("a ratio");
    assert!((ratio.value - 1.2 / 1.05).abs() < 0.002, "{ratio:?}");
    assert!(ratio.low < 1.2 / 1.05 && 1.2 / 1.05 < ratio.high, "{ratio:?}");
    let cost = |of: &tare_analysis::WorkloadCost| of.ratio.expect("a cost").value;
    assert!((cost(&effect.of) - 1.2).abs() < 0.002);
    assert!((cost(&effect.against) - 1.05).abs() < 0.002);
    assert_eq!(
        (effect.n, effect.lost, effect.shown),
        (12, 0, Some(Shown::Beyond))
    );
    // Both costs and their ratio are over the same blocks.
    assert!((cost(&effect.of) / cost(&effect.against) - ratio.value).abs() < 1e-9);
}

#[test]
fn workloads_that_have_a_size_each_are_held_together_across_them() {
    let effect = only(&held_of_two_sizes(1.2, 1.05));
    let sizes = [&effect.of, &effect.against].map(|cost| cost.instance.as_deref());
    assert_eq!(sizes, [Some("small"), Some("large")]);
    let ratio = effect.ratio.expect("a ratio").value;
    assert!((ratio - 1.2 / 1.05).abs() < 0.002, "{ratio}");
}

#[test]
fn it_is_shown_by_the_rows_of_every_other_verdict() {
    assert_eq!(shown(1.2, 1.2, 0.0005), Some(Shown::Within));
    assert_eq!(shown(1.0, 1.2, 0.0005), Some(Shown::Reversed));
    assert_eq!(shown(1.02, 1.0, 0.1), Some(Shown::Undecided));
}

#[test]
fn a_block_that_lacks_one_of_both_is_lost_and_too_many_forbid_a_verdict() {
    let effect = only(&held_with_losses());
    assert_eq!((effect.n, effect.lost, effect.shown), (9, 3, None));
}

#[test]
fn a_study_that_holds_nothing_together_has_no_table() {
    let mut results = held(1.2, 1.0, 0.001);
    results.header.study.effects.clear();
    let analysis = analyze(&results);
    assert!(analysis.workload_effects.effects.is_empty());
}

#[test]
fn a_workload_that_the_file_lacks_is_no_row() {
    let mut results = held(1.2, 1.0, 0.001);
    results.header.study.effects[0].of = "no such".to_owned();
    assert!(analyze(&results).workload_effects.effects.is_empty());
}
