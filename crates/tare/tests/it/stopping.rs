//! Adaptive stopping, warm-up, rest and budget, on the scripted platform.

use crate::common::Tare;
use serde_json::Value;
use std::time::{Duration, Instant};

fn args<'a>(platforms: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["run", "-p", platforms, "-w", "syscall", "--cpus", "1"];
    args.extend([
        "--no-settle",
        "--provisioning",
        "vanilla",
        "--seed",
        "7",
        "-o",
        "r.jsonl",
    ]);
    args.extend(more);
    args
}

/// Far beyond the margin, steady; and noise that no number of blocks settles.
const STEADY_AND_NOISY: &str = "fake,fake?cost=1.2&sd=0.001,fake?cost=1.02&sd=0.2&seed=5";

fn trials_of(records: &[Value], platform: &str) -> Vec<u64> {
    let own = records
        .iter()
        .filter(|r| r["record"] == "trial" && r["platform"] == platform);
    own.map(|r| r["block"].as_u64().unwrap()).collect()
}

/// What of the records must be the same in every run: trials with their figures,
/// and looks.
fn lasting(records: &[Value]) -> Vec<Value> {
    let strip = |r: &Value| match r["record"].as_str() {
        Some("look") => Some(r.clone()),
        Some("trial") => Some(serde_json::json!([
            r["trial"],
            r["block"],
            r["platform"],
            r["workload"]
        ])),
        _ => None,
    };
    records.iter().filter_map(strip).collect()
}

fn looks(records: &[Value]) -> Vec<u64> {
    let looks = records.iter().filter(|r| r["record"] == "look");
    looks.map(|r| r["blocks"].as_u64().unwrap()).collect()
}

#[test]
fn settled_cells_leave_and_the_baseline_stays_while_it_is_needed() {
    for slices in ["auto", "off"] {
        settled_cells_leave(&["--adaptive", "--slices", slices]);
    }
}

fn settled_cells_leave(more: &[&str]) {
    let tare = Tare::new();
    tare.ok(&args(STEADY_AND_NOISY, more));
    let records = tare.records("r.jsonl");
    assert_eq!(looks(&records), [10, 15, 20, 25, 30, 40, 50, 60]);
    assert_eq!(
        trials_of(&records, "fake?cost=1.2&sd=0.001"),
        (0..10).collect::<Vec<_>>()
    );
    assert_eq!(trials_of(&records, "fake?cost=1.02&sd=0.2&seed=5").len(), 60);
    assert_eq!(trials_of(&records, "fake").len(), 60);
    assert_eq!(records.last().unwrap()["reason"], "budget-spent");
    let mut numbers: Vec<_> = records.iter().filter_map(|r| r["trial"].as_u64()).collect();
    let all = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), all, "no number is given twice");
}

#[test]
fn a_study_ends_when_every_cell_is_settled() {
    let tare = Tare::new();
    tare.ok(&args(
        "fake?sd=0.001,fake?cost=1.2&sd=0.001&seed=3",
        &["--adaptive"],
    ));
    let records = tare.records("r.jsonl");
    assert_eq!(looks(&records), [10]);
    assert_eq!(records.last().unwrap()["reason"], "settled");
    tare.refused("run --resume r.jsonl", &["complete"]);
}

#[test]
fn a_look_at_trials_that_are_gone_cannot_be_taken_again() {
    let tare = Tare::new();
    tare.ok(&args(
        "fake?sd=0.001,fake?cost=1.2&sd=0.001&seed=3",
        &["--adaptive"],
    ));
    let text = std::fs::read_to_string(tare.path("r.jsonl")).unwrap();
    let is_trial = |line: &&str| line.contains("\"record\":\"trial\"");
    let kept: Vec<&str> = text.lines().filter(|line| !is_trial(line)).collect();
    std::fs::write(tare.path("gone.jsonl"), kept.join("\n") + "\n").unwrap();
    tare.refused("run --resume gone.jsonl", &["looks at trials", "start a new one"]);
}

