//! What fails in slices, on the scripted platform: which trials lose by it, and how they
//! are repeated.

use crate::common::{self, Tare};
use serde_json::Value;
use std::collections::BTreeSet;

/// A trial of a platform: attempt, failure if it failed, and the members of its group.
#[derive(Debug, PartialEq)]
struct Tried {
    attempt: u64,
    failed: Option<String>,
    members: Option<Vec<String>>,
}

/// Runs a study; its exit code.
fn run(tare: &Tare, platforms: &str, more: &[&str]) -> i32 {
    let mut args = vec!["run", "-p", platforms, "--cpus", "1", "--no-settle"];
    // Nobody can tell whether a quota throttles a command on the test bed: in one piece.
    let provisioning = if more.contains(&"--") { "pinned" } else { "vanilla" };
    args.extend(["--provisioning", provisioning, "--seed", "7", "-o", "r.jsonl"]);
    args.extend(more);
    let ended = tare.run(&args);
    assert!([0, 1].contains(&ended.code), "{platforms}: {}", ended.stderr);
    holds_together(tare, platforms);
    ended.code
}

const ONE: [&str; 4] = ["-w", "syscall", "--blocks", "1"];
const TWO: [&str; 4] = ["-w", "linpack,syscall", "--blocks", "1"];

/// Whatever failed: nothing is recorded twice, and who has a result is in its group.
fn holds_together(tare: &Tare, what: &str) {
    let groups = tare.records_of("r.jsonl", "group");
    let numbers: BTreeSet<u64> = groups.iter().map(|g| g["group"].as_u64().unwrap()).collect();
    assert_eq!(numbers.len(), groups.len(), "{what}: no number is given twice");
    let mut seen = BTreeSet::new();
    for trial in tare.records_of("r.jsonl", "trial") {
        let key = (
            trial["trial"].as_u64().unwrap(),
            trial["attempt"].as_u64().unwrap(),
        );
        assert!(seen.insert(key), "{what}: twice: {trial}");
        let ended_well = trial["outcome"]["ok"].is_object();
        assert_eq!(trial["group"].is_u64(), ended_well, "{what}: {trial}");
        let own = groups.iter().find(|g| ended_well && g["group"] == trial["group"]);
        if let Some(group) = own {
            assert_eq!(group["block"], trial["block"], "{what}");
            assert!(members(group).contains(&name(&trial)), "{what}: {trial}");
        }
    }
    assert_eq!(
        tare.records_of("r.jsonl", "box").len(),
        tare.records_of("r.jsonl", "removed").len()
    );
}

fn name(of: &Value) -> String {
    of["platform"].as_str().unwrap().to_owned()
}

fn members(group: &Value) -> Vec<String> {
    group["members"].as_array().unwrap().iter().map(name).collect()
}

/// The trials of a platform, in the order of the file.
fn tried(tare: &Tare, platform: &str) -> Vec<Tried> {
    let groups = tare.records_of("r.jsonl", "group");
    let group_of = |trial: &Value| groups.iter().find(|g| g["group"] == trial["group"]);
    let own = tare.records_of("r.jsonl", "trial").into_iter();
    own.filter(|trial| name(trial) == platform)
        .map(|trial| Tried {
            attempt: trial["attempt"].as_u64().unwrap(),
            failed: trial["outcome"]["failed"]["reason"].as_str().map(str::to_owned),
            members: group_of(&trial).map(members),
        })
        .collect()
}

fn failed(attempt: u64, reason: &str) -> Tried {
    Tried {
        attempt,
        failed: Some(reason.to_owned()),
        members: None,
    }
}

fn well(attempt: u64, members: &[&str]) -> Tried {
    Tried {
        attempt,
        failed: None,
        members: Some(members.iter().map(ToString::to_string).collect()),
    }
}

