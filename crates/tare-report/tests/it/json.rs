//! The analysis for machines.

use crate::common::*;
use serde_json::Value;
use tare_analysis::analyze;
use tare_model::results::Results;

fn value() -> Value {
    let mut results = default_study().build();
    trials_of(&mut results, "docker", Pinned).for_each(|t| scale(t, f64::NAN));
    serde_json::from_str(&json(&analyze(&results))).expect("JSON")
}

#[test]
fn it_names_its_version_and_holds_every_part() {
    let json = value();
    assert_eq!(json["schema"], "tare-analysis/2");
    for part in [
        "study",
        "layers",
        "notices",
        "comparisons",
        "cells",
        "boxes",
        "findings",
        "run",
        "host",
        "platforms",
    ] {
        assert!(!json[part].is_null(), "{part}");
    }
}

#[test]
fn a_comparison_can_be_read_by_its_names() {
    let json = value();
    let comparison = json["comparisons"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["platform"] == "vm" && c["workload"] == "spawn")
        .unwrap();
    assert_eq!(comparison["against"], "native");
    assert_eq!(comparison["baseline"]["platform"], "native");
    let metric = &comparison["metrics"][0];
    assert_eq!((&metric["name"], &metric["n"]), (&"latency".into(), &12.into()));
    assert!(metric["paired"]["value"].as_f64().unwrap() > 2.0);
    assert_eq!(metric["verdict"]["word"], "slower");
    assert_eq!(metric["verdict"]["beyond_margin"], true);
}

#[test]
fn a_figure_that_is_missing_is_null() {
    let json = value();
    let comparison = json["comparisons"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["platform"] == "docker" && c["provisioning"] == "pinned")
        .unwrap();
    let metric = &comparison["metrics"][0];
    assert_eq!((&metric["n"], &metric["lost"]), (&0.into(), &12.into()));
    for figure in ["paired", "ratio_of_means", "loss", "op", "pair_correlation"] {
        assert!(metric[figure].is_null(), "{figure}");
    }
}

/// Every key of `value` and of what it holds.
fn keys(value: &Value, found: &mut std::collections::BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                found.insert(key.clone());
                keys(value, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|v| keys(v, found)),
        _ => {}
    }
}

#[test]
fn every_key_of_a_comparison_is_in_its_document() {
    let mut results = Synthetic::new().blocks(40).noise(0.001).build();
    for trial in trials_of(&mut results, "docker", Pinned).filter(|t| t.block % 8 > 5) {
        scale(trial, 10.0);
    }
    let mut found = std::collections::BTreeSet::new();
    let mut add = |results: &Results| {
        let json: Value = serde_json::from_str(&json(&analyze(results))).expect("JSON");
        keys(&json["comparisons"], &mut found);
        keys(&json["slicing"], &mut found);
    };
    add(&results);
    slice(&mut results, 10, |slot| if slot.round == 3 { 9.0 } else { 1.0 });
    trials_of(&mut results, "docker", Pinned)
        .take(1)
        .for_each(|t| t.group = None);
    add(&results);
    assert!(
        found.contains("cpu_shares") && found.contains("one_piece"),
        "{found:?}"
    );
    assert!(
        found.contains("quantile") && found.contains("ends_moved"),
        "{found:?}"
    );
    let document = include_str!("../../../../docs/analysis-format.md");
    let missing: Vec<_> = found
        .iter()
        .filter(|key| !document.contains(&format!("`{key}`")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
