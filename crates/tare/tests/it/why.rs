//! What a cost consists of: scripted mechanisms whose shares are known, and a filter that a real platform has.

use crate::common::schema::Schema;
use crate::common::{Tare, alone, can_probe, ready};
use serde_json::Value;

/// A filter that adds a fifth of the baseline's cost, and a network that adds a twentieth.
const SCRIPT: &str = "fake?filter=0.2&link=0.05";
const QUICK: [&str; 5] = ["-w", "syscall", "--no-settle", "--trial-time", "20ms"];

fn why<'a>(platform: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let own = [
        "why",
        platform,
        "--baseline",
        "fake?seed=1",
        "--cpus",
        "1",
        "--seed",
        "7",
        "-q",
    ];
    own.iter().chain(&QUICK).chain(more).copied().collect()
}

fn part<'a>(gap: &'a Value, off_by: &str) -> &'a Value {
    let parts = gap["parts"].as_array().unwrap();
    parts.iter().find(|part| part["off_by"] == off_by).unwrap()
}

#[track_caller]
fn holds(estimate: &Value, truth: f64) {
    let [low, high] = ["low", "high"].map(|end| estimate[end].as_f64().unwrap());
    assert!(low <= truth && truth <= high, "{truth} in {estimate}");
}

#[test]
fn each_mechanism_has_its_share_and_they_add_up() {
    let tare = Tare::new();
    let told = tare.ok(&why(SCRIPT, &["--json", "-o", "r.jsonl"])).stdout;
    Schema::of("tare-why-1").holds(&told);
    let told: Value = serde_json::from_str(&told).unwrap();
    let [gap] = &told["gaps"].as_array().unwrap()[..] else {
        panic!("{told}")
    };
    holds(&gap["gap"], 0.25);
    for (off_by, adds) in [("seccomp=off", 0.2), ("network=host", 0.05)] {
        holds(&part(gap, off_by)["adds"], adds);
        holds(&part(gap, off_by)["share"], adds / 0.25);
    }
    holds(&gap["rest"]["adds"], 0.0);
    let value = |of: &Value| of["adds"]["value"].as_f64().unwrap();
    let sum = value(part(gap, "seccomp=off")) + value(part(gap, "network=host")) + value(&gap["rest"]);
    assert!(
        (sum - gap["gap"]["value"].as_f64().unwrap()).abs() < 1e-9,
        "{gap}"
    );
    // The same of the file, in words and as a page with its picture.
    let text = tare.ok("why r.jsonl --html p.html --svg pictures").stdout;
    assert!(
        text.contains("is its seccomp filter") && !text.contains("left with all of them off"),
        "{text}"
    );
    assert!(!text.contains("Each cell") && tare.ok("why r.jsonl --details").stdout.contains("Each cell"));
    assert!(
        std::fs::read_to_string(tare.path("p.html"))
            .unwrap()
            .contains("<svg")
    );
    assert!(tare.path("pictures/waterfall.svg").exists());
}

#[test]
fn what_no_mechanism_explains_is_the_rest() {
    let tare = Tare::new();
    let text = tare.ok(&why("fake?cost=1.1&filter=0", &[])).stdout;
    assert!(text.contains("no mechanism that was switched off"), "{text}");
    assert!(text.contains("left with all of them off"), "{text}");
}

#[test]
fn there_are_no_shares_of_a_gap_that_is_not_shown_or_of_few_blocks() {
    let tare = Tare::new();
    let told = |more: &[&str]| {
        let all: Vec<&str> = ["--json"].iter().chain(more).copied().collect();
        let told: Value = serde_json::from_str(&tare.ok(&why("fake?filter=0", &all)).stdout).unwrap();
        told["gaps"][0].clone()
    };
    let gap = told(&[]);
    assert_eq!(gap["no_shares"], "no-gap", "{gap}");
    assert!(part(&gap, "seccomp=off")["share"].is_null() && gap["rest"]["share"].is_null());
    assert_eq!(told(&["--blocks", "4"])["no_shares"], "too-few-blocks");
}

#[test]
fn what_cannot_be_shared_out_is_refused_with_what_can() {
    let tare = Tare::new();
    tare.ok("run -p fake,fake?cost=2 -w syscall --provisioning pinned --blocks 2 --no-settle --trial-time 20ms -o r.jsonl");
    for (line, words) in [
        ("why", &["<PLATFORM>"][..]),
        ("why native", &["nothing of native can be switched off"]),
        (
            "why fake?filter=0.1 --mechanisms secomp",
            &["did you mean 'seccomp'?"],
        ),
        ("why no-such-platform", &["no-such-platform"]),
        ("why r.json", &["there is no file r.json"]),
        (
            "why r.jsonl",
            &["both with and without its mechanisms", "tare why docker"],
        ),
        ("why r.jsonl -w syscall", &["is read, nothing is measured"]),
        ("why fake?filter=0.1 -p native", &["omit --platforms"]),
        ("why fake?filter=0.1 --adaptive", &["omit --adaptive"]),
        ("why fake?filter=0.1 --networks host", &["omit --networks"]),
    ] {
        tare.refused(line, words);
    }
}

#[test]
fn the_filter_of_a_real_container_is_all_that_its_system_calls_cost() {
    if !ready("nspawn") {
        return;
    }
    // Beside probes of others, every system call takes the long way.
    let (_alone, tare) = (alone(), Tare::beside_others());
    let line = "why nspawn -w syscall --mechanisms seccomp --cpus 1 --trial-time 200ms -q --json";
    let told: Value = serde_json::from_str(&tare.ok(line).stdout).unwrap();
    let gap = &told["gaps"][0];
    let share = |part: &Value| part["share"]["value"].as_f64().unwrap();
    assert!((share(part(gap, "seccomp=off")) - 1.0).abs() < 0.2, "{gap}");
    if can_probe() {
        // What the kernel's own functions take of it, and what the way past them does not.
        let seen = &part(gap, "seccomp=off")["in_kernel"]["adds"];
        let ratio = seen.as_f64().unwrap() / gap["gap"]["value"].as_f64().unwrap();
        assert!((0.5..1.5).contains(&ratio), "{ratio} of {gap}");
    }
}