/// Every way to fail, in every phase in which it can.
fn ways() -> Vec<(&'static str, String)> {
    let phases = |fail: &'static str, reason, phases: &[&str]| {
        let script = |phase: &&str| (reason, format!("at={phase}&fail={fail}"));
        phases.iter().map(script).collect::<Vec<_>>()
    };
    const ALL: [&str; 4] = ["start", "first", "slice", "stop"];
    [
        phases("hang", "timeout", &ALL),
        phases("late", "timeout", &ALL),
        phases("link", "link-lost", &ALL),
        phases("kill", "killed", &ALL),
        phases("exit", "exit-status", &ALL),
        phases("number", "bad-report", &["first", "slice"]),
        phases("answer", "wrong-answer", &["stop"]),
        phases("report", "bad-report", &["stop"]),
    ]
    .concat()
}

#[test]
fn a_cell_that_fails_loses_its_trial_alone_and_is_repeated_once() {
    for (reason, script) in ways() {
        let tare = Tare::new();
        let bad = format!("fake?{script}");
        let code = run(&tare, &format!("fake,fake?cost=2,{bad}"), &TWO);
        assert_eq!(code, 1, "{script}");
        let found = tried(&tare, &bad);
        let expected = [0, 0, 1, 1].map(|attempt| failed(attempt, reason));
        assert_eq!(found, expected, "{script}");
        for other in ["fake", "fake?cost=2"] {
            let found = tried(&tare, other);
            assert_eq!(found.len(), 2, "{script}: {other} is not repeated");
            for trial in found {
                assert!(
                    trial.failed.is_none() && trial.attempt == 0,
                    "{script}: {trial:?}"
                );
                assert_eq!(trial.members.map(|m| m.len()), Some(2), "{script}: {other}");
            }
        }
        let groups = tare.records_of("r.jsonl", "group");
        assert_eq!(groups.len(), 2, "{script}: none of a repetition without a result");
    }
}

/// The other cell's slices are as many as without the one that failed, and so are its rounds.
#[test]
fn the_rounds_go_on_without_the_one_that_failed() {
    let rounds = |bad: &str| {
        let tare = Tare::new();
        run(&tare, &format!("fake,fake?cost=1.5,{bad}"), &ONE);
        let group = tare.records_of("r.jsonl", "group").remove(0);
        let slices = group["members"].as_array().unwrap().iter();
        let slices = slices.map(|m| m["places"].as_array().unwrap().len());
        (
            group["rounds"].as_u64().unwrap(),
            slices.take(2).collect::<Vec<_>>(),
        )
    };
    let whole = rounds("fake?cost=1.1");
    assert!(whole.0 > 10, "{whole:?}");
    for script in ["at=slice&fail=exit", "at=first&fail=hang", "at=stop&fail=link"] {
        assert_eq!(rounds(&format!("fake?{script}")), whole, "{script}");
    }
}

/// A trial has two processes: what fails in the second costs it as much, and the first is not
/// left in the box, where the next trial starts one of the same number.
#[test]
fn what_fails_in_the_second_process_loses_its_trial_alone() {
    for (fail, reason) in [("exit", "exit-status"), ("kill", "killed"), ("link", "link-lost")] {
        for phase in ["start", "stop"] {
            let tare = Tare::new();
            let bad = format!("fake?at={phase}&every=2&fail={fail}");
            assert_eq!(run(&tare, &format!("fake,{bad}"), &TWO), 1, "{bad}");
            let found = tried(&tare, &bad);
            assert_eq!(
                found.len(),
                4,
                "{bad}: two trials and their repetitions: {found:?}"
            );
            for one in found {
                assert_eq!(one, failed(one.attempt, reason), "{bad}");
            }
        }
    }
}

/// A box counts its own failures: the first process of its second trial fails, and those of
/// the new box in which it is repeated do not.
#[test]
fn a_repetition_that_succeeds_is_paired_in_its_own_group() {
    for script in [
        "at=start&every=3&fail=exit",
        "at=stop&every=3&fail=hang",
        "at=stop&every=3&fail=late",
    ] {
        let tare = Tare::new();
        let bad = format!("fake?{script}");
        let code = run(&tare, &format!("fake,fake?cost=2,{bad}"), &TWO);
        assert_eq!(code, 0, "{script}: the repetition is what counts");
        let found = tried(&tare, &bad);
        assert_eq!(found.len(), 3, "{script}: {found:?}");
        assert_eq!((found[0].attempt, found[1].attempt), (0, 0), "{script}");
        assert_eq!(found[2], well(1, &[&bad, "fake"]), "{script}");
        let baseline = tried(&tare, "fake");
        assert_eq!(baseline.len(), 2, "{script}: as a partner it has no trial");
        assert_eq!(tare.records_of("r.jsonl", "group").len(), 3, "{script}");
        let report: Value = serde_json::from_str(&tare.ok("report r.jsonl --json").stdout).unwrap();
        let blocks = blocks_in_slices(&report, &bad);
        assert_eq!(blocks, [1, 1], "{script}: both workloads are paired in slices");
    }
}