#[test]
fn a_file_that_was_cut_repeats_no_look() {
    let tare = Tare::new();
    tare.ok(&args(STEADY_AND_NOISY, &["--adaptive", "--blocks", "30"]));
    let whole = std::fs::read_to_string(tare.path("r.jsonl")).unwrap();
    // Of a look only when it was, since it may find other figures.
    let told = |records: &[Value]| -> Vec<Value> {
        let of = |r: Value| {
            if r["record"] == "look" {
                r["blocks"].clone()
            } else {
                r
            }
        };
        lasting(records).into_iter().map(of).collect()
    };
    let expected = told(&tare.records("r.jsonl"));
    for share in [20, 45, 60, 75, 97] {
        let cut = whole.len() * share / 100;
        std::fs::write(tare.path("cut.jsonl"), &whole[..cut]).unwrap();
        let before = looks(&tare.records("cut.jsonl"));
        let ended = tare.run("run --resume cut.jsonl");
        assert_eq!(ended.code, 0, "cut at {share} %: {}", ended.stderr);
        let records = tare.records("cut.jsonl");
        assert_eq!(looks(&records), [10, 15, 20, 25, 30], "cut at {share} %");
        assert_eq!(before, looks(&records)[..before.len()]);
        // The scripted noise goes by boxes and not by blocks, so a look may find other
        // figures; which trials there are follows from the looks before the cut.
        let steady = trials_of(&records, "fake?cost=1.2&sd=0.001");
        assert_eq!(steady, (0..10).collect::<Vec<_>>(), "cut at {share} %");
        assert_eq!(told(&records), expected, "cut at {share} %");
    }
}

