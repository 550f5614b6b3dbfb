//! A workload that writes to the link of its agent, as root of the host itself: what it
//! costs the controller is bounded, and nothing that it says is believed.

use crate::common::{self, Tare, ready};
use std::process::Child;
use std::time::{Duration, Instant};
use tare_model::frame::{Head, Kind, MAX_PAYLOAD, encode};

/// Finds the agent's end of the link and writes what is in the file `frames` to it: once, or
/// again and again. Then it works for as long as it would have without.
const SCRIPT: &str = r#"#!/bin/sh
for number in 3 4 5 6 7 8 9; do
    fd=/proc/$PPID/fd/$number
    case $(readlink "$fd") in pipe:*) ;; *) continue ;; esac
    grep -q '^flags:.*1$' /proc/$PPID/fdinfo/$number || continue
    exec 3>"$fd"
    cat FRAMES >&3
    while test AGAIN = always; do cat FRAMES >&3 || exit; done
done
sleep 0.3
"#;

/// Memory that a controller may take: some times what it takes without an enemy.
const MEMORY_BYTES: u64 = 200 << 20;

/// Time in which a run must have ended whose workload floods the link.
const SOON: Duration = Duration::from_secs(60);

/// Starts a run whose workload writes these frames.
fn start(tare: &Tare, frames: &[u8], again: &str) -> Child {
    std::fs::write(tare.path("frames"), frames).unwrap();
    let text = SCRIPT
        .replace("FRAMES", &tare.path("frames").display().to_string())
        .replace("AGAIN", again);
    start_script(tare, &text)
}

/// Starts a run of this script.
fn start_script(tare: &Tare, text: &str) -> Child {
    let script = tare.path("workload");
    std::fs::write(&script, text).unwrap();
    // A controller that takes more memory than this ends, rather than the host. It is given
    // a descriptor that is nobody's business.
    let limited = "ulimit -v 3000000; exec 9</etc/passwd; exec \"$@\"";
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", limited, "sh"])
        .arg(common::binary())
        .args(["run", "-p", "native", "--cpus", "1", "--memory", "512M"])
        .args(["--provisioning", "vanilla", "--slices", "off", "--blocks", "1"])
        .args([
            "--no-settle",
            "--trial-time",
            "0",
            "--timeout",
            "10s",
            "-o",
            "r.jsonl",
        ])
        .args(["--", "/bin/sh"])
        .arg(&script)
        .current_dir(tare.path(""))
        .env("TARE_STATE_DIR", tare.path("state"))
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    command.spawn().unwrap()
}

