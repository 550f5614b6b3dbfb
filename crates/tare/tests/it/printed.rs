//! Figures and checks in what a command prints: a workload that fails and still reports a
//! figure is a failed trial, with what it printed.

use crate::common::{self, Tare};
use serde_json::Value;
use std::path::Path;

/// What all of these commands are asked for: a figure, and what must and must not be printed.
const ASKED: [&str; 10] = [
    "--metric",
    "rate=^rate: (.+) op/s$",
    "--unit",
    "op/s",
    "--check",
    "^samples: [1-9]",
    "--check-not",
    "(?i)^error|refused",
    "--check-not",
    "^errors: [1-9]",
];

/// Runs a shell script once, natively, and gives the trials.
fn trials(tare: &Tare, name: &str, script: &str) -> Vec<Value> {
    let output = format!("{name}.jsonl");
    let mut words = vec![
        "run",
        "-p",
        "native",
        "--provisioning",
        "pinned",
        "--cpus",
        "1",
        "--blocks",
        "1",
        "--no-settle",
        "--timeout",
        "2s",
        "--trial-time",
        "500ms",
        "-o",
        &output,
    ];
    words.extend(ASKED);
    words.extend(["--", "sh", "-c", script]);
    let ended = tare.run(&words);
    assert!(tare.path(&output).exists(), "{name}: {ended:?}");
    tare.records_of(&output, "trial")
}

#[test]
fn a_figure_that_a_command_prints_carries_the_verdict() {
    if !common::ready("native") {
        return;
    }
    let tare = Tare::new();
    for (name, printed, value) in [
        ("plain", "12.5", 12.5),
        ("thousands", "1,234,567.8", 1_234_567.8),
        ("exponent", "1.5e3", 1500.0),
    ] {
        let script = format!("echo samples: 10; echo 'rate: {printed} op/s'");
        let trials = trials(&tare, name, &script);
        let samples = &trials[0]["outcome"]["ok"]["samples"];
        assert_eq!(samples["rate"], value, "{name}: {trials:?}");
        assert!(samples["wall"].is_number(), "{trials:?}");
        assert_eq!(
            trials[0]["outcome"]["ok"]["repetitions"]
                .as_array()
                .unwrap()
                .len(),
            1
        );
    }
    let told = tare.ok("report plain.jsonl").stdout;
    assert!(told.contains("12.5 op/s"), "{told}");
}

/// Name, script, reason of the failure, and what is told.
const SEEDED: [(&str, &str, &str, &str); 22] = [
    (
        "errors-returned",
        "echo samples: 10; echo errors: 10; echo rate: 5 op/s",
        "check",
        "error",
    ),
    (
        "connection-refused",
        "echo samples: 1; echo rate: 5 op/s; echo connection refused",
        "check",
        "refused",
    ),
    ("empty", ":", "check", "^samples"),
    ("no-figure", "echo samples: 10", "no-figure", "no match"),
    (
        "no-samples",
        "echo samples: 0; echo rate: 5 op/s",
        "check",
        "^samples",
    ),
    (
        "killed",
        "echo samples: 10; echo rate: 5 op/s; kill -9 $$",
        "killed",
        "signal 9",
    ),
    (
        "crashed",
        "echo samples: 10; echo rate: 5 op/s; kill -SEGV $$",
        "killed",
        "signal 11",
    ),
    (
        "wrong-unit",
        "echo samples: 10; echo rate: 5 kop/s",
        "no-figure",
        "no match",
    ),
    (
        "error-text",
        "echo samples: 10; echo rate: 5 op/s; echo ERROR: disk",
        "check",
        "error|refused",
    ),
    (
        "error-on-stderr",
        "echo samples: 10; echo rate: 5 op/s; echo ERROR: disk >&2",
        "check",
        "standard error has",
    ),
    (
        "in-both-streams",
        "echo samples: 10; echo rate: 5 op/s; echo rate: 5 op/s >&2",
        "no-figure",
        "'5' in standard output and '5' in standard error",
    ),
    (
        "crosses",
        "echo samples: 10; echo rate: +++++ op/s",
        "no-figure",
        "'+++++'",
    ),
    (
        "zero",
        "echo samples: 10; echo rate: 0 op/s",
        "no-figure",
        "it is 0",
    ),
    (
        "negative",
        "echo samples: 10; echo rate: -5 op/s",
        "no-figure",
        "it is -5",
    ),
    (
        "nan",
        "echo samples: 10; echo rate: nan op/s",
        "no-figure",
        "'nan'",
    ),
    (
        "infinite",
        "echo samples: 10; echo rate: inf op/s",
        "no-figure",
        "'inf'",
    ),
    (
        "comma",
        "echo samples: 10; echo rate: 1,5 op/s",
        "no-figure",
        "'1,5'",
    ),
    (
        "twice",
        "echo samples: 10; echo rate: 5 op/s; echo rate: 6 op/s",
        "no-figure",
        "more than one match",
    ),
    (
        "status",
        "echo samples: 10; echo rate: 5 op/s; echo why >&2; exit 3",
        "exit-status",
        "exit status 3: why",
    ),
    (
        "no-text",
        "echo samples: 10; printf 'rate: \\377 op/s\\n'",
        "no-figure",
        "is not a number",
    ),
    (
        "hangs",
        "echo samples: 10; echo rate: 5 op/s; sleep 60",
        "timeout",
        "time was over",
    ),
    (
        "endless",
        "echo samples: 10; echo rate: 5 op/s; head -c 9000000 /dev/zero",
        "no-figure",
        "B more",
    ),
];

