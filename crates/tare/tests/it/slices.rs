//! Groups of cells in slices, on the scripted platform: which boxes stand side by side, in
//! what order they work, and how a study goes on.

use crate::common::Tare;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

fn args<'a>(command: &'a str, platforms: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec![command, "-p", platforms, "--cpus", "1"];
    args.extend(more);
    if command == "run" {
        args.extend(["--no-settle", "-o", "r.jsonl"]);
    }
    args
}

fn run(tare: &Tare, platforms: &str, more: &[&str]) {
    tare.ok(&args("run", platforms, more));
}

/// Platform, provisioning and workload.
fn cell(of: &Value) -> String {
    ["platform", "provisioning", "workload"]
        .map(|key| of[key].as_str().unwrap())
        .join(" ")
}

fn members(group: &Value) -> impl Iterator<Item = &Value> {
    group["members"].as_array().unwrap().iter()
}

fn number(of: &Value, key: &str) -> u64 {
    of[key].as_u64().unwrap()
}

/// Memory for a box of which `boxes` and no more fit this host side by side.
fn memory_for(boxes: u64) -> String {
    let told = std::fs::read_to_string("/proc/meminfo").unwrap();
    let total = told.lines().find(|line| line.starts_with("MemTotal")).unwrap();
    let kib: u64 = total.split_whitespace().nth(1).unwrap().parse().unwrap();
    // Four fifths of it are for boxes, each of which takes 256 MiB beside its own.
    format!("{}M", kib * 4 / 5 / boxes / 1024 - 257)
}

#[test]
fn one_group_per_workload_holds_every_cell_and_each_trial_names_it() {
    let tare = Tare::new();
    let more = ["-w", "linpack,syscall", "--blocks", "3"];
    run(&tare, "fake,fake?cost=2", &more);
    let groups = tare.records_of("r.jsonl", "group");
    assert_eq!(groups.len(), 6);
    for group in &groups {
        let cells: BTreeSet<String> = members(group).map(cell).collect();
        assert_eq!(cells.len(), 4, "two platforms, limited in two ways");
        let workloads: BTreeSet<&str> = members(group).map(|m| m["workload"].as_str().unwrap()).collect();
        assert_eq!(workloads.len(), 1);
        for member in members(group) {
            let rounds = number(group, "rounds");
            assert_eq!(member["places"].as_array().unwrap().len() as u64, rounds);
            // What costs the same in every round needs fewer of them from the second block on.
            let wanted = if number(group, "block") == 0 { 500 } else { 200 };
            assert_eq!((rounds, number(member, "processes")), (wanted, 2));
        }
    }
    for trial in tare.records_of("r.jsonl", "trial") {
        let own = groups.iter().find(|g| g["group"] == trial["group"]).unwrap();
        assert_eq!(own["block"], trial["block"]);
        let member = members(own).find(|m| cell(m) == cell(&trial)).unwrap();
        assert_eq!(member["box_id"], trial["box_id"]);
    }
}

#[test]
fn a_stall_in_the_slice_that_finds_the_work_leaves_no_cell_with_less() {
    for platforms in ["fake,fake?stall=1000", "fake?stall=1000,fake"] {
        let tare = Tare::new();
        let more = ["-w", "syscall", "--blocks", "3", "--provisioning", "pinned"];
        run(&tare, platforms, &more);
        for group in tare.records_of("r.jsonl", "group") {
            let units: Vec<u64> = members(&group).map(|m| number(m, "units")).collect();
            // A unit takes a thousandth of a millisecond, a slice 1 ms.
            assert_eq!(units[0], units[1], "{platforms}");
            assert!((900..1_100).contains(&units[0]), "{platforms}: {units:?}");
        }
    }
}

/// Groups by number: block, rounds, and of each cell its places in them.
fn places(tare: &Tare) -> Vec<(u64, u64, BTreeMap<String, Value>)> {
    let groups = tare.records_of("r.jsonl", "group");
    let of = |group: &Value| {
        let places = members(group).map(|m| (cell(m), m["places"].clone()));
        (number(group, "block"), number(group, "rounds"), places.collect())
    };
    groups.iter().map(of).collect()
}

fn order(tare: &Tare) -> Vec<(u64, String)> {
    let trials = tare.records_of("r.jsonl", "trial");
    trials.iter().map(|t| (number(t, "trial"), cell(t))).collect()
}

#[test]
fn the_same_seed_gives_the_same_order_of_trials_and_of_places_within_rounds() {
    let found = |seed| {
        let tare = Tare::new();
        let more = ["-w", "linpack,syscall", "--blocks", "2", "--seed", seed];
        run(&tare, "fake,fake?cost=2,fake?cost=3", &more);
        (order(&tare), places(&tare))
    };
    let first = found("7");
    assert_eq!(first, found("7"));
    let other = found("8");
    assert_ne!(first.0, other.0);
    assert_ne!(first.1, other.1);
    let all: Vec<&Value> = first
        .1
        .iter()
        .flat_map(|(_, _, places)| places.values())
        .collect();
    assert!(all.iter().any(|places| *places != all[0]), "places are drawn");
}