/// Blocks in which the primary metric of each of a platform's comparisons has slices.
fn blocks_in_slices(report: &Value, platform: &str) -> Vec<u64> {
    let comparisons = report["comparisons"].as_array().unwrap().iter();
    let own = comparisons.filter(|c| c["platform"] == platform);
    let metrics = own.flat_map(|c| c["metrics"].as_array().unwrap());
    let primary = metrics.filter(|metric| metric["primary"] == true);
    primary
        .map(|metric| metric["slices"]["blocks"].as_u64().unwrap_or(0))
        .collect()
}

#[test]
fn where_the_baseline_fails_its_group_is_tried_again_together_then_recorded_without_it() {
    for (reason, script) in ways() {
        let tare = Tare::new();
        let baseline = format!("fake?{script}");
        let platforms = format!("{baseline},fake?cost=2,fake?cost=3");
        assert_eq!(run(&tare, &platforms, &ONE), 1, "{script}");
        let expected = [0, 1].map(|attempt| failed(attempt, reason));
        assert_eq!(tried(&tare, &baseline), expected, "{script}");
        for other in ["fake?cost=2", "fake?cost=3"] {
            let found = tried(&tare, other);
            assert_eq!(found.len(), 1, "{script}: {other}: {found:?}");
            assert_eq!(found[0].failed, None, "{script}: {other}");
            assert_eq!(found[0].members.as_ref().map(Vec::len), Some(2), "{script}");
        }
    }
}

#[test]
fn a_baseline_that_fails_once_is_paired_with_all_of_its_group_in_the_second_pass() {
    for script in ["at=start&every=3&fail=exit", "at=stop&every=3&fail=link"] {
        let tare = Tare::new();
        let baseline = format!("fake?{script}");
        assert_eq!(
            run(&tare, &format!("{baseline},fake?cost=2,fake?cost=3"), &TWO),
            0,
            "{script}"
        );
        for platform in [&baseline, "fake?cost=2", "fake?cost=3"] {
            let ended_well: Vec<Tried> = tried(&tare, platform)
                .into_iter()
                .filter(|trial| trial.failed.is_none())
                .collect();
            assert_eq!(ended_well.len(), 2, "{script}: {platform}");
            let members = ended_well.iter().filter_map(|trial| trial.members.as_ref());
            assert!(
                members.clone().all(|members| members.len() == 3),
                "{script}: {platform}"
            );
        }
    }
}

/// Also where it never gets a box, none of its group is recorded without it in the first pass.
#[test]
fn a_baseline_without_a_box_puts_its_group_off() {
    for (fail, reason) in [("launch", "launch"), ("hello", "handshake")] {
        let tare = Tare::new();
        // The first box of a platform serves, the second does not, and so on.
        let baseline = format!("fake?every=2&fail={fail}");
        let more = ["-w", "syscall", "--blocks", "2"];
        assert_eq!(run(&tare, &format!("{baseline},fake?cost=2"), &more), 0, "{fail}");
        let found = tried(&tare, &baseline);
        assert_eq!(found.len(), 3, "{fail}: {found:?}");
        assert_eq!(found[1], failed(0, reason), "{fail}");
        for other in tried(&tare, "fake?cost=2") {
            assert_eq!(other.members.map(|m| m.len()), Some(2), "{fail}");
        }
    }
    let tare = Tare::new();
    assert_eq!(run(&tare, "fake?fail=launch,fake?cost=2", &ONE), 1);
    assert_eq!(tried(&tare, "fake?cost=2"), [well(0, &["fake?cost=2"])]);
    assert_eq!(
        tried(&tare, "fake?fail=launch"),
        [0, 1].map(|attempt| failed(attempt, "launch"))
    );
}

