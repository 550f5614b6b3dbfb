//! What a box tells is held against what the host saw, on the scripted platform and on
//! real boxes.

use crate::common::{self, Tare, ready};
use serde_json::Value;

/// How the trials of a study ended: `ok`, or the reason why not.
fn reasons(tare: &Tare, args: &[&str], command: &[&str]) -> Vec<String> {
    let fixed = ["run", "--blocks", "1", "--no-settle", "-o", "r.jsonl"];
    let all: Vec<&str> = [&fixed, args, &["--"], command].concat();
    let ended = tare.run(&all);
    let reason = |trial: &Value| {
        let outcome = &trial["outcome"];
        let failed = outcome["failed"]["reason"].as_str();
        let ok = outcome["ok"].is_object().then_some("ok");
        failed.or(ok).unwrap_or("skipped").to_owned()
    };
    let trials = tare.records_of("r.jsonl", "trial");
    assert!(!trials.is_empty(), "{}", ended.stderr);
    trials.iter().map(reason).collect()
}

/// A tenth of the time in slices, a five-thousandth in one piece, which takes long enough to be
/// found out beside any load.
const LIES: [(&str, &[&str]); 2] = [
    (
        "fake?lie=0.1",
        &["--trial-time", "100ms", "--provisioning", "pinned"],
    ),
    (
        "fake?lie=0.0002",
        &[
            "--trial-time",
            "5s",
            "--provisioning",
            "pinned",
            "--slices",
            "off",
        ],
    ),
];

#[test]
fn a_box_that_tells_of_less_time_than_the_host_saw_has_failed_trials() {
    let program = common::binary().display().to_string();
    for (platform, options) in LIES {
        let (lying, honest) = (Tare::new(), Tare::new());
        let args = [&["-p", platform, "--cpus", "1"], options].concat();
        assert_eq!(
            reasons(&lying, &args, &[&program]),
            ["disagrees", "disagrees"],
            "{platform}"
        );
        let args = [&["-p", "fake?lie=1", "--cpus", "1"], options].concat();
        assert_eq!(reasons(&honest, &args, &[&program]), ["ok"], "{platform}");
    }
}

/// Burns two CPUs for a second, where it can after it lifted the quota of its own cgroup.
const LIFT: &str = "for top in /sys/fs/cgroup/cpu /sys/fs/cgroup/cpu,cpuacct /sys/fs/cgroup; do \
     path=$(sed -n -e 's/^[0-9]*:\\(cpu\\|cpu,cpuacct\\|cpuacct,cpu\\|\\)://p' /proc/self/cgroup | head -n 1); \
     [ -e $top$path/cpu.cfs_quota_us ] && echo -1 > $top$path/cpu.cfs_quota_us; \
     [ -e $top$path/cpu.max ] && echo max > $top$path/cpu.max; done; \
     burn() { end=$(($(date +%s) + 2)); while [ $(date +%s) -lt $end ]; do i=0; \
     while [ $i -lt 20000 ]; do i=$((i + 1)); done; done; }; burn & burn & wait; true";

#[test]
fn a_box_that_lifts_its_own_quota_has_failed_trials() {
    if !ready("native") || std::thread::available_parallelism().unwrap().get() < 2 {
        return;
    }
    let args = [
        "-p",
        "native",
        "--cpus",
        "0.5",
        "--provisioning",
        "vanilla",
        "--trial-time",
        "0",
    ];
    let of = |command| reasons(&Tare::new(), &args, &["/bin/sh", "-c", command]);
    assert_eq!(of(LIFT), ["over-limit", "over-limit"]);
    assert_eq!(of("i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done"), ["ok"]);
}