/// Waits for the end of a run: the most memory that it took.
fn memory_to_the_end(run: &mut Child) -> u64 {
    let begun = Instant::now();
    let mut most = 0;
    while run.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", run.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        most = kib.map_or(most, |kib| most.max(kib << 10));
        if begun.elapsed() > SOON {
            run.kill().unwrap();
            run.wait().unwrap();
            panic!("no end after {SOON:?}, with {most} B");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    most
}

fn frames(kind: Kind, payload: &[u8], count: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..count {
        encode(Head::of(kind, 0), payload, &mut bytes);
    }
    bytes
}

/// What came of the trials: the wall times of those that have one, and the others' reasons.
fn trials(tare: &Tare) -> (Vec<f64>, Vec<String>) {
    let trials = tare.records_of("r.jsonl", "trial");
    let of = |pointer: &str| -> Vec<serde_json::Value> {
        trials
            .iter()
            .filter_map(|t| t.pointer(pointer).cloned())
            .collect()
    };
    let walls = of("/outcome/ok/samples/wall");
    let details = of("/outcome/failed/detail");
    (
        walls.iter().filter_map(serde_json::Value::as_f64).collect(),
        details.iter().map(ToString::to_string).collect(),
    )
}

#[test]
fn frames_without_end_take_no_more_memory_than_any_trial_and_the_run_ends() {
    if !ready("native") {
        return;
    }
    let payload = vec![b'x'; MAX_PAYLOAD];
    let floods = [
        frames(Kind::File, &payload, 16),
        frames(Kind::Stdout, &payload, 16),
        frames(Kind::Stderr, b"", 100_000),
        frames(Kind::Relay, b"some", 100_000),
    ];
    for flood in floods {
        let tare = Tare::new();
        let most = memory_to_the_end(&mut start(&tare, &flood, "always"));
        assert!(most < MEMORY_BYTES, "{most} B");
        let (walls, failed) = trials(&tare);
        assert!(walls.is_empty() && !failed.is_empty(), "{walls:?} {failed:?}");
    }
}

#[test]
fn a_forged_answer_is_not_believed() {
    if !ready("native") {
        return;
    }
    let answer = br#"{"reply":"exited","status":{"code":0},"usage":{"wall_ns":7000,"user_ns":7000,"system_ns":0,"max_rss_bytes":4096,"major_faults":0,"voluntary_switches":0},"repetitions":[{"wall_ns":7000,"user_ns":7000,"system_ns":0,"max_rss_bytes":4096,"major_faults":0,"voluntary_switches":0}],"stdout_lost_bytes":0,"stderr_lost_bytes":0}"#;
    let tare = Tare::new();
    memory_to_the_end(&mut start(&tare, &frames(Kind::Reply, answer, 1), "never"));
    let (walls, failed) = trials(&tare);
    assert!(walls.is_empty(), "{walls:?}");
    assert!(
        failed.iter().all(|why| why.contains("has the wrong number")) && !failed.is_empty(),
        "{failed:?}"
    );
}

#[test]
fn what_a_box_prints_beside_its_link_has_a_bound() {
    if !ready("native") {
        return;
    }
    let tare = Tare::new();
    let told = tare.path("blocks");
    let script = format!(
        "head -c 50000000 /dev/zero | tr '\\0' x >> /proc/$PPID/fd/2\nstat -L -c %b /proc/$PPID/fd/2 > {}\n",
        told.display()
    );
    memory_to_the_end(&mut start_script(&tare, &script));
    let blocks: u64 = std::fs::read_to_string(told).unwrap().trim().parse().unwrap();
    assert!(blocks * 512 <= 64 << 10, "{blocks} blocks");
}

#[test]
fn descriptors_of_who_starts_a_run_are_not_open_in_its_boxes() {
    if !ready("native") {
        return;
    }
    let tare = Tare::new();
    let told = tare.path("open");
    let script = format!("readlink /proc/self/fd/* /proc/$PPID/fd/* > {}\n", told.display());
    memory_to_the_end(&mut start_script(&tare, &script));
    let open = std::fs::read_to_string(told).unwrap();
    assert!(!open.contains("passwd"), "{open}");
}

#[test]
fn what_forks_without_end_takes_the_processes_of_its_box_alone() {
    // Where the kernel counts none there is nothing to limit by.
    let counted = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup/cgroup.controllers"];
    if !counted.iter().any(|path| std::path::Path::new(path).exists()) {
        return;
    }
    // More than a box may have, and fewer than would hurt the host if nothing stopped them.
    let script = "i=0; while [ $i -lt 6000 ]; do sleep 61.7 & i=$((i + 1)); done; echo all of them";
    for platform in ["native", "runc", "docker"] {
        if !ready(platform) {
            continue;
        }
        let tare = Tare::new();
        let options =
            "--provisioning pinned --cpus 1 --memory 2G --blocks 1 --slices off --no-settle --timeout 2m";
        let ended = tare.run(
            &[
                vec!["run", "-p", platform, "-o", "r.jsonl"],
                options.split(' ').collect(),
                vec![
                    "--with-libraries",
                    "--with",
                    "/bin/sleep",
                    "--",
                    "sh",
                    "-c",
                    script,
                ],
            ]
            .concat(),
        );
        assert_eq!(ended.code, 1, "{platform}: {}", ended.stderr);
        let trials = tare.trials_in_the_end("r.jsonl");
        let failed = trials[0]["outcome"]["failed"].to_string();
        assert!(
            failed.contains("ork"),
            "{platform}: 'Cannot fork' is told: {failed}"
        );
        let left = std::process::Command::new("pgrep")
            .args(["-cf", "sleep 61.7"])
            .output();
        let left = String::from_utf8(left.unwrap().stdout).unwrap();
        assert_eq!(left.trim(), "0", "{platform}: processes outlive the trial");
    }
}
