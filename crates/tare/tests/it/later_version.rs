//! A results file to which a later version has added what this one does not know.

use crate::common::Tare;
use std::fs;

const RECORD: &str = "{\"record\":\"forecast\",\"of\":{\"trial\":0},\"counts\":[1,2,3]}\n";

/// A run of two blocks, cut after the first, with a record and a figure that nobody knows.
fn changed(tare: &Tare) -> String {
    tare.ok("run -p fake,fake?cost=1.1 --cpus 1 -w syscall --no-settle --blocks 2 --seed 7 -o r.jsonl");
    let whole = fs::read_to_string(tare.path("r.jsonl")).unwrap();
    let second = whole.find("\"block\":1").unwrap();
    let cut = whole[..second].rfind('\n').unwrap() + 1;
    let known = whole[..cut].replacen("\"samples\":{", "\"samples\":{\"joules\":1.5,", 1);
    let text = known + RECORD;
    fs::write(tare.path("r.jsonl"), &text).unwrap();
    text
}

fn notices(tare: &Tare) -> Vec<serde_json::Value> {
    let json: serde_json::Value = serde_json::from_str(&tare.ok("report r.jsonl --json").stdout).unwrap();
    json["notices"].as_array().unwrap().clone()
}

#[test]
fn what_nobody_knows_is_told_and_kept_when_the_run_goes_on() {
    let tare = Tare::beside_others();
    let before = changed(&tare);
    tare.ok("run --resume r.jsonl");
    let after = fs::read_to_string(tare.path("r.jsonl")).unwrap();
    assert!(after.starts_with(&before), "what stood there is as it was");
    assert!(tare.records_of("r.jsonl", "trial").len() >= 8);
    let notices = notices(&tare);
    let told = |name: &str| notices.iter().find(|n| n["notice"] == name).unwrap();
    assert_eq!(
        (
            &told("unknown-records")["kind"],
            &told("unknown-records")["records"]
        ),
        (&"forecast".into(), &1.into())
    );
    assert_eq!(told("unnamed-figures")["figures"][0], "syscall joules");
    assert!(tare.ok("report r.jsonl").stdout.contains("kind 'forecast'"));
}

#[test]
fn a_record_of_an_unknown_kind_that_is_damaged_is_still_an_error() {
    let tare = Tare::beside_others();
    let text = changed(&tare).replace("\"counts\":[1,2,3]", "\"counts\":[1,2");
    fs::write(tare.path("r.jsonl"), &text).unwrap();
    let line = format!("r.jsonl:{}", text.lines().count());
    tare.refused("report r.jsonl", &[line.as_str(), "damaged"]);
}
