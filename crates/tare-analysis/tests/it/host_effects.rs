//! The same box on hosts of several sizes.

use crate::common::*;
use tare_analysis::{HostEffect, Shown, analyze};
use tare_model::platform::Provisioning;
use tare_model::results::Results;

fn docker(results: &Results, by: Provisioning) -> HostEffect {
    let found = analyze(results).host_effects.effects;
    let of = |e: &HostEffect| e.platform.to_string() == "docker" && e.provisioning == by;
    found.into_iter().find(of).expect("an effect")
}

#[test]
fn the_excess_over_the_smallest_host_is_the_one_that_was_put_in() {
    let results = hosted(&[2, 4, 8], |host| 1.1 + 0.05 * f64::from(host));
    let effect = docker(&results, Vanilla);
    let hosts: Vec<u32> = effect.hosts.iter().map(|point| point.host_cpus).collect();
    assert_eq!(hosts, [2, 4, 8]);
    let excess: Vec<Option<f64>> = effect.hosts.iter().map(|p| p.excess.map(|e| e.value)).collect();
    assert_eq!(excess[0], None);
    for (excess, truth) in excess[1..].iter().zip([1.3 / 1.2 - 1.0, 1.5 / 1.2 - 1.0]) {
        assert!(
            (excess.expect("an excess") - truth).abs() < 0.005,
            "{excess:?} {truth}"
        );
    }
    assert_eq!(
        (effect.shown, effect.n, effect.lost),
        (Some(Shown::Beyond), 12, 0)
    );
    // The same CPUs whatever the host: nothing to be seen.
    assert_eq!(docker(&results, Pinned).shown, Some(Shown::Within));
    // The price of the quota is an effect too: native vanilla against native-set.
    let found = analyze(&results).host_effects;
    assert_eq!((found.effects.len(), found.family), (3, 3));
}

#[test]
fn the_chr_counts_the_cpus_that_boxes_run_on_as_the_host() {
    // A box of the fixture has 2 CPUs.
    let effect = docker(&hosted(&[2, 4, 8], |_| 1.0), Vanilla);
    let chr: Vec<f64> = effect.hosts.iter().map(|point| point.chr).collect();
    assert_eq!(chr, [1.0, 0.5, 0.25]);
}

#[test]
fn where_it_dies_out_is_a_range_of_the_chr() {
    let effect = docker(
        &hosted(&[2, 4, 8, 16], |host| if host > 4 { 1.2 } else { 1.0 }),
        Vanilla,
    );
    let chr = |end: Option<tare_analysis::RangeEnd>| end.and_then(|end| end.chr);
    assert_eq!(
        (chr(effect.range.beyond), chr(effect.range.within)),
        (Some(0.25), Some(0.5))
    );
}

#[test]
fn sizes_and_hosts_are_not_mistaken_for_one_another() {
    let analysis = analyze(&hosted(&[2, 4], |_| 1.0));
    assert!(analysis.size_effects.effects.is_empty());
    assert_eq!(analysis.size_effects.none, None);
    let mut one = Synthetic::new().provisioning(&[Vanilla, Pinned]);
    one.study.instances[0].name = Some("one".to_owned());
    assert!(analyze(&one.build()).host_effects.effects.is_empty());
}
