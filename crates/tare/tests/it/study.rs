//! Order, repetition, resumption and refusal, on the scripted platform.

use crate::common::{self, Tare};

const QUICK: [&str; 6] = [
    "--cpus",
    "1",
    "--no-settle",
    "--provisioning",
    "vanilla",
    "--seed",
];

fn run_args<'a>(platforms: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["run", "-p", platforms, "-w", "linpack,syscall"];
    args.extend(QUICK);
    args.extend(["7", "-o", "r.jsonl"]);
    args.extend(more);
    args
}

/// In slices, side by side, and in one piece, one after another.
const BOTH_WAYS: [&str; 2] = ["auto", "off"];

fn trials(tare: &Tare, file: &str) -> Vec<(u64, String, bool)> {
    let key = |t: &serde_json::Value| {
        let cell = format!(
            "{} {}",
            t["platform"].as_str().unwrap(),
            t["workload"].as_str().unwrap()
        );
        (t["trial"].as_u64().unwrap(), cell, t["outcome"]["ok"].is_object())
    };
    tare.records_of(file, "trial").iter().map(key).collect()
}

#[test]
fn every_block_holds_every_cell_once_in_an_order_of_its_own() {
    for slices in BOTH_WAYS {
        let tare = Tare::new();
        let more = ["--blocks", "6", "--slices", slices];
        tare.ok(&run_args("fake,fake?cost=1.1", &more));
        let trials = trials(&tare, "r.jsonl");
        assert_eq!(trials.len(), 24);
        let blocks: Vec<Vec<String>> = trials
            .chunks(4)
            .map(|b| b.iter().map(|t| t.1.clone()).collect())
            .collect();
        let mut sets = blocks.clone();
        sets.iter_mut().for_each(|b| b.sort());
        assert!(sets.windows(2).all(|w| w[0] == w[1]));
        assert!(blocks.windows(2).any(|w| w[0] != w[1]));
    }
}

#[test]
fn the_same_seed_gives_the_same_order() {
    for slices in BOTH_WAYS {
        let (one, two) = (Tare::new(), Tare::new());
        for tare in [&one, &two] {
            let more = ["--blocks", "3", "--slices", slices];
            tare.ok(&run_args("fake,fake?cost=1.1", &more));
        }
        assert_eq!(trials(&one, "r.jsonl"), trials(&two, "r.jsonl"));
    }
}

#[test]
fn a_scripted_cost_is_found_again() {
    let tare = Tare::new();
    let ended = tare.ok(&run_args(
        "fake,fake?cost=1.2&sd=0.005",
        &["--blocks", "15", "--json"],
    ));
    assert!(ended.stdout.contains("\"slower\""), "{}", ended.stdout);
}

#[test]
fn a_failed_trial_is_a_record_and_is_repeated_once_at_the_end_of_its_block() {
    let reasons = [
        ("launch", "launch"),
        ("hello", "handshake"),
        ("hang", "timeout"),
        ("link", "link-lost"),
        ("kill", "killed"),
        ("exit", "exit-status"),
        ("answer", "wrong-answer"),
        ("report", "bad-report"),
    ];
    for ((fail, reason), slices) in reasons.into_iter().flat_map(|r| BOTH_WAYS.map(|way| (r, way))) {
        let tare = Tare::new();
        let platforms = format!("fake,fake?fail={fail}");
        let ended = tare.run(&run_args(&platforms, &["--blocks", "1", "--slices", slices]));
        assert_eq!(ended.code, 1, "{fail}: {}", ended.stderr);
        let records = tare.records_of("r.jsonl", "trial");
        let failed: Vec<_> = records
            .iter()
            .filter(|t| t["outcome"]["failed"].is_object())
            .collect();
        assert_eq!(failed.len(), 4, "{fail}: two trials, each tried twice");
        assert!(
            failed.iter().all(|t| t["outcome"]["failed"]["reason"] == reason),
            "{fail}: {failed:?}"
        );
        let attempts: Vec<_> = records.iter().map(|t| t["attempt"].as_u64().unwrap()).collect();
        assert_eq!(attempts, [0, 0, 0, 0, 1, 1], "{fail}");
        assert_eq!(
            records.iter().filter(|t| t["outcome"]["ok"].is_object()).count(),
            2,
            "{fail}"
        );
    }
}

#[test]
fn a_box_beyond_its_limit_is_refused_with_both_readings() {
    let tare = Tare::new();
    let ended = tare.run(&run_args("fake,fake?overrun=1.1", &["--blocks", "2"]));
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("limits not proven") && ended.stderr.contains("1.100 cores"),
        "{}",
        ended.stderr
    );
    assert!(trials(&tare, "r.jsonl").iter().all(|t| !t.1.contains("overrun")));
    let proofs = tare.records_of("r.jsonl", "proof");
    assert_eq!(proofs.iter().filter(|p| p["proven"] == false).count(), 1);
}

