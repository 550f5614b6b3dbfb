//! Size effects: what depends on the CPUs of the box.

use crate::common::*;
use tare_analysis::{Class, NoEffects, Refusal, SizeEffect, SizeEffects, Standing, analyze};
use tare_model::platform::Provisioning;
use tare_model::results::{Outcome, Record, Results};
use tare_model::study::Instance;

fn effects(results: &Results) -> SizeEffects {
    analyze(results).size_effects
}

fn docker(found: &SizeEffects, by: Provisioning) -> &SizeEffect {
    let of = |e: &&SizeEffect| e.platform.to_string() == "docker" && e.provisioning == by;
    found.effects.iter().find(of).expect("an effect")
}

#[track_caller]
fn class(cpus: &[u32], cost: impl Fn(f64) -> f64, expected: Class) {
    let found = effects(&sized(cpus, cost));
    for by in [Vanilla, Pinned] {
        let effect = docker(&found, by);
        assert_eq!(effect.class, Some(expected), "{effect:?}");
    }
}

#[test]
fn each_effect_has_its_class() {
    class(&[1, 2], |_| 1.0, Class::Neither);
    class(&[1, 2], |_| 1.05, Class::Pto);
    class(&[1, 2], |c| if c < 2.0 { 1.1 } else { 1.0 }, Class::Pso);
    class(&[1, 2, 4], |c| 1.05 + 0.3 / c, Class::Both);
}

#[test]
fn noise_leaves_a_class_undecided() {
    let mut results = sized(&[1, 2], |_| 1.0);
    let mut random = Random::seeded(9);
    for trial in trials_of(&mut results, "docker", Pinned) {
        scale(trial, f64::exp(0.05 * random.normal()));
    }
    assert_eq!(docker(&effects(&results), Pinned).class, Some(Class::Undecided));
}

#[test]
fn pto_and_pso_are_the_ratios_that_were_put_in() {
    let found = effects(&sized(&[1, 2, 4, 8], |c| 1.03 + 0.2 / c));
    let effect = docker(&found, Vanilla);
    let (pto, pso) = (effect.pto.as_ref().unwrap(), effect.pso.as_ref().unwrap());
    assert!((pto.share.value - 0.055).abs() < 0.003, "{pto:?}");
    assert!((pso.share.value - (1.23 / 1.055 - 1.0)).abs() < 0.004, "{pso:?}");
    assert_eq!(effect.fit.standing, Standing::Quoted, "{:?}", effect.fit);
    let (pto, pso) = (effect.fit.pto.unwrap(), effect.fit.pso.unwrap());
    assert!(
        (pto.value - 0.03).abs() < 0.003 && (pso.value - 0.2).abs() < 0.005,
        "{pto:?} {pso:?}"
    );
    assert_eq!((effect.n, effect.lost), (12, 0));
    // Native vanilla and docker in both provisionings, two parts each.
    assert_eq!((found.effects.len(), found.family, found.none), (3, 6, None));
}

#[test]
fn a_fit_is_quoted_only_with_four_sizes_over_a_factor_of_eight_that_follow_it() {
    let standing =
        |cpus: &[u32], cost: fn(f64) -> f64| docker(&effects(&sized(cpus, cost)), Pinned).fit.standing;
    assert_eq!(standing(&[1, 2], |_| 1.0), Standing::Absent);
    assert_eq!(standing(&[1, 2, 8], |c| 1.0 + 0.2 / c), Standing::Drawn);
    assert_eq!(standing(&[1, 2, 3, 4], |c| 1.0 + 0.2 / c), Standing::Drawn);
    assert_eq!(standing(&[1, 2, 4, 8], |c| 1.0 + 0.4 / c.sqrt()), Standing::Void);
    assert_eq!(standing(&[1, 2, 4, 8], |c| 1.2 - 0.2 / c), Standing::Void);
}

#[test]
fn the_range_is_relative_to_the_plateau() {
    // A constant PTO of 10 % does not hide where PSO dies out.
    let cost = |c: f64| {
        if c < 2.0 {
            1.3
        } else if c < 4.0 {
            1.2
        } else {
            1.1
        }
    };
    let found = effects(&sized(&[1, 2, 4, 8], cost));
    let range = docker(&found, Pinned).range;
    let ends = (range.beyond.unwrap(), range.within.unwrap());
    assert_eq!((ends.0.cpus, ends.1.cpus), (2.0, 4.0));
    assert_eq!((ends.0.chr, ends.1.chr), (Some(0.125), Some(0.25)));
    let flat = effects(&sized(&[1, 2], |_| 1.1));
    let range = docker(&flat, Pinned).range;
    assert!(range.beyond.is_none() && range.within.unwrap().cpus < 2.0);
}

#[test]
fn too_few_sizes_are_said() {
    let one = effects(&Synthetic::new().build());
    assert!(one.effects.is_empty());
    assert_eq!(one.none, Some(NoEffects::OneSize));
    let mut vanilla = Synthetic::new().provisioning(&[Vanilla]);
    vanilla.study.instances.push(Instance {
        name: Some("other".to_owned()),
        ..vanilla.study.instances[0].clone()
    });
    let without_set = effects(&vanilla.build());
    assert_eq!(without_set.none, Some(NoEffects::NoSet));
    let same = effects(&sized(&[2, 2], |_| 1.0));
    assert!(same.effects.is_empty() && same.none == Some(NoEffects::SameCpus));
}

#[test]
fn a_block_that_lacks_a_size_is_lost_and_too_many_forbid_a_class() {
    let mut results = sized(&[1, 2], |_| 1.05);
    for record in &mut results.records {
        if let Record::Trial(trial) = record
            && trial.block < 4
            && trial.cell.kind.instance.as_deref() == Some("c1")
            && trial.cell.kind.provisioning == Pinned
        {
            trial.outcome = Outcome::Failed(failure(tare_model::finding::Reason::Timeout, "slow"));
        }
    }
    let found = effects(&results);
    let effect = docker(&found, Pinned);
    assert_eq!((effect.n, effect.lost, effect.class), (8, 4, None));
    assert!(
        effect.refusals.contains(&Refusal::PairsLost { lost: 4, of: 12 }),
        "{:?}",
        effect.refusals
    );
}
