//! A pilot on the scripted platform: the levels that were scripted are found.

use crate::common::Tare;
use crate::common::schema::Schema;
use serde_json::Value;

fn args<'a>(platforms: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["pilot", "-p", platforms, "-w", "syscall", "--cpus", "1"];
    args.extend(["--no-settle", "--provisioning", "vanilla", "--seed", "7"]);
    args.extend(more);
    args
}

#[test]
fn the_level_that_varies_most_is_found() {
    let tare = Tare::new();
    let platforms = "fake?box=0.2&sd=0.02&stretch=0.001,fake?sd=0.2&stretch=0.01,fake?sd=0.001&stretch=0.3";
    let ended = tare.ok(&args(platforms, &["--json"]));
    Schema::of("tare-pilot-1").holds(&ended.stdout);
    let json: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(json["schema"], "tare-pilot/1");
    let cells = json["cells"].as_array().unwrap();
    let most = |cell: &Value| {
        let levels = cell["levels"].as_array().unwrap().clone();
        let variance = |level: &Value| level["variance"].as_f64().unwrap();
        let most = levels.iter().max_by(|a, b| variance(a).total_cmp(&variance(b)));
        most.unwrap()["level"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        cells.iter().map(most).collect::<Vec<_>>(),
        ["box", "process", "iteration"]
    );
    for cell in cells {
        let shape: Vec<u64> = cell["levels"]
            .as_array()
            .unwrap()
            .iter()
            .map(|l| l["n"].as_u64().unwrap())
            .collect();
        assert_eq!(shape, [10, 3, 5], "{cell}");
    }
    // Nothing of the pilot stays.
    let left = std::fs::read_dir(tare.path("")).unwrap().count();
    assert_eq!(left, 1, "the state folder alone");
}

#[test]
fn a_level_that_adds_nothing_is_told() {
    let tare = Tare::new();
    let text = tare.ok(&args("fake?sd=0", &[])).stdout;
    for words in [
        "box",
        "process",
        "iteration",
        "none visible",
        "--fresh block",
        "unknown: a new box adds nothing",
    ] {
        assert!(text.contains(words), "'{words}' is not in: {text}");
    }
    assert!(text.contains("length of a trial: unchanged"), "{text}");
}

#[test]
fn a_pilot_without_enough_figures_says_so() {
    let tare = Tare::new();
    let ended = tare.run(&args("fake,fake?fail=exit", &[]));
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(ended.stdout.contains("too few boxes"), "{}", ended.stdout);
}

#[test]
fn a_pilot_has_a_design_of_its_own() {
    let tare = Tare::new();
    let help = tare.ok("pilot --help").stdout;
    for option in ["--blocks", "--adaptive", "--fresh", "--budget"] {
        assert!(!help.contains(&format!(" {option}")), "{help}");
    }
    for option in [
        &["--blocks", "3"][..],
        &["--adaptive"],
        &["--fresh", "trial"],
        &["--budget", "1m"],
    ] {
        tare.refused(
            &args("fake,fake?cost=2", option),
            &["5 boxes with 3 processes", option[0]],
        );
    }
}
