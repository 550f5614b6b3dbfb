//! Costs in the forms of services for benchmarks.

use crate::common::*;
use serde_json::Value;
use tare_analysis::{Analysis, analyze, foreign};
use tare_report::benchmarks::{Cost, bmf, github, of_report};

fn analysis() -> Analysis {
    let study = default_study().noise(0.01);
    analyze(&study.cost("docker", Pinned, "syscall", 1.25).build())
}

fn costs() -> Vec<Cost> {
    of_report(&analysis())
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn bencher_gets_each_cost_with_both_ends_of_its_interval() {
    let costs = costs();
    let found = parsed(&bmf(&costs).unwrap());
    let cost = &found["docker pinned syscall"]["cost"];
    let ratio = headline(&analysis()).paired.as_ref().unwrap().ratio;
    let ends = [
        ("value", ratio.value),
        ("lower_value", ratio.low),
        ("upper_value", ratio.high),
    ];
    for (key, figure) in ends {
        assert_eq!(cost[key].as_f64(), Some(figure), "{key}");
    }
    let entries: usize = found
        .as_object()
        .unwrap()
        .values()
        .map(|m| m.as_object().unwrap().len())
        .sum();
    assert_eq!(entries, costs.len(), "two costs share a name");
}

#[test]
fn github_action_benchmark_gets_a_unit_for_which_smaller_is_better() {
    let found = parsed(&github(&costs()).unwrap());
    let entries = found.as_array().unwrap();
    let of = |name: &str| entries.iter().find(|e| e["name"] == name).unwrap();
    let entry = of("docker pinned syscall: cost");
    assert_eq!(entry["unit"], "times native");
    assert!(entry["range"].as_str().unwrap().contains(" to "), "{entry}");
    assert!(entry["extra"].as_str().unwrap().ends_with(", slower"), "{entry}");
    of("docker vanilla syscall against native-set: cost");
}

#[test]
fn an_open_interval_has_no_bounds() {
    let mut cost = costs().remove(0);
    cost.interval = None;
    let found = parsed(&bmf(std::slice::from_ref(&cost)).unwrap());
    let metric = &found[&cost.name][&cost.measure];
    assert_eq!(metric.as_object().unwrap().len(), 1, "{found}");
    let found = parsed(&github(&[cost]).unwrap());
    assert!(found[0].get("range").is_none(), "{found}");
}

#[test]
fn what_is_written_is_read() {
    let costs = costs();
    let forms = [
        (bmf(&costs).unwrap(), "docker pinned syscall"),
        (github(&costs).unwrap(), "docker pinned syscall: cost"),
    ];
    for (text, baseline) in forms {
        let table = foreign::read("written.json", text.as_bytes()).unwrap();
        let wishes = foreign::Wishes {
            baseline: Some(baseline),
            direction: None,
            margin: 0.01,
            threads: 1,
        };
        let analysis = foreign::analyze(&table, wishes).unwrap();
        let mut read: Vec<f64> = analysis.cells.iter().filter_map(|cell| cell.mean).collect();
        let mut written: Vec<f64> = costs.iter().map(|cost| cost.value).collect();
        read.sort_by(f64::total_cmp);
        written.sort_by(f64::total_cmp);
        assert_eq!(read, written);
        let lower = analysis
            .cells
            .iter()
            .all(|cell| cell.metric.direction.name() == "lower");
        assert!(lower, "a higher cost is better");
    }
}