#[test]
fn a_workload_that_fails_and_still_reports_a_figure_is_a_failed_trial_with_what_it_printed() {
    if !common::ready("native") {
        return;
    }
    let tare = Tare::new();
    for (name, script, reason, told) in SEEDED {
        let trials = trials(&tare, name, script);
        // The one that failed, and its repetition, which for a figure would select by value.
        let attempts = if reason == "no-figure" { 1 } else { 2 };
        assert_eq!(trials.len(), attempts, "{name}: {trials:?}");
        for trial in &trials {
            let failure = &trial["outcome"]["failed"];
            assert_eq!(failure["reason"], reason, "{name}: {trial:?}");
            assert!(
                failure["detail"].as_str().unwrap().contains(told),
                "{name}: {failure:?}"
            );
            let printed = failure["printed"]["stdout"].as_str().unwrap();
            assert_eq!(
                printed.starts_with("samples:"),
                name != "empty",
                "{name}: {printed:?}"
            );
            assert!(printed.len() < 20_000, "{name}: {} B are kept", printed.len());
        }
    }
}

#[test]
fn what_could_never_be_read_is_refused() {
    let tare = Tare::new();
    let refused = |options: &[&str], words: &[&str]| {
        let line = [&["plan", "-p", "fake"][..], options, &["--", "/proc/self/exe"]].concat();
        tare.refused(&line, words);
    };
    refused(&["--metric", "rate"], &["give a name and a regular expression"]);
    refused(
        &["--metric", "rate=x"],
        &["put only the figure", "rate: ([0-9.]+)"],
    );
    refused(&["--metric", "rate=(x"], &["is not a regular expression"]);
    refused(&["--metric", "wall=(x)"], &["metric 'wall' already exists"]);
    refused(&["--metric", "Rate=(x)"], &["is not a metric name"]);
    refused(
        &["--metric", "rate=(x)", "--unit", "mb/s"],
        &["write Mbit/s or MB/s"],
    );
    refused(
        &["--metric", "a=(x)", "--unit", "s", "--unit", "ms"],
        &["2 units for 1 figure"],
    );
    refused(&["--unit", "s"], &["--metric"]);
    refused(&["--check", "("], &["check: ", "is not a regular expression"]);
    refused(
        &["--metric", "a=(x)", "--higher", "--lower"],
        &["--higher", "--lower"],
    );
}

