//! Self-tests as a user runs them. `fake` draws its noise from a fixed seed, so that
//! scores are the same in every run; on `native` only what a correct build fails less
//! than once in 1,000 times is asked, which is what exit code 0 says of few campaigns.

use crate::common::{self, Tare};
use serde_json::Value;

const FEW: [&str; 4] = ["--campaigns", "20", "--no-settle", "--log"];

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn lines(tare: &Tare, log: &str) -> usize {
    let text = std::fs::read_to_string(tare.path(log)).unwrap_or_default();
    text.lines().count()
}

#[test]
fn the_simulated_table_holds() {
    let tare = Tare::new();
    let ended = tare.ok("selftest coverage --draws 500");
    assert!(
        ended.stdout.contains("as promised") && ended.stdout.ends_with(" 0 differ\n"),
        "{}",
        ended.stdout
    );
    let rows = json(&tare.ok("selftest coverage --draws 500 --json").stdout);
    assert!(rows["rows"].as_array().expect("rows").len() > 80);
}

#[test]
fn a_platform_equals_itself() {
    let tare = Tare::new();
    let args = [
        &["selftest", "aa", "-p", "fake", "--slices", "off", "--batches"],
        &FEW[..],
        &["log"],
    ]
    .concat();
    let ended = tare.ok(&args);
    assert!(ended.stdout.contains("slower or faster"), "{}", ended.stdout);
    assert!(
        ended.stdout.contains("two batches differ (Welch)"),
        "{}",
        ended.stdout
    );
    assert_eq!(lines(&tare, "log"), 21);
}

#[test]
fn a_known_cost_is_found() {
    let tare = Tare::new();
    let args = [
        &["selftest", "inject", "-p", "fake", "--json"],
        &FEW[..],
        &["log"],
    ]
    .concat();
    let shown = json(&tare.ok(&args).stdout);
    assert_eq!(shown["passes"], true);
    let iterations = [0, 1].map(|arm| shown["iterations"][arm].as_u64().expect("iterations"));
    assert_eq!(iterations[0] * 21, iterations[1] * 20);
    let covers = &shown["score"]["counts"][0];
    assert_eq!(covers["what"], "interval covers the truth");
    assert!(covers["count"].as_u64().expect("a count") >= 15, "{covers}");
}

#[test]
fn in_slices_a_known_cost_is_found_by_the_typical_loss() {
    let tare = Tare::new();
    let args = [
        &["selftest", "inject", "-p", "fake?sd=0.001", "--percent", "2"][..],
        &["--slices", "5ms", "--json"],
        &FEW[..],
        &["log"],
    ]
    .concat();
    let shown = json(&tare.ok(&args).stdout);
    assert_eq!(shown["options"]["slicing"]["seconds"], 0.005);
    assert_eq!(shown["options"]["trial_seconds"], 0.1);
    let iterations = [0, 1].map(|arm| shown["iterations"][arm].as_u64().expect("iterations"));
    assert_eq!(iterations[0] * 51, iterations[1] * 50);
    let found = &shown["score"]["counts"][1];
    assert_eq!(found["what"], "slower by more than the margin");
    assert_eq!((&found["count"], &found["of"]), (&20.into(), &20.into()));
    assert!(shown["score"]["mean"]["ratio"].is_number());
    assert!(shown["score"]["half_width"].as_f64().expect("a width") < 0.003);
}

#[test]
fn a_polluter_makes_no_difference() {
    let tare = Tare::new();
    let args = [
        &["selftest", "aa", "-p", "fake", "--polluter"],
        &FEW[..],
        &["log"],
    ]
    .concat();
    let ended = tare.ok(&args);
    for words in ["with a polluter", "ratio of typical times", "ratio of mean times"] {
        assert!(ended.stdout.contains(words), "{}", ended.stdout);
    }
}

#[test]
fn a_log_goes_on_as_it_was_begun_in_slices_or_in_one_piece() {
    let tare = Tare::new();
    for (log, slices) in [
        ("piece", "--slices off"),
        ("sliced", "--slices 20ms"),
        ("auto", ""),
    ] {
        let args = |n: u32| format!("selftest aa -p fake --no-settle --campaigns {n} --log {log}");
        tare.ok(&format!("{} {slices}", args(1)));
        tare.ok(&args(2));
        assert_eq!(lines(&tare, log), 3);
    }
    let log = std::fs::read_to_string(tare.path("piece")).expect("a log");
    assert!(!log.contains("slicing") && !log.contains("polluter") && !log.contains("typical"));
    let args = "selftest aa -p fake --no-settle --campaigns 2 --log sliced";
    tare.refused(&format!("{args} --slices off"), &["another --slices"]);
    tare.refused(&format!("{args} --polluter"), &["another --polluter"]);
    tare.refused(&format!("{args} --trial-time 1s"), &["another --trial-time"]);
}

#[test]
fn campaigns_run_on_real_boxes() {
    let tare = Tare::new();
    if !common::ready("native") {
        return;
    }
    let args = "--campaigns 2 --no-settle --trial-time 20ms --log";
    for fresh in ["block", "study"] {
        for slices in ["off", "auto"] {
            tare.ok(&format!(
                "selftest aa -p native --fresh {fresh} --slices {slices} {args} log-{fresh}-{slices}"
            ));
        }
    }
    tare.ok(&format!("selftest aa -p native --polluter {args} log-polluter"));
    tare.ok(&format!("selftest inject -p native --percent 20 {args} log"));
}