#[test]
fn a_budget_ends_the_study_between_blocks() {
    for slices in BOTH_WAYS {
        let tare = Tare::new();
        let more = ["--blocks", "1000", "--budget", "1s", "--slices", slices];
        tare.ok(&run_args("fake?ms=40", &more));
        let end = tare.records_of("r.jsonl", "end");
        assert_eq!(end[0]["reason"], "budget-spent");
        assert_eq!(trials(&tare, "r.jsonl").len() % 2, 0);
    }
}

#[test]
fn a_cut_file_is_continued_at_the_first_missing_trial_in_the_same_order() {
    for slices in BOTH_WAYS {
        goes_on_after_cuts(&["--blocks", "4", "--slices", slices]);
    }
}

fn goes_on_after_cuts(more: &[&str]) {
    let tare = Tare::new();
    tare.ok(&run_args("fake,fake?cost=1.1", more));
    let whole = std::fs::read_to_string(tare.path("r.jsonl")).unwrap();
    let expected = trials(&tare, "r.jsonl");
    // Cut anywhere: between records and in the middle of one.
    for share in [30, 45, 60, 75, 90, 99] {
        let mut cut = whole.len() * share / 100;
        if share % 2 == 0 {
            cut = whole[..cut].rfind('\n').unwrap() + 1;
        }
        std::fs::write(tare.path("cut.jsonl"), &whole[..cut]).unwrap();
        let ended = tare.run("run --resume cut.jsonl");
        assert_eq!(ended.code, 0, "cut at {share} %: {}", ended.stderr);
        let resumed: Vec<_> = trials(&tare, "cut.jsonl");
        assert_eq!(resumed, expected, "cut at {share} %");
    }
}

#[test]
fn resuming_repeats_only_what_failed_once() {
    let tare = Tare::new();
    let list = "fake,fake?cost=2,fake?fail=exit&every=3";
    let ended = tare.run(&run_args(list, &["--blocks", "3"]));
    assert!(ended.code <= 1, "{}", ended.stderr);
    tare.refused("run --resume r.jsonl", &["complete"]);
}

#[test]
fn a_run_that_is_fruitless_ends_after_its_first_block_and_goes_on_where_that_is_wished() {
    let tare = Tare::new();
    let ended = tare.run(&run_args("fake,fake?fail=exit", &["--blocks", "2"]));
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let told = "the run ended after its first block, which left nothing to compare; to continue anyway: ";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
    assert_eq!(tare.records_of("r.jsonl", "end")[0]["reason"], "fruitless");
    let blocks = |tare: &Tare| {
        let trials = tare.records_of("r.jsonl", "trial");
        trials.iter().filter_map(|trial| trial["block"].as_u64()).max()
    };
    assert_eq!(blocks(&tare), Some(0));
    let gone_on = tare.run("run --resume r.jsonl");
    assert_eq!(gone_on.code, 1, "{}", gone_on.stderr);
    assert_eq!(blocks(&tare), Some(1));
}