/// What is put off with its baseline has its first trial in the second pass, and the
/// repetition that every trial has after that.
#[test]
fn what_was_put_off_is_repeated_too() {
    let tare = Tare::new();
    let platforms = "fake?at=start&every=3&fail=exit,fake?at=start&every=3&fail=kill";
    let code = run(
        &tare,
        platforms,
        &["-w", "linpack,syscall,spawn", "--blocks", "1"],
    );
    assert_eq!(code, 0);
    for platform in platforms.split(',') {
        let well = tried(&tare, platform)
            .iter()
            .filter(|t| t.failed.is_none())
            .count();
        assert_eq!(well, 3, "{platform}");
    }
}

#[test]
fn an_answer_that_comes_late_is_not_taken_for_that_of_the_next_slice() {
    let tare = Tare::new();
    let late = "fake?at=slice&every=7&fail=late";
    assert_eq!(run(&tare, &format!("fake,{late}"), &ONE), 1);
    // Had it been taken, all answers would be one slice late and the trial would end well.
    assert_eq!(
        tried(&tare, late),
        [0, 1].map(|attempt| failed(attempt, "timeout"))
    );
    let boxes = tare.records_of("r.jsonl", "box");
    let own: BTreeSet<u64> = boxes
        .iter()
        .filter(|b| name(b) == late)
        .map(|b| b["box_id"].as_u64().unwrap())
        .collect();
    assert_eq!(own.len(), 2, "a box that owes an answer is given up");
}

#[test]
fn commands_fail_as_kernels_do() {
    // A box that has no files of the host needs a static one; nothing runs it.
    let program = common::binary().display().to_string();
    for (fail, at, reason) in [
        ("exit", "slice", "exit-status"),
        ("exit", "start", "exit-status"),
        ("hang", "start", "timeout"),
        ("link", "first", "link-lost"),
        ("late", "stop", "timeout"),
    ] {
        let bad = format!("fake?at={at}&fail={fail}");
        let tare = Tare::new();
        let code = run(&tare, &format!("fake,{bad}"), &["--blocks", "1", "--", &program]);
        assert_eq!(code, 1, "{bad}");
        assert_eq!(
            tried(&tare, &bad),
            [0, 1].map(|attempt| failed(attempt, reason)),
            "{bad}"
        );
        assert_eq!(tried(&tare, "fake"), [well(0, &["fake"])], "{bad}");
        let tare = Tare::new();
        assert_eq!(
            run(&tare, &format!("{bad},fake"), &["--blocks", "1", "--", &program]),
            1
        );
        assert_eq!(
            tried(&tare, &bad),
            [0, 1].map(|attempt| failed(attempt, reason)),
            "{bad}"
        );
        assert_eq!(tried(&tare, "fake"), [well(0, &["fake"])], "{bad}");
    }
}

#[test]
fn what_boxes_tell_of_their_errors_does_not_fill_the_results() {
    for more in [
        &["-w", "syscall", "--blocks", "5"][..],
        &["-w", "syscall", "--blocks", "5", "--slices", "off"],
    ] {
        let tare = Tare::new();
        let ended = tare.run(
            &[
                &[
                    "run",
                    "-p",
                    "fake?fail=flood",
                    "--cpus",
                    "1",
                    "--no-settle",
                    "-o",
                    "r.jsonl",
                ],
                more,
            ]
            .concat(),
        );
        assert_eq!(ended.code, 1);
        assert!(ended.stderr.len() < 50_000, "{} B", ended.stderr.len());
        let length = std::fs::metadata(tare.path("r.jsonl")).unwrap().len();
        assert!(length < 200_000, "{length} B");
        let trials = tare.records_of("r.jsonl", "trial");
        let detail = trials[0]["outcome"]["failed"]["detail"].as_str().unwrap();
        assert!(detail.ends_with("B omitted]"), "{detail}");
    }
}
