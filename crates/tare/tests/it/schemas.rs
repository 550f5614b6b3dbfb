//! What the program itself prints and stores is what the schemas in `docs/schemas` say.

use crate::common::schema::Schema;
use crate::common::{Tare, ready};
use serde_json::Value;
use tare_model::results::PlatformVersion;
use tare_platforms::conformance::{Checked, CheckedPlatform, Outcome, Report};

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
fn a_kernel() {
    let tare = Tare::new();
    prints(&tare, "kernel syscall --json", "tare-kernel");
}

#[test]
fn what_can_run_here() {
    let tare = Tare::new();
    let found = tare.run("doctor --json");
    // Where nothing can run it says so by its exit code, and tells all the same.
    assert!([0, 2].contains(&found.code), "{}", found.stderr);
    Schema::of("tare-doctor").holds(&found.stdout);
}

#[test]
fn promises_and_what_was_found_of_them() {
    let tare = Tare::new();
    prints(&tare, "check --list --json", "tare-check-list");
    if ready("native") {
        let check = "check native --only exit-codes,killed-engine --json";
        prints(&tare, check, "tare-check");
    }
    let outcomes = [
        Outcome::Ok {
            note: Some("a note".to_owned()),
        },
        Outcome::Failed {
            why: "seen".to_owned(),
        },
        Outcome::Skipped {
            why: "not here".to_owned(),
        },
    ];
    let checked = outcomes.map(|outcome| Checked {
        check: "hello",
        promise: "the agent answers",
        outcome,
        seconds: 0.5,
    });
    let report = Report {
        platforms: vec![CheckedPlatform {
            platform: "docker".parse().unwrap(),
            version: PlatformVersion::default(),
            checks: checked.into(),
        }],
    };
    Schema::of("tare-check").holds(&tare_report::json::render(&report).unwrap());
}

#[test]
fn plans() {
    let tare = Tare::new();
    for plan in [
        "plan -p fake,fake?cost=1.2 -w syscall,spawn --cpus 1 --json",
        "plan -p fake,fake?cost=1.2 --adaptive --slices off --cpus 1 --json",
    ] {
        prints(&tare, plan, "tare-plan");
    }
    for (command, foreseen) in [
        ("--with-libraries --json -- cat /etc/hostname", "left_behind"),
        ("--json -- sleep 0", "cannot_run"),
    ] {
        // Of what cannot run, nothing can be measured: the exit code says so.
        let plan = tare.run(&format!("plan -p fake --cpus 1 {command}")).stdout;
        Schema::of("tare-plan").holds(&plan);
        let plan: Value = serde_json::from_str(&plan).unwrap();
        assert_eq!(plan[foreseen].as_array().unwrap().len(), 1, "{command}");
    }
}

#[test]
fn studies_and_their_plans() {
    let tare = Tare::new();
    let list = tare.ok("plan --list --json").stdout;
    Schema::of("tare-plan-list").holds(&list);
    let list: Value = serde_json::from_str(&list).unwrap();
    for study in list["studies"].as_array().unwrap() {
        let name = study["name"].as_str().unwrap();
        prints(&tare, &format!("plan {name} --json"), "tare-plan");
    }
}

#[test]
fn workloads_and_a_trial_of_one() {
    let tare = Tare::new();
    let list = tare.ok("workloads --json").stdout;
    Schema::of("tare-workloads-list").holds(&list);
    let list: Value = serde_json::from_str(&list).unwrap();
    let all = list["workloads"].as_array().unwrap().iter();
    for workload in all.filter(|workload| workload["kind"] == "built-in") {
        let name = workload["name"].as_str().unwrap();
        prints(
            &tare,
            &format!("workloads show {name} --json"),
            "tare-workloads-show",
        );
    }
    if !ready("native") {
        return;
    }
    let file = "about = \"ends badly\"\n[command]\nargv = [\"false\"]\n";
    std::fs::write(tare.path("bad.toml"), file).unwrap();
    prints(&tare, "workloads show ./bad.toml --json", "tare-workloads-show");
    prints(&tare, "workloads check syscall --json", "tare-workloads-check");
    let failed = tare.run("workloads check ./bad.toml --json");
    assert_eq!(failed.code, 1, "{}", failed.stderr);
    Schema::of("tare-workloads-check").holds(&failed.stdout);
}

#[test]
fn images_and_what_cleaning_leaves() {
    let tare = Tare::new();
    std::fs::create_dir_all(tare.path("rootfs/etc")).unwrap();
    prints(
        &tare,
        "image import ./rootfs --name mine --json",
        "tare-image-show",
    );
    prints(&tare, "image show mine --json", "tare-image-show");
    prints(&tare, "image show micro --json", "tare-image-show");
    prints(&tare, "image list --json", "tare-image-list");
    let cleaned = tare.ok("clean --json").stdout;
    Schema::of("tare-clean").holds(&cleaned);
    let cleaned: Value = serde_json::from_str(&cleaned).unwrap();
    // The image at least; of other runs that are under way there may be more.
    assert!(!cleaned["left"].as_array().unwrap().is_empty(), "{cleaned}");
    prints(&tare, "image remove mine --json", "tare-image-remove");
    prints(&tare, "image prune --json", "tare-image-remove");
}

#[test]
fn self_tests() {
    let tare = Tare::new();
    prints(
        &tare,
        "selftest coverage --draws 500 --json",
        "tare-selftest-coverage",
    );
    for (number, kind) in [
        "aa --polluter",
        "aa --slices off --batches",
        "inject --fresh study",
    ]
    .into_iter()
    .enumerate()
    {
        let of = format!("selftest {kind} -p fake --no-settle --campaigns 2 --log log-{number} --json");
        prints(&tare, &of, "tare-selftest-2");
    }
}
