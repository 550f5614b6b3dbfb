//! No value of the host's environment ever enters what tare writes or prints.

use crate::common::{Tare, ended, ready};
use std::path::Path;

/// Names that programs are wont to keep secrets and places under.
const NAMES: [&str; 8] = [
    "AWS_SECRET_ACCESS_KEY",
    "GITHUB_TOKEN",
    "DATABASE_URL",
    "TARE_PADDING",
    "USER",
    "LOGNAME",
    "HOSTNAME",
    "LANG",
];

/// A value that occurs nowhere else.
fn value(name: &str) -> String {
    format!("hidden-{}-7f3a91", name.to_lowercase())
}

/// Runs tare with secrets in its environment; what it printed.
fn with_secrets(tare: &Tare, args: &[&str]) -> String {
    let mut command = tare.command(args);
    command.envs(NAMES.map(|name| (name, value(name))));
    let ended = ended(command.output().unwrap());
    assert_eq!(ended.code, 0, "{args:?}: {}", ended.stderr);
    ended.stdout + &ended.stderr
}

/// The contents of every file below a folder.
fn contents(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            contents(&path, all);
        } else if path.is_file() {
            all.push_str(&String::from_utf8_lossy(&std::fs::read(&path).unwrap()));
        }
    }
}

fn run(platform: &str) {
    let tare = Tare::new();
    let common = ["-p", platform, "--cpus", "1", "--no-settle", "--blocks", "1"];
    let args = |more: &[&'static str]| [&["run"], &common[..], more].concat();
    let mut told = with_secrets(&tare, &args(&["-w", "syscall", "-o", "r.jsonl"]));
    told += &with_secrets(
        &tare,
        &args(&[
            "-o",
            "c.jsonl",
            "--trial-time",
            "100ms",
            "--with-libraries",
            "--",
            "/usr/bin/env",
        ]),
    );
    for file in ["r.jsonl", "c.jsonl"] {
        told += &with_secrets(&tare, &["report", file, "--html", "page.html"]);
        told += &with_secrets(&tare, &["report", file, "--json"]);
    }
    contents(&tare.path(""), &mut told);
    assert!(told.contains("tare-results/"), "the results were read");
    for name in NAMES {
        assert!(
            !told.contains(&value(name)),
            "{platform}: the value of {name} was told"
        );
    }
}

#[test]
fn no_value_of_the_environment_is_told() {
    run("fake");
    if ready("native") {
        run("native");
    }
}

#[test]
fn doctor_and_plan_do_not_tell_it() {
    let tare = Tare::new();
    let mut told = with_secrets(&tare, &["doctor"]);
    told += &with_secrets(&tare, &["plan", "-p", "fake", "--cpus", "1"]);
    for name in NAMES {
        assert!(!told.contains(&value(name)), "the value of {name} was told");
    }
}