#[test]
fn a_session_that_was_killed_after_one_that_ran_out_of_time_has_something_left() {
    let tare = Tare::new();
    tare.ok(&run_args("fake", &["--blocks", "3"]));
    tare.refused("run --resume r.jsonl --blocks 1", &["planned with 3 blocks"]);
    tare.refused("run --resume r.jsonl --seed 123456", &["its own --seed"]);
    let text = std::fs::read_to_string(tare.path("r.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let of = |kind: &str| {
        lines
            .iter()
            .find(|l| l.contains(&format!("\"record\":\"{kind}\"")))
            .unwrap()
    };
    let end = of("end").replace("complete", "budget-spent");
    let cut = lines
        .iter()
        .rposition(|l| l.contains("\"record\":\"trial\""))
        .unwrap();
    let killed = [&lines[..cut], &[end.as_str(), of("session")]]
        .concat()
        .join("\n")
        + "\n";
    std::fs::write(tare.path("killed.jsonl"), killed).unwrap();
    tare.ok("run --resume killed.jsonl");
}

#[test]
fn an_interrupted_run_is_whole_and_goes_on() {
    let tare = Tare::new();
    let child = tare.spawn(&run_args("fake?ms=30", &["--blocks", "20"]));
    std::thread::sleep(std::time::Duration::from_millis(600));
    let interrupted = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(interrupted.success());
    let status = { child }.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert_eq!(tare.records_of("r.jsonl", "end")[0]["reason"], "interrupted");
    tare.ok("run --resume r.jsonl");
    assert_eq!(trials(&tare, "r.jsonl").len(), 40);
}

#[test]
fn two_runs_at_once_are_refused() {
    let tare = Tare::new();
    let mut first = tare.spawn(&run_args("fake?ms=50", &["--blocks", "100"]));
    std::thread::sleep(std::time::Duration::from_millis(500));
    tare.refused("run -p fake --cpus 1 -o other.jsonl", &["another run", "disturb"]);
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(!tare.path("other.jsonl").exists());
}

#[test]
fn a_clock_that_runs_at_another_speed_is_found() {
    let tare = Tare::new();
    let fast = "fake?ms=30,fake?ms=30&clock=2";
    tare.ok(&run_args(fast, &["--blocks", "1", "--baseline", "fake?ms=30"]));
    for trial in tare.records_of("r.jsonl", "trial") {
        let is_fast = trial["platform"].as_str().unwrap().contains("clock=2");
        let found = trial["findings"].as_array().unwrap();
        let drifts = found.iter().any(|f| f["finding"] == "clock-drift");
        assert_eq!(drifts, is_fast, "{trial}");
        let conditions = &trial["host"]["conditions"];
        assert!(
            conditions["clock"]["ratio"].is_f64() && conditions["reading_ns"].is_u64(),
            "{trial}"
        );
    }
}

/// As with `2>&1 | head`: a reader of the talk that went away ends no measurement.
#[test]
fn nobody_needs_to_listen() {
    let tare = Tare::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let args = "run -p fake --cpus 1 -w syscall --no-settle --blocks 2 -o r.jsonl";
    let ended = tare.command(args).stderr(writer).status().unwrap();
    assert!(ended.success(), "{ended}");
    assert_eq!(tare.records_of("r.jsonl", "end").len(), 1);
}

#[test]
fn who_goes_on_with_a_file_is_told_what_it_runs() {
    let tare = Tare::new();
    let program = common::binary().display().to_string();
    let odd = "a b\u{1b}[2J\"c\u{202e}";
    let args = [
        "run",
        "-p",
        "fake",
        "--cpus",
        "1",
        "--provisioning",
        "pinned",
        "--no-settle",
    ];
    let more = ["--blocks", "2", "-o", "r.jsonl", "--", &program, odd];
    let ended = tare.run(&[&args[..], &more].concat());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(!ended.stderr.contains("\nruns "), "who gave it knows it");
    // As if it had been killed in its second block.
    let text = std::fs::read_to_string(tare.path("r.jsonl")).unwrap();
    let cut = text.rfind("{\"record\":\"group\"").unwrap();
    std::fs::write(tare.path("r.jsonl"), &text[..cut]).unwrap();
    let resumed = tare.run("run --resume r.jsonl");
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    let told: String = resumed.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains(&format!("runs {program:?} \"a b\\u{{1b}}[2J\\\"c\\u{{202e}}\"")),
        "{told}"
    );
    assert!(told.contains("\"PATH=/"), "{told}");
}

/// The lines of the results with each changed as `change` says; left out where that is none.
fn altered(tare: &Tare, name: &str, change: impl Fn(serde_json::Value) -> Vec<serde_json::Value>) {
    let text = std::fs::read_to_string(tare.path("r.jsonl")).unwrap();
    let records = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<String> = records.flat_map(change).map(|r| r.to_string()).collect();
    std::fs::write(tare.path(name), lines.join("\n") + "\n").unwrap();
}

#[test]
fn a_file_is_complete_where_its_trials_are_there_whatever_its_end_says() {
    let tare = Tare::new();
    tare.ok(&run_args("fake", &["--blocks", "3"]));
    let expected = trials(&tare, "r.jsonl");
    altered(&tare, "gone.jsonl", |record| {
        let is_gone = record["record"] == "trial" && record["block"] == 1;
        if is_gone { Vec::new() } else { vec![record] }
    });
    tare.ok("run --resume gone.jsonl");
    assert_eq!(trials(&tare, "gone.jsonl").len(), expected.len());
    tare.refused("run --resume gone.jsonl", &["complete"]);
}

#[test]
fn a_file_that_cannot_be_gone_on_with_is_refused_before_anything_runs() {
    let tare = Tare::new();
    tare.ok(&run_args("fake", &["--blocks", "3"]));
    altered(&tare, "none.jsonl", |mut record| {
        if record["record"] == "header" {
            record["study"]["blocks"] = 0.into();
        }
        vec![record]
    });
    tare.refused(
        "run --resume none.jsonl",
        &["blocks", "altered", "start a new one"],
    );
    altered(&tare, "baseline.jsonl", |mut record| {
        if record["record"] == "header" {
            record["study"]["baseline"] = "lxc".into();
        }
        vec![record]
    });
    tare.refused(
        "run --resume baseline.jsonl",
        &["baseline", "lxc", "start a new one"],
    );
    altered(&tare, "twice.jsonl", |record| {
        let mut other = record.clone();
        other["padding"] = 1.into();
        other["started_unix_ns"] = 1.into();
        let is_doubled = record["record"] == "trial" && record["trial"] == 0;
        if is_doubled {
            vec![record, other]
        } else {
            vec![record]
        }
    });
    tare.refused(
        "run --resume twice.jsonl",
        &["1 trial more than once", "start a new one"],
    );
}
