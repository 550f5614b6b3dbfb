//! Causes that are planted in boxes: each has to be the first that is named.
//!
//! A `runc` of this test stands in the place of the real one and changes the boxes that it is told to make. What it does to
//! them is in no file of tare's.

use crate::common::{Ended, Tare, alone, binary, can_probe, ended, ready};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Changes a bundle as the file `seed` says.
const RUNC: &str = include_str!("seeded/runc.py");

/// What is planted, the work that shows it, and words of which what is named first has one.
type Seed = (&'static str, &'static [&'static str], &'static [&'static str]);

/// Commands of which the shell's own words are all the work; `/seed` is in boxes with a seed alone.
const WORKS: &str =
    "n=30000; if [ -e /seed ]; then n=45000; fi; i=0; while [ $i -lt $n ]; do i=$((i+1)); done";
const FORKS: &str =
    "n=5; if [ -e /seed ]; then n=30; fi; i=0; while [ $i -lt $n ]; do (true); i=$((i+1)); done";

const SEEN: [Seed; 10] = [
    ("filter=20", &["-w", "syscall"], &["seccomp"]),
    ("filter=200", &["-w", "syscall"], &["seccomp"]),
    ("small-pages", &["-w", "stream"], &["page_fault"]),
    ("quota=10000", &["-w", "syscall"], &["throttled"]),
    ("disk=200", &["-w", "fsync"], &["disk wait"]),
    ("frozen", &["-w", "fibonacci"], &["frozen"]),
    ("stopped", &["-w", "fibonacci"], &["stopped"]),
    (
        "slack=20000000",
        &["--with-libraries", "--", "sleep", "0.02"],
        &["sleep"],
    ),
    (
        "file",
        &["--with-libraries", "--", "sh", "-c", WORKS],
        &["outside the kernel"],
    ),
    ("file", &["--with-libraries", "--", "sh", "-c", FORKS], &["sleep"]),
];

/// Runs tare where `runc` is the one of this test, and plants something in its boxes.
fn planted(tare: &Tare, plant: &str, args: &[&str]) -> Ended {
    fs::write(tare.path("seed"), plant).unwrap();
    let mount = "mount --bind \"$0\" /usr/sbin/runc && exec \"$@\"";
    let ours = tare.path("ours");
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "sh", "-c", mount])
        .arg(&ours)
        .arg(binary())
        .args(args)
        .current_dir(tare.path(""))
        .env("TARE_STATE_DIR", tare.path("state"));
    ended(command.output().expect("unshare starts"))
}

/// What is named of `runc` first, as in `+12.0 ns in __seccomp_filter`.
fn first_named(tare: &Tare) -> String {
    let report = tare.ok("report r.jsonl --markdown").stdout;
    let (_, behind) = report.split_once("against native pinned: ").unwrap_or_default();
    let first = behind.split([',', ';', '\n']).next().unwrap_or_default();
    // Markdown hides the signs that mean something to it.
    first.replace('\\', "")
}

#[test]
#[ignore = "slow: make test-all"]
fn what_is_planted_in_a_box_is_named_first() {
    if !(ready("runc") && can_probe()) {
        return;
    }
    let (_alone, tare) = (alone(), Tare::beside_others());
    fs::copy("/usr/sbin/runc", tare.path("runc")).expect("a runc");
    fs::write(
        tare.path("ours"),
        RUNC.replace("@FOLDER@", &tare.path("").display().to_string()),
    )
    .unwrap();
    fs::set_permissions(tare.path("ours"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut wrong = Vec::new();
    for (plant, work, causes) in SEEN {
        let run = "run -p native,runc --provisioning pinned --cpus 1 --blocks 10 --trial-time 200ms --no-settle -q \
                   --evidence -o r.jsonl";
        let args: Vec<&str> = run.split_whitespace().chain(work.iter().copied()).collect();
        let ended = planted(&tare, plant, &args);
        let named = if ended.code == 0 {
            first_named(&tare)
        } else {
            ended.stderr
        };
        if !causes.iter().any(|cause| named.contains(cause)) {
            wrong.push(format!("{plant} by {work:?}: {named}"));
        }
        fs::remove_file(tare.path("r.jsonl")).ok();
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A platform with a mechanism that is all of its gap, and the work that shows it.
const SWITCHED: [(&str, &str, &str); 10] = [
    ("docker", "syscall", "seccomp=off"),
    ("podman", "syscall", "seccomp=off"),
    ("nspawn", "syscall", "seccomp=off"),
    ("lxc?seccomp=common", "syscall", "seccomp=off"),
    (
        "runc?network=bridge",
        "tcp-rr?ends=client-outside",
        "network=host",
    ),
    (
        "nspawn?network=bridge",
        "tcp-rr?ends=client-outside",
        "network=host",
    ),
    ("lxc?network=bridge", "tcp-rr?ends=client-outside", "network=host"),
    (
        "docker?network=bridge",
        "tcp-rr?ends=client-outside",
        "network=host",
    ),
    (
        "podman?network=bridge",
        "tcp-rr?ends=client-outside",
        "network=host",
    ),
    (
        "crun?network=bridge",
        "tcp-rr?ends=client-outside",
        "network=host",
    ),
];

#[test]
#[ignore = "slow: make test-all"]
fn the_mechanism_that_costs_is_named_first() {
    let _alone = alone();
    let mut wrong = Vec::new();
    for (platform, work, off_by) in SWITCHED {
        if !ready(platform) {
            continue;
        }
        let tare = Tare::beside_others();
        let told = tare.ok(&[
            "why",
            platform,
            "-w",
            work,
            "--cpus",
            "1",
            "--trial-time",
            "300ms",
            "--no-settle",
            "-q",
            "--json",
        ]);
        let told: Value = serde_json::from_str(&told.stdout).unwrap();
        let parts = told["gaps"][0]["parts"].as_array().unwrap();
        let first = parts.iter().find(|part| part["has_part"] == true);
        if first.is_none_or(|part| part["off_by"] != off_by) {
            wrong.push(format!("{platform} {work}: {}", told["gaps"][0]));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