#[test]
fn where_memory_holds_some_boxes_only_the_baselines_stand_in_every_set() {
    let tare = Tare::new();
    let memory = memory_for(3);
    let platforms = "fake,fake?cost=2,fake?cost=3,fake?cost=4,fake?cost=5";
    let more = ["-w", "syscall,linpack", "--blocks", "2", "--memory", &memory];
    let vanilla = [&more[..], &["--provisioning", "vanilla"]].concat();
    run(&tare, platforms, &vanilla);
    let groups = tare.records_of("r.jsonl", "group");
    assert_eq!(
        groups.len(),
        2 * 2 * 2,
        "two sets in each block, each with both workloads"
    );
    let trials = tare.records_of("r.jsonl", "trial");
    let mut seen = BTreeMap::new();
    for group in &groups {
        let here: BTreeSet<&str> = members(group).map(|m| m["platform"].as_str().unwrap()).collect();
        assert!(here.len() == 3 && here.contains("fake"), "{here:?}");
        for member in members(group) {
            let is_own = |t: &&Value| t["group"] == group["group"] && cell(t) == cell(member);
            let key = (number(group, "block"), cell(member));
            *seen.entry(key).or_insert(0) += trials.iter().filter(is_own).count();
        }
    }
    assert_eq!(trials.len(), 5 * 2 * 2);
    assert_eq!(seen.len(), trials.len());
    assert!(
        seen.values().all(|n| *n == 1),
        "each has its trial once: {seen:?}"
    );
    // Three boxes in each set; the plan knows.
    assert_eq!(tare.records_of("r.jsonl", "box").len(), 2 * 2 * 3);
    let mut plan = args("plan", platforms, &vanilla);
    plan.push("--json");
    let plan: Value = serde_json::from_str(&tare.ok(&plan).stdout).unwrap();
    assert_eq!(plan["side_by_side"]["boxes"], 3);
    assert_eq!(plan["cost"]["boxes"], 12);
    let report: Value = serde_json::from_str(&tare.ok("report r.jsonl --json").stdout).unwrap();
    let comparisons = report["comparisons"].as_array().unwrap();
    let primary = |c: &Value| {
        let metrics = c["metrics"].as_array().unwrap();
        metrics.iter().find(|m| m["primary"] == true).unwrap().clone()
    };
    assert_eq!(comparisons.len(), 4 * 2);
    assert!(comparisons.iter().all(|c| primary(c)["slices"]["blocks"] == 2));
}

#[test]
fn boxes_that_do_not_fit_side_by_side_are_refused_and_one_by_one_they_run() {
    let tare = Tare::new();
    let memory = memory_for(1);
    let more = ["-w", "syscall", "--blocks", "1", "--memory", &memory];
    let words = ["3 boxes", "reduce --memory", "--provisioning", "--slices off"];
    for command in ["run", "plan"] {
        tare.refused(&args(command, "fake,fake?cost=2", &more), &words);
    }
    assert!(!tare.path("r.jsonl").exists());
    run(
        &tare,
        "fake,fake?cost=2",
        &[&more[..], &["--slices", "off"]].concat(),
    );
    assert_eq!(tare.records_of("r.jsonl", "trial").len(), 4);
    assert!(tare.records_of("r.jsonl", "group").is_empty());
    // A pilot's boxes work one by one in any case.
    let pilot = ["-w", "syscall", "--no-settle", "--memory", &memory];
    tare.ok(&args("pilot", "fake,fake?cost=2", &pilot));
}

#[test]
fn a_plan_tells_how_many_boxes_stand_side_by_side() {
    let tare = Tare::new();
    let more = ["-w", "syscall", "--memory", "512M"];
    let text = tare.ok(&args("plan", "fake,fake?cost=2", &more)).stdout;
    let text: Vec<&str> = text.split_whitespace().collect();
    let text = text.join(" ");
    assert!(
        text.contains("slices of at most 10 ms; up to 4 boxes side by side, with 2 GiB of memory together"),
        "{text}"
    );
    let off = [&more[..], &["--slices", "off", "--json"]].concat();
    let plan: Value = serde_json::from_str(&tare.ok(&args("plan", "fake", &off)).stdout).unwrap();
    assert!(plan["side_by_side"].is_null());
}