#[test]
fn what_a_launcher_leaves_running_is_a_finding() {
    if !common::ready("native") {
        return;
    }
    let tare = Tare::new();
    for slices in ["10ms", "off"] {
        let line = format!(
            "run -p native --provisioning pinned --cpus 1 --blocks 1 --no-settle --trial-time 50ms --slices {slices}"
        );
        let output = format!("{slices}.jsonl");
        let mut words: Vec<&str> = line.split(' ').collect();
        words.extend(["-o", &output, "--", "sh", "-c", "sleep 60 >/dev/null 2>&1 &"]);
        let report = tare.ok(&words);
        let findings = &tare.records_of(&output, "trial")[0]["findings"];
        let is_it = |finding: &Value| {
            finding["finding"] == "work-left-behind" && finding["processes"].as_u64() > Some(0)
        };
        assert!(
            findings.as_array().unwrap().iter().any(is_it),
            "{slices}: {findings}"
        );
        assert!(report.stdout.contains("\n! 1 of 1 trial: "), "{}", report.stdout);
    }
}

/// The trials of a command with a setup and a teardown, natively and in a container.
fn beside(tare: &Tare, name: &str, more: &[&str], command: &[&str]) -> Vec<Value> {
    let output = format!("{name}.jsonl");
    let platforms = if common::ready("runc") {
        "native,runc"
    } else {
        "native"
    };
    let mut words = vec!["run", "-p", platforms, "--provisioning", "pinned", "--cpus", "1"];
    words.extend([
        "--memory",
        "512M",
        "--blocks",
        "1",
        "--no-settle",
        "--trial-time",
        "100ms",
    ]);
    words.extend(["--with-libraries", "-o", &output]);
    words.extend(more);
    words.push("--");
    words.extend(command);
    let ended = tare.run(&words);
    assert!(tare.path(&output).exists(), "{name}: {ended:?}");
    tare.records_of(&output, "trial")
}

/// In slices and in one piece: what the setup made is there in each run, and gone behind them.
#[test]
fn a_setup_runs_before_each_trial_and_a_teardown_behind_it() {
    if !common::ready("native") {
        return;
    }
    let tare = Tare::new();
    let made = tare.path("made");
    let made = made.to_str().unwrap();
    // Of a folder that is not there, a file can be made in no box.
    let folder = format!("mkdir -p '{made}'");
    let removed = format!("rmdir {made}");
    for (name, slices) in [("sliced", "10ms"), ("piece", "off")] {
        let more = ["--setup", &folder, "--teardown", &removed, "--slices", slices];
        let trials = beside(&tare, name, &more, &["test", "-d", made]);
        assert!(!trials.is_empty(), "{name}");
        for trial in trials {
            assert!(trial["outcome"]["ok"].is_object(), "{name}: {trial}");
        }
        assert!(!Path::new(made).exists(), "{name}: the teardown did not run");
    }
}

#[test]
fn a_setup_or_a_teardown_that_fails_fails_the_trial_and_says_so() {
    if !common::ready("native") {
        return;
    }
    let tare = Tare::new();
    for which in ["setup", "teardown"] {
        let option = format!("--{which}");
        let trials = beside(&tare, which, &[&option, "ls /no-such-folder"], &["true"]);
        assert!(!trials.is_empty(), "{which}");
        for trial in trials {
            let detail = trial["outcome"]["failed"]["detail"].as_str().unwrap_or_default();
            assert!(detail.contains(&format!("its {which}, ")), "{which}: {trial}");
            assert!(detail.contains("No such file"), "{which}: {trial}");
        }
    }
    let redirected = ["plan", "-p", "native", "--setup", "echo x > y", "--", "true"];
    tare.refused(&redirected[..], &["this runs without a shell"]);
    // The loader that comes with a setup brings not the libraries of the command.
    let plan = tare.run("plan -p native,runc --setup true -- ls");
    assert!(plan.stdout.contains("--with-libraries"), "{plan:?}");
    tare.refused(
        "plan -p native --setup nowhere-at-all -- true",
        &["nowhere-at-all"],
    );
    tare.refused("plan -p native -w syscall --setup true", &["need a command"]);
}