#[test]
fn a_killed_self_test_goes_on_where_it_was() {
    let tare = Tare::new();
    let args = |n: &'static str| -> Vec<&str> {
        vec![
            "selftest",
            "aa",
            "-p",
            "fake?ms=2",
            "--no-settle",
            "--log",
            "log",
            "--campaigns",
            n,
        ]
    };
    let mut killed = tare.spawn(&args("1000"));
    while lines(&tare, "log") < 4 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    killed.kill().expect("it lives");
    killed.wait().expect("it ends");
    let done = lines(&tare, "log") - 1;
    let half = std::fs::OpenOptions::new().append(true).open(tare.path("log"));
    std::io::Write::write_all(&mut half.expect("a log"), b"{\"campaign\":").expect("half a line");
    let wanted: &'static str = (done + 2).to_string().leak();
    let ended = tare.ok(&args(wanted));
    assert!(
        ended.stderr.contains(&format!("{done} campaigns done")),
        "{}",
        ended.stderr
    );
    assert_eq!(lines(&tare, "log"), done + 3);
    let log = std::fs::read_to_string(tare.path("log")).expect("a log");
    let numbers: Vec<u64> = log
        .lines()
        .skip(1)
        .filter_map(|line| json(line)["campaign"].as_u64())
        .collect();
    assert_eq!(numbers, (0..=done as u64 + 1).collect::<Vec<u64>>());
}

#[test]
fn what_another_build_or_other_options_measured_is_not_continued() {
    let tare = Tare::new();
    let args = "selftest aa -p fake --no-settle --campaigns 1 --log log";
    tare.ok(args);
    tare.refused(&format!("{args} --seed 2"), &["log", "another --seed"]);
    let inject = "selftest inject -p fake --no-settle --campaigns 1 --log log";
    tare.refused(inject, &["aa for inject"]);
    let log = std::fs::read_to_string(tare.path("log")).expect("a log");
    let build = json(log.lines().next().expect("a header"))["build"].to_string();
    std::fs::write(tare.path("log"), log.replace(&build, "\"other\"")).expect("a log");
    tare.refused(args, &["another build"]);
}

#[test]
fn what_makes_no_self_test_is_refused() {
    let tare = Tare::new();
    std::fs::write(tare.path("text"), "hello\n").expect("a file");
    let aa = |more: &[&'static str]| [&["selftest", "aa", "-p", "fake"], more].concat();
    let refused: [(Vec<&str>, &str); 13] = [
        (aa(&["--batches"]), "--slices off"),
        (aa(&["--batches", "--slices", "20ms"]), "--slices off"),
        (aa(&["--polluter", "--slices", "off"]), "between the slices"),
        (aa(&["--slices", "turns"]), "for commands"),
        (aa(&["--campaigns", "0"]), "whole number from 1"),
        (aa(&["--blocks", "9"]), "from 10"),
        (aa(&["--log", "text"]), "not a log of a self-test"),
        (aa(&["--log", "/dev/zero"]), "is not a file"),
        (aa(&["--log", "none/log"]), "cannot write log"),
        (aa(&["--log", "-"]), "give a path"),
        (vec!["selftest", "aa", "-p", "dokcer"], "dokcer"),
        (
            vec!["selftest", "inject", "-p", "fake", "--percent", "0.05"],
            "whole tenths",
        ),
        (vec!["selftest", "coverage", "--draws", "1"], "from 500"),
    ];
    for (args, word) in refused {
        tare.refused(&args, &[word]);
    }
    tare.refused("selftest aa -p fake?fail=kill --no-settle --log l", &["no pair"]);
    assert!(tare.path("text").exists());
}

/// A log of which every campaign finds what `slower` makes of the pairs of its first.
fn forge(tare: &Tare, args: &str, slower: impl Fn(&mut Value, f64)) {
    let made = tare.ok(&format!("{args} --campaigns 1 --log log"));
    assert!(made.stdout.contains("not shown"), "{}", made.stdout);
    let log = std::fs::read_to_string(tare.path("log")).expect("a log");
    let (header, campaign) = log.split_once('\n').expect("two lines");
    let forged = |number: u32| {
        let mut campaign = json(campaign);
        campaign["campaign"] = number.into();
        for pair in campaign["pairs"].as_array_mut().expect("pairs") {
            slower(pair, 0.1 + 0.001 * f64::from(number));
        }
        campaign.to_string() + "\n"
    };
    let text = header.to_owned() + "\n" + &(0..20).map(forged).collect::<String>();
    std::fs::write(tare.path("log"), text).expect("a log");
    let ended = tare.run(&format!("{args} --campaigns 20 --log log"));
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(ended.stdout.contains("CONTRADICTED"), "{}", ended.stdout);
}

#[test]
fn a_broken_promise_is_exit_code_1() {
    let tare = Tare::new();
    let args = "selftest aa -p fake --no-settle --slices off";
    forge(&tare, args, |pair, by| {
        let time = pair["time"][0].as_f64().expect("a time");
        pair["time"][1] = (time * (1.0 + by)).into();
    });
}

#[test]
fn of_slices_a_promise_is_broken_by_the_typical_loss() {
    let tare = Tare::new();
    let args = "selftest aa -p fake --no-settle";
    forge(&tare, args, |pair, by| {
        let block = pair["block"].as_f64().expect("a number");
        pair["typical"] = (by + 0.001 * block).into();
    });
}