#[test]
fn a_box_serves_a_trial_a_block_or_the_study() {
    for (fresh, boxes) in [("trial", 4 * 2 * 3), ("block", 4 * 3), ("study", 4)] {
        let tare = Tare::new();
        let more = ["-w", "linpack,syscall", "--blocks", "3", "--fresh", fresh];
        run(&tare, "fake,fake?cost=2", &more);
        assert_eq!(tare.records_of("r.jsonl", "box").len(), boxes, "{fresh}");
        assert_eq!(tare.records_of("r.jsonl", "removed").len(), boxes, "{fresh}");
        assert_eq!(tare.records_of("r.jsonl", "trial").len(), 4 * 2 * 3, "{fresh}");
        assert_eq!(tare.records_of("r.jsonl", "group").len(), 2 * 3, "{fresh}");
        let mut plan = args("plan", "fake,fake?cost=2", &more);
        plan.push("--json");
        let plan: Value = serde_json::from_str(&tare.ok(&plan).stdout).unwrap();
        assert_eq!(number(&plan["cost"], "boxes"), boxes as u64, "{fresh}");
    }
}

/// Cut after every record: between a group and its trials, between the trials of one
/// group, between the boxes of a stand.
#[test]
fn a_file_that_is_cut_anywhere_goes_on_and_holds_every_trial_once() {
    let tare = Tare::new();
    let more = [
        "-w",
        "linpack,syscall",
        "--blocks",
        "2",
        "--provisioning",
        "vanilla",
    ];
    run(&tare, "fake,fake?cost=2,fake?cost=3", &more);
    let expected = order(&tare);
    assert_eq!(expected.len(), 12);
    let text = std::fs::read_to_string(tare.path("r.jsonl")).unwrap();
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    // The header stays, and the end is what makes a file complete.
    for cut in &ends[..ends.len() - 1] {
        std::fs::write(tare.path("r.jsonl"), &text[..*cut]).unwrap();
        tare.ok("run --resume r.jsonl");
        assert_eq!(order(&tare), expected, "cut after {cut} B");
        let groups = tare.records_of("r.jsonl", "group");
        let numbers: BTreeSet<u64> = groups.iter().map(|g| number(g, "group")).collect();
        assert_eq!(numbers.len(), groups.len(), "cut after {cut} B");
        for trial in tare.records_of("r.jsonl", "trial") {
            let own = groups.iter().find(|g| g["group"] == trial["group"]).unwrap();
            let here: Vec<&str> = members(own).map(|m| m["platform"].as_str().unwrap()).collect();
            let is_baseline = trial["platform"] == "fake";
            assert!(
                is_baseline || here.contains(&"fake"),
                "cut after {cut} B: {trial}"
            );
        }
    }
}

/// The looks of a run and its report go by the same losses.
#[test]
fn a_look_finds_what_the_report_finds() {
    let tare = Tare::new();
    // Slices that differ and stall: the typical cost is another than that of the trials.
    let platforms = "fake?stretch=0.2,fake?cost=1.3&seed=3&stall=3&stretch=0.2";
    let more = [
        "-w",
        "syscall",
        "--adaptive",
        "--blocks",
        "10",
        "--provisioning",
        "vanilla",
    ];
    run(&tare, platforms, &more);
    let look = tare.records_of("r.jsonl", "look").remove(0);
    let looked = look["comparisons"][0]["figures"]["mean"].as_f64().unwrap();
    let report: Value = serde_json::from_str(&tare.ok("report r.jsonl --json").stdout).unwrap();
    let metric = &report["comparisons"][0]["metrics"][0];
    let told = metric["paired"]["mean_log"].as_f64().unwrap();
    assert!((looked - told).abs() < 1e-9, "{looked} and {told}");
    let mean = metric["slices"]["mean"]["value"].as_f64().unwrap();
    assert!((told.exp() / mean - 1.0).abs() > 0.1, "{} and {mean}", told.exp());
}

#[test]
fn a_length_that_is_none_is_refused() {
    let tare = Tare::new();
    for bad in ["0", "0s", "1h", "-5ms", "short", "", "nan"] {
        let slices = format!("--slices={bad}");
        let words = [bad, "is not a slicing", "from 1ms to 1s"];
        tare.refused(
            &args("run", "fake,fake?cost=2", &["-w", "syscall", &slices]),
            &words,
        );
        assert!(!tare.path("r.jsonl").exists(), "{bad}");
    }
    let ms = 1_000_000;
    for (good, workload, slice_ns) in [
        ("1ms", "syscall", ms..ms + 1),
        ("20ms", "syscall", 20 * ms..20 * ms + 1),
        ("auto", "syscall", ms..10 * ms),
        // What fills a cache by what it does in a slice.
        ("auto", "latency", 10 * ms..10 * ms + 1),
    ] {
        let tare = Tare::new();
        run(
            &tare,
            "fake",
            &["-w", workload, "--blocks", "1", "--slices", good],
        );
        let group = tare.records_of("r.jsonl", "group").remove(0);
        assert!(slice_ns.contains(&number(&group, "slice_ns")), "{good}: {group}");
    }
}
