//! Evidence of causes, by probes in the host's kernel.

use crate::common::{Tare, can_probe, ready};
use serde_json::Value;
use std::time::{Duration, Instant};

const RUN: &str = "run -p native,runc -w syscall --provisioning pinned --cpus 1 --memory 256M --blocks 1 --trial-time 100ms --evidence -o r.jsonl";

fn of<'a>(record: &'a Value, probes: &str) -> &'a Value {
    let looks = record["looks"].as_array().unwrap();
    looks.iter().find(|look| look["probes"] == probes).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn a_cell_is_seen_at_work_and_nothing_else_is() {
    if !(ready("runc") && can_probe()) {
        return;
    }
    let tare = Tare::new();
    tare.ok(RUN);
    let records = tare.records_of("r.jsonl", "evidence");
    assert_eq!(records.len(), 2, "{records:?}");
    for record in &records {
        let (times, calls, stacks) = (of(record, "times"), of(record, "calls"), of(record, "stacks"));
        // Each unit is one call, and no other task of the box calls anything while it is measured.
        assert_eq!(calls["calls"]["getppid"]["n"], calls["units"], "{calls}");
        let on_cpu = &times["times"]["on-cpu"];
        let share = number(&on_cpu["ns"]) / number(&times["wall_ns"]);
        assert!(
            (0.8..1.5).contains(&share),
            "{share} of the time on the CPU: {times}"
        );
        let places: f64 = on_cpu["log2"].as_array().unwrap().iter().map(number).sum();
        assert_eq!(places, number(&on_cpu["n"]), "{on_cpu}");
        let frames = stacks["stacks"].to_string();
        assert!(
            frames.contains("do_syscall_64") && !frames.contains("bpf_trace_run"),
            "{frames}"
        );
    }
    let report = tare.ok("report r.jsonl --details").stdout;
    assert!(
        report.contains("Where the time goes") && report.contains("call getppid"),
        "{report}"
    );
}

#[test]
#[ignore = "slow: make test-all"]
fn a_run_that_is_killed_while_it_looks_looks_again_when_resumed() {
    if !(ready("runc") && can_probe()) {
        return;
    }
    let tare = Tare::new();
    let mut child = tare.spawn(RUN);
    let deadline = Instant::now() + Duration::from_secs(60);
    let trials = || {
        tare.path("r.jsonl")
            .exists()
            .then(|| tare.records_of("r.jsonl", "trial").len())
    };
    while trials().is_none_or(|n| n < 2) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(500));
    child.kill().unwrap();
    child.wait().unwrap();
    tare.ok("run --resume r.jsonl");
    assert_eq!(tare.records_of("r.jsonl", "evidence").len(), 2);
    assert_eq!(tare.records_of("r.jsonl", "trial").len(), 2);
    // A finished file gets what it lacks, once.
    tare.ok("run -p native -w syscall --provisioning pinned --cpus 1 --memory 256M --blocks 1 --trial-time 100ms -o n.jsonl");
    tare.ok("run --resume n.jsonl --evidence");
    assert_eq!(tare.records_of("n.jsonl", "evidence").len(), 1);
    tare.refused("run --resume n.jsonl --evidence", &["is complete"]);
    tare.refused(
        "run -p native -w syscall --slices off --evidence",
        &["slice by slice"],
    );
    // What is there is not looked for again.
    let size = || std::fs::metadata(tare.path("r.jsonl")).unwrap().len();
    let before = size();
    tare.run("run --resume r.jsonl");
    assert!(size() < before + 2000, "{before} became {}", size());
}
