//! What the program itself prints and stores is what the schemas in `docs/schemas` say.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;
#[path = "../../tare-report/tests/common/schema.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod schema;

use common::Tare;
use schema::Schema;

/// Holds what a command prints against a schema.
#[track_caller]
fn prints(tare: &Tare, command: &str, name: &'static str) {
    Schema::of(name).holds(&tare.ok(command).stdout);
}

/// Holds every line of a results file against the schema of lines.
#[track_caller]
fn stored(tare: &Tare, name: &str) {
    let schema = Schema::of("tare-results-3");
    let file = std::fs::read_to_string(tare.path(name)).unwrap();
    file.lines().for_each(|line| schema.holds(line));
}

#[test]
fn a_run_and_what_is_told_of_it() {
    let tare = Tare::new();
    let run =
        "run -p fake,fake?cost=1.2&sd=0.01 -w syscall,spawn --blocks 3 --no-settle --trial-time 50ms --json";
    for name in ["a.jsonl", "b.jsonl"] {
        prints(&tare, &format!("{run} -o {name}"), "tare-analysis-2");
        stored(&tare, name);
    }
    prints(&tare, "compare a.jsonl b.jsonl --json", "tare-change-1");
    prints(&tare, "merge a.jsonl b.jsonl --json", "tare-merge-1");
    prints(&tare, "trend a.jsonl b.jsonl --json", "tare-trend-1");
    prints(&tare, "advise a.jsonl --json", "tare-advice-1");
}

#[test]
fn an_adaptive_run_with_a_warm_up() {
    let tare = Tare::new();
    let run = "run -p fake,fake?cost=1.2&sd=0.01 -w syscall --adaptive --blocks 10 --warm-up 1s --no-settle";
    let more = "--trial-time 20ms --json -o a.jsonl";
    prints(&tare, &format!("{run} {more}"), "tare-analysis-2");
    assert!(!tare.records_of("a.jsonl", "look").is_empty());
    assert!(!tare.records_of("a.jsonl", "warm-up").is_empty());
    stored(&tare, "a.jsonl");
}

#[test]
fn a_run_of_which_trials_fail() {
    let tare = Tare::new();
    let run =
        "run -p fake,fake?fail=exit -w syscall --blocks 2 --no-settle --trial-time 50ms --json -o a.jsonl";
    Schema::of("tare-analysis-2").holds(&tare.run(run).stdout);
    let trials = tare.records_of("a.jsonl", "trial");
    assert!(trials.iter().any(|trial| !trial["outcome"]["failed"].is_null()));
    stored(&tare, "a.jsonl");
}

#[test]
fn a_pilot_and_a_kernel() {
    let tare = Tare::new();
    let pilot = "pilot -p fake,fake?sd=0.2 -w syscall --cpus 1 --no-settle --seed 7 --json";
    prints(&tare, pilot, "tare-pilot-1");
    prints(&tare, "kernel syscall --json", "tare-kernel");
}
