//! The analysis for machines.

mod common;

use common::*;
use serde_json::Value;
use tare_report::analysis::analyze;

fn value() -> Value {
    let mut results = default_study().build();
    trials_of(&mut results, "docker", Pinned).for_each(|t| scale(t, f64::NAN));
    serde_json::from_str(&json(&analyze(&results))).expect("JSON")
}

#[test]
fn it_names_its_version_and_holds_every_part() {
    let json = value();
    assert_eq!(json["schema"], "tare-analysis/1");
    for part in [
        "study",
        "summaries",
        "layers",
        "notices",
        "caveats",
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
