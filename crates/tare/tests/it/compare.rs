//! Two results files held against each other, on the scripted platform.

use crate::common::{Tare, ready};
use std::os::unix::fs::PermissionsExt;

/// Measures what a box costs that costs so much, into a file.
fn measured(tare: &Tare, cost: &str, seed: &str, file: &str) {
    let study = format!("-p fake,{cost} -w linpack --provisioning vanilla --blocks 12 --seed {seed}");
    tare.ok(&format!("run {study} --cpus 1 --no-settle -o {file}"));
}

/// The scripted cost is part of the platform's name: under one name it is rewritten.
fn renamed(tare: &Tare, file: &str, from: &str, to: &str) {
    let path = tare.path(file);
    let text = std::fs::read_to_string(&path).unwrap().replace(from, to);
    std::fs::write(path, text).unwrap();
}

fn before_and_after(before: &str, after: &str) -> Tare {
    let tare = Tare::beside_others();
    for (cost, seed, file) in [(before, "1", "before.jsonl"), (after, "2", "after.jsonl")] {
        let platform = format!("fake?cost={cost}&sd=0.002");
        measured(&tare, &platform, seed, file);
        renamed(&tare, file, &platform, "fake?cost=2");
    }
    tare
}

#[test]
fn a_regression_beyond_the_limit_is_exit_code_1() {
    let tare = before_and_after("1.1", "1.3");
    let ended = tare.run("compare before.jsonl after.jsonl --fail-above 5");
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("regression: fake?cost=2 vanilla linpack costs over 5 % more than before"),
        "{}",
        ended.stderr
    );
    assert!(ended.stdout.contains("slower"), "{}", ended.stdout);
    // The same without a limit fails nothing, and so does the way back.
    tare.ok("compare before.jsonl after.jsonl");
    tare.ok("compare after.jsonl before.jsonl --fail-above 5");
    tare.ok("compare before.jsonl after.jsonl --fail-above 50");
}

/// A program of this name that sleeps for so many seconds.
fn app(tare: &Tare, seconds: &str) {
    let path = tare.path("app");
    std::fs::write(&path, format!("#!/bin/sh\nsleep {seconds}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn another_program_under_the_same_name_is_named_gated_and_not_continued() {
    if !ready("native") {
        return;
    }
    let tare = Tare::new();
    let run = "-p native --provisioning vanilla --cpus 1 --no-settle --trial-time 0 --slices off";
    app(&tare, "0.02");
    tare.ok(&format!("run {run} --blocks 10 -o before.jsonl -- ./app"));
    tare.run(&format!(
        "run {run} --blocks 200 --budget 1s -o part.jsonl -- ./app"
    ));
    app(&tare, "0.06");
    tare.ok(&format!("run {run} --blocks 10 -o after.jsonl -- ./app"));
    let compared = tare.run("compare before.jsonl after.jsonl --raw-fail-above 20");
    assert_eq!(compared.code, 1, "{}", compared.stderr);
    let told = compared.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("not the same program:") && told.contains("/app "),
        "{told}"
    );
    assert!(
        compared
            .stderr
            .contains("native vanilla command itself is over 20 % worse than before"),
        "{}",
        compared.stderr
    );
    tare.ok("compare after.jsonl before.jsonl --raw-fail-above 20");
    let resumed = tare.run("run --resume part.jsonl");
    assert_eq!(resumed.code, 2, "{}", resumed.stderr);
    assert!(
        resumed
            .stderr
            .contains("has other contents than when the run began"),
        "{}",
        resumed.stderr
    );
}

#[test]
fn a_program_that_is_replaced_while_it_is_measured_ends_the_run() {
    if !ready("native") {
        return;
    }
    let tare = Tare::new();
    let path = tare.path("app");
    // It replaces itself.
    std::fs::write(&path, format!("#!/bin/sh\necho >> {}\n", path.display())).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let run =
        "run -p native --provisioning vanilla --cpus 1 --no-settle --blocks 3 --trial-time 0 --slices off";
    let ended = tare.run(&format!("{run} -o out.jsonl -- ./app"));
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("app changed while it was measured, in block 1:"),
        "{}",
        ended.stderr
    );
    let report = tare.ok("report out.jsonl --details").stdout;
    assert!(report.contains("a program was replaced while it was"), "{report}");
}

#[test]
fn the_comparison_as_json_has_every_figure() {
    let tare = before_and_after("1.1", "1.3");
    let ended = tare.ok("compare before.jsonl after.jsonl --json");
    let change: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(change["schema"], "tare-change/1");
    let overhead = &change["overheads"][0];
    for key in [
        "change",
        "change_log",
        "error_log",
        "freedom",
        "p",
        "p_holm",
        "p_equal",
        "verdict",
    ] {
        assert!(!overhead[key].is_null(), "{key}: {overhead}");
    }
    assert_eq!(change["raw"].as_array().unwrap().len(), 2);
    assert!(
        change["differences"]
            .as_array()
            .unwrap()
            .iter()
            .any(|d| d["what"] == "study.seed")
    );
}

#[test]
fn files_that_cannot_be_compared_are_refused() {
    let tare = Tare::beside_others();
    measured(&tare, "fake?cost=1.1", "1", "one.jsonl");
    measured(&tare, "fake?cost=1.1", "2", "two.jsonl");
    renamed(&tare, "two.jsonl", "\"linpack\"", "\"syscall\"");
    tare.refused(
        "compare one.jsonl two.jsonl",
        &[
            "the two files measure nothing in common",
            "fake vanilla linpack",
            "give two runs of the same study",
        ],
    );
    tare.refused(
        "compare one.jsonl absent.jsonl",
        &["cannot read results file absent.jsonl"],
    );
    for percent in ["0", "-1", "nan", "x", "101"] {
        let refused = tare.run(&["compare", "one.jsonl", "one.jsonl", "--fail-above", percent]);
        assert_eq!(refused.code, 2);
        assert!(
            refused.stderr.contains("give a percentage from 0.01 to 100"),
            "{}",
            refused.stderr
        );
    }
}

#[test]
fn a_limit_that_holds_nothing_is_refused() {
    let tare = Tare::beside_others();
    let args = "run -p fake,fake?cost=1.1 -w linpack --provisioning vanilla --blocks 3 --cpus 1 --no-settle";
    tare.ok(&format!("{args} -o few.jsonl"));
    tare.refused(
        "compare few.jsonl ./few.jsonl",
        &["is given twice", "give the results of two runs"],
    );
    std::fs::copy(tare.path("few.jsonl"), tare.path("copy.jsonl")).unwrap();
    tare.refused(
        "compare few.jsonl copy.jsonl --fail-above 5",
        &["have trials of the same run", "give the results of two runs"],
    );
    tare.ok(&format!("{args} -o again.jsonl"));
    tare.refused(
        "compare few.jsonl again.jsonl --fail-above 5",
        &["no change got a verdict"],
    );
}
