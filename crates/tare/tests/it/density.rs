//! Idle boxes on real engines: what is measured, what is told, and that nothing
//! stays, however it ends.

use crate::common::{Tare, ended, left_of, ready};
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// The runs of which something is in a state folder.
fn runs(state: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(state).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names
        .filter(|name| name.starts_with("tare-") && !name.contains('.'))
        .collect()
}

#[test]
fn the_memory_of_an_idle_box_is_the_same_whatever_stands_beside_it() {
    let tare = Tare::new();
    tare.ok("run -w syscall -p native --cpus 1 --memory 256M --provisioning pinned,vanilla --blocks 2 --fresh block --no-settle -o r.jsonl");
    let boxes = tare.records_of("r.jsonl", "box");
    let read: Vec<f64> = boxes
        .iter()
        .map(|b| b["resident_bytes"].as_f64().unwrap())
        .collect();
    assert!(read.len() >= 4, "{boxes:?}");
    let (least, most) = (
        read.iter().copied().reduce(f64::min),
        read.iter().copied().reduce(f64::max),
    );
    // Two agents share nearly all of their pages: by shares, the second box would look half as large.
    assert!(
        least.unwrap() > 1e6 && most.unwrap() < 1.2 * least.unwrap(),
        "{read:?}"
    );
}

fn figures_of(platform: &str) {
    if !ready(platform) {
        return;
    }
    let tare = Tare::new();
    let done = tare.ok(&format!(
        "density -p {platform} --boxes 4 --starts 2 --json -o density.json"
    ));
    let printed: Value = serde_json::from_str(&done.stdout).unwrap();
    let stored = std::fs::read_to_string(tare.path("density.json")).unwrap();
    assert_eq!(printed, serde_json::from_str::<Value>(&stored).unwrap());
    assert_eq!(printed["schema"], "tare-density/1");
    assert_eq!(printed["limits"]["memory_bytes"], 256 << 20);
    let measured = &printed["platforms"][0];
    let boxes = measured["boxes"].as_array().unwrap();
    assert_eq!((boxes.len(), &measured["stopped"]), (4, &Value::Null));
    let of = |i: usize, key: &str| boxes[i][key].as_u64().unwrap();
    // Each box adds a process at least, and memory of its own: a single one may be hidden
    // by pages of the shared binary that the kernel takes back meanwhile.
    for i in 1..boxes.len() {
        assert!(
            of(i, "processes") > of(i - 1, "processes"),
            "{platform}: {boxes:?}"
        );
    }
    assert!(of(3, "pss_bytes") > of(0, "pss_bytes"), "{platform}: {boxes:?}");
    let starts = measured["starts"].as_array().unwrap();
    let cold = starts.iter().filter(|start| start["cold"] == true).count();
    let expected = if measured["no_cold"].is_null() { 2 } else { 0 };
    assert_eq!((cold, starts.len() - cold), (expected, 2), "{measured}");
    let estimate = &printed["estimates"][0];
    assert_eq!(
        (&estimate["n"], &estimate["platform"]),
        (&4.into(), &platform.into())
    );
    let by_pss = &estimate["by_pss"];
    let bytes = by_pss["bytes"].as_f64().unwrap();
    assert!(bytes > 10_000.0 && bytes < 268_435_456.0, "{estimate}");
    assert!(by_pss["boxes"].as_f64().unwrap() >= 4.0, "{estimate}");
    assert!(done.stderr.contains("idle box 4 of 4"), "{}", done.stderr);
    assert_eq!(runs(&tare.path("state")), Vec::<String>::new());
}

#[test]
fn native() {
    figures_of("native");
}

#[test]
fn runc() {
    figures_of("runc");
}

#[test]
fn people_are_told_what_was_limited_what_was_measured_and_what_is_extrapolated() {
    if !ready("native") {
        return;
    }
    let tare = Tare::new();
    let done = tare.ok("density -p native --boxes 3 --starts 1 --memory 64M");
    for expected in [
        "limited to 1 CPU by quota and 64 MiB",
        "native    3  ",
        "start-up, warm",
        "with its 95 % interval",
        "boxes by PSS",
    ] {
        assert!(done.stdout.contains(expected), "{expected}: {}", done.stdout);
    }
}

/// Boxes enough that they are not all made before their controller is stopped.
const MANY: [&str; 7] = ["density", "-p", "native", "--boxes", "500", "--starts", "1"];

/// The run whose idle boxes have begun to come up, if that happens in time.
fn under_way(tare: &Tare) -> Option<String> {
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline {
        let run = runs(&tare.path("state")).pop();
        // The first box and the two starts come before it.
        let begun = |run: &String| tare.path("state").join(run).join(format!("{run}-5")).exists();
        if let Some(run) = run.filter(begun) {
            return Some(run);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    None
}

#[test]
fn a_clean_stop_removes_the_boxes_and_ends_with_130() {
    if !ready("native") {
        return;
    }
    let tare = Tare::new();
    let child = tare.spawn(&MANY);
    let run = under_way(&tare);
    let pid = child.id().to_string();
    let sent = std::process::Command::new("kill").args(["-INT", &pid]).status();
    let done = ended(child.wait_with_output().unwrap());
    assert!(sent.unwrap().success());
    let run = run.unwrap();
    assert_eq!(done.code, 130, "{}", done.stderr);
    assert_eq!(left_of(&run), Vec::<String>::new());
    assert_eq!(runs(&tare.path("state")), Vec::<String>::new());
}

#[test]
fn what_a_killed_one_leaves_is_swept_by_the_next_start() {
    if !ready("native") {
        return;
    }
    let tare = Tare::new();
    let mut child = tare.spawn(&MANY);
    let run = under_way(&tare);
    // The last box is up by then: a process that is just being started holds the run's lock until it is one.
    std::thread::sleep(Duration::from_millis(500));
    child.kill().unwrap();
    child.wait().unwrap();
    let run = run.unwrap();
    let next = tare.ok("density -p native --boxes 3 --starts 1");
    assert!(
        next.stderr.contains(&format!("removed leftover: {run}")),
        "{}",
        next.stderr
    );
    assert_eq!(left_of(&run), Vec::<String>::new());
}

#[test]
fn bad_input_is_refused_before_a_box_is_made() {
    let tare = Tare::new();
    let refused = |more: &[&str], words: &[&str]| {
        tare.refused(&[&["density"], more].concat(), words);
    };
    refused(&["--boxes", "2"], &["--boxes", "from 3 to 10000"]);
    refused(&["--starts", "0"], &["--starts", "from 1 to 1000"]);
    refused(&["--memory", "1M"], &["--memory", "at least 64M"]);
    refused(&["--memory", "0"], &["--memory"]);
    refused(&["-p", "dokcer"], &["unknown platform 'dokcer'"]);
    refused(&["-p", "fake"], &["without real boxes", "tare doctor"]);
    refused(&["-o", "-"], &["give a path"]);
    refused(&["-o", "no/such/file"], &["there is no folder", "create it"]);
    std::fs::write(tare.path("there"), "").unwrap();
    refused(&["-o", "there"], &["there already exists"]);
    assert_eq!(runs(&tare.path("state")), Vec::<String>::new());
}