#[test]
fn a_killed_run_is_gone_on_with() {
    let tare = Tare::new();
    let platforms = "fake?ms=4,fake?cost=1.2&ms=4&sd=0.001,fake?cost=1.02&ms=4&sd=0.2&seed=5";
    let mut child = tare.spawn(&args(platforms, &["--adaptive", "--blocks", "25"]));
    // Killed as soon as the first look stands in the file.
    let begun = Instant::now();
    loop {
        let text = std::fs::read_to_string(tare.path("r.jsonl")).unwrap_or_default();
        if text.contains("\"record\":\"look\"") {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "no look: {text}");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    tare.ok("run --resume r.jsonl");
    let records = tare.records("r.jsonl");
    assert_eq!(looks(&records), [10, 15, 20, 25]);
    assert_eq!(trials_of(&records, "fake?cost=1.2&ms=4&sd=0.001").len(), 10);
    assert_eq!(trials_of(&records, "fake?cost=1.02&ms=4&sd=0.2&seed=5").len(), 25);
}

#[test]
fn blocks_are_added_by_the_schedule_of_looks_and_not_to_a_fixed_number() {
    let tare = Tare::new();
    tare.ok(&args(STEADY_AND_NOISY, &["--adaptive", "--blocks", "15"]));
    tare.refused(
        "run --resume r.jsonl",
        &["all 15 blocks were run", "--blocks up to 60"],
    );
    tare.refused("run --resume r.jsonl --blocks 61", &["none after 61 blocks"]);
    tare.ok("run --resume r.jsonl --blocks 25");
    let records = tare.records("r.jsonl");
    assert_eq!(looks(&records), [10, 15, 20, 25]);
    let shown = tare.ok("report r.jsonl").stdout;
    assert!(shown.contains("25 blocks, "), "{shown}");
    let fixed = Tare::new();
    fixed.ok(&args("fake,fake?cost=1.1", &["--blocks", "3"]));
    fixed.refused(
        "run --resume r.jsonl --blocks 5",
        &["planned with 3 blocks", "--adaptive"],
    );
}

/// Without a number of blocks, what is open goes on as long as the budget lasts, and in another session.
#[test]
fn a_budget_is_for_what_the_first_look_leaves_open() {
    let tare = Tare::new();
    let (steady, noisy) = ("fake?cost=1.2&ms=40", "fake?cost=1.02&ms=40&sd=0.2&seed=5");
    let platforms = format!("fake?ms=40,{steady},{noisy}");
    let more = ["--slices", "off", "--budget", "3s"];
    let shown = tare.ok(&args(&platforms, &more)).stdout;
    let records = tare.records("r.jsonl");
    assert_eq!(trials_of(&records, steady).len(), 10);
    let blocks = trials_of(&records, noisy).len();
    assert!((11..60).contains(&blocks), "{blocks}");
    assert_eq!(records.last().unwrap()["reason"], "budget-spent");
    // That it ended so is no doubt about its figures.
    assert!(shown.contains(&format!("{blocks} blocks, ")), "{shown}");
    assert!(!shown.contains("budget was used up"), "{shown}");
    tare.ok("run --resume r.jsonl --budget 300ms");
    let more = trials_of(&tare.records("r.jsonl"), noisy).len();
    assert!(more > blocks, "{more} of {blocks}");
}

#[test]
fn a_budget_that_ended_a_run_before_any_verdict_is_told_with_the_command_that_goes_on() {
    let tare = Tare::new();
    let more = ["--slices", "off", "--budget", "400ms"];
    let shown = tare.ok(&args("fake?ms=40,fake?cost=1.2&ms=40", &more)).stdout;
    assert!(
        shown.contains("Verdicts need 10 blocks") && shown.contains("--resume r.jsonl"),
        "{shown}"
    );
    let blocks = trials_of(&tare.records("r.jsonl"), "fake?ms=40").len();
    tare.refused(
        "run --resume r.jsonl --blocks 10",
        &["for at most 60 blocks", "--budget"],
    );
    tare.ok("run --resume r.jsonl --budget 3s");
    let records = tare.records("r.jsonl");
    assert!(
        blocks < 10 && trials_of(&records, "fake?ms=40").len() >= 10,
        "{blocks}"
    );
}

/// By itself a run has ten blocks before its budget counts.
#[test]
fn a_budget_that_is_asked_for_holds_from_the_start_of_a_session() {
    let tare = Tare::new();
    tare.ok(&args("fake,fake?cost=1.2&sd=0.001", &["--slices", "off"]));
    let whole = std::fs::read_to_string(tare.path("r.jsonl")).unwrap();
    let fourth = whole
        .lines()
        .position(|line| line.contains(r#""block":3,"#))
        .unwrap();
    let begun: Vec<&str> = whole.lines().take(fourth).collect();
    std::fs::write(tare.path("r.jsonl"), begun.join("\n") + "\n").unwrap();
    tare.ok("run --resume r.jsonl --budget 1ms");
    let blocks = trials_of(&tare.records("r.jsonl"), "fake").len();
    assert!((3..10).contains(&blocks), "{blocks}");
}

#[test]
fn what_is_precise_enough_is_not_gone_on_with() {
    let tare = Tare::new();
    let more = ["--slices", "off", "--precision", "1%"];
    let shown = tare
        .ok(&args("fake,fake?cost=1.006&sd=0.008&seed=6", &more))
        .stdout;
    assert_eq!(tare.records("r.jsonl").last().unwrap()["reason"], "settled");
    assert!(
        shown.contains("inconclusive") && !shown.contains("--resume"),
        "{shown}"
    );
    assert!(shown.contains("--blocks"), "{shown}");
    let told = tare.ok("report r.jsonl --details").stdout;
    let words: Vec<&str> = told.split_whitespace().collect();
    assert!(words.join(" ").contains("--precision 1% --seed 7"), "{told}");
}

#[test]
fn a_precision_is_reached_before_a_cell_leaves() {
    let tare = Tare::new();
    let platforms = "fake,fake?cost=1.2,fake?cost=1.2&sd=0.002&seed=5";
    tare.ok(&args(platforms, &["--slices", "off", "--precision", "0.5%"]));
    let records = tare.records("r.jsonl");
    let [precise, less] =
        ["fake?cost=1.2", "fake?cost=1.2&sd=0.002&seed=5"].map(|of| trials_of(&records, of).len());
    assert!(precise == 10 && less > 10, "{precise} {less}");
    assert_eq!(records.last().unwrap()["reason"], "settled");
    for value in ["0", "none", "-1"] {
        let words = ["plan", "-p", "fake", "--precision", value];
        tare.refused(&words[..], &["--precision", "0.01 to 100"]);
    }
}

#[test]
fn a_warm_up_is_told_and_not_recorded_and_the_budget_counts_after_it() {
    let tare = Tare::new();
    let more = ["--blocks", "500", "--warm-up", "700ms", "--budget", "500ms"];
    tare.ok(&args("fake?ms=10", &more));
    let records = tare.records("r.jsonl");
    let warm = records.iter().find(|r| r["record"] == "warm-up").unwrap();
    assert!(
        warm["seconds"].as_f64().unwrap() >= 0.7 && warm["trials"].as_u64().unwrap() > 3,
        "{warm}"
    );
    let blocks = trials_of(&records, "fake?ms=10");
    assert_eq!(blocks, (0..blocks.len() as u64).collect::<Vec<_>>());
    assert!(
        blocks.len() > 3,
        "the budget of 500 ms is for what counts: {blocks:?}"
    );
    let at = |kind: &str| records.iter().position(|r| r["record"] == kind).unwrap();
    assert!(at("warm-up") < at("trial"));
    let warm_boxes = records
        .iter()
        .filter(|r| r["record"] == "box" && r["warm_up"] == true);
    assert!(warm_boxes.count() > 3);
    // A resumption warms up again.
    tare.ok("run --resume r.jsonl");
    assert_eq!(tare.records_of("r.jsonl", "warm-up").len(), 2);
}

#[test]
fn a_pause_is_kept_before_each_trial() {
    let tare = Tare::new();
    let begun = Instant::now();
    tare.ok(&args("fake", &["--blocks", "4", "--pause", "150ms"]));
    assert!(
        begun.elapsed() >= Duration::from_millis(600),
        "{:?}",
        begun.elapsed()
    );
    let starts: Vec<u64> = tare
        .records_of("r.jsonl", "trial")
        .iter()
        .map(|t| t["started_unix_ns"].as_u64().unwrap())
        .collect();
    assert!(
        starts.windows(2).all(|w| w[1] - w[0] >= 150_000_000),
        "{starts:?}"
    );
}

#[test]
fn a_plan_tells_the_looks_and_how_many_blocks_there_may_be() {
    let tare = Tare::new();
    let mut plan = args(
        STEADY_AND_NOISY,
        &["--adaptive", "--blocks", "40", "--warm-up", "1h"],
    );
    plan[0] = "plan";
    plan.retain(|arg| !["-o", "r.jsonl"].contains(arg));
    let text = tare.ok(&plan).stdout;
    for words in [
        "10 to 40 blocks",
        "10, 15, 20, 25, 30, 40 blocks",
        "at most 120 trials",
        "1 h",
    ] {
        assert!(text.contains(words), "'{words}' is not in: {text}");
    }
    plan.push("--json");
    let json: Value = serde_json::from_str(&tare.ok(&plan).stdout).unwrap();
    assert_eq!(json["looks"], serde_json::json!([10, 15, 20, 25, 30, 40]));
}

#[test]
fn a_study_that_cannot_be_adaptive_is_refused() {
    let tare = Tare::new();
    tare.refused(&args("fake", &["--adaptive"]), &["nothing to compare"]);
    for blocks in ["9", "12", "61"] {
        tare.refused(
            &args("fake,fake?cost=2", &["--adaptive", "--blocks", blocks]),
            &["none after", "one of 10, 15, 20, 25, 30, 40, 50, 60 blocks"],
        );
    }
    assert!(!tare.path("r.jsonl").exists());
}

#[test]
fn a_plan_tells_that_there_will_be_no_verdict() {
    let tare = Tare::new();
    for (option, value, words) in [
        ("--blocks", "9", "verdicts need at least 10 blocks"),
        ("--fresh", "study", "verdicts      none"),
    ] {
        let plan = [
            "plan",
            "-p",
            "fake,fake?cost=2",
            "-w",
            "syscall",
            "--cpus",
            "1",
            option,
            value,
        ];
        let text = tare.ok(&plan).stdout;
        assert!(text.contains(words), "'{words}' is not in: {text}");
    }
    let plan = ["plan", "-p", "fake,fake?cost=2", "-w", "syscall", "--cpus", "1"];
    assert!(!tare.ok(&plan).stdout.contains("verdicts"));
}
