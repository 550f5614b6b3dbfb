//! `tare published`: the list, a study, the check, a workload.

use crate::common::Tare;
use serde_json::Value;

fn json(tare: &Tare, args: &[&str]) -> Value {
    serde_json::from_str(&tare.ok(args).stdout).unwrap()
}

#[test]
fn the_list_names_every_study_with_its_figures() {
    let tare = Tare::beside_others();
    let list = json(&tare, &["published", "--json"]);
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), 15);
    let figures: u64 = list.iter().map(|s| s["figures"].as_u64().unwrap()).sum();
    assert_eq!(figures, 1518);
    let text = tare.ok("published").stdout;
    assert_eq!(text, tare.ok("published list").stdout);
    for study in list {
        assert!(text.contains(study["id"].as_str().unwrap()), "{study}");
    }
}

#[test]
fn every_study_can_be_shown() {
    let tare = Tare::beside_others();
    for study in json(&tare, &["published", "list", "--json"]).as_array().unwrap() {
        let id = study["id"].as_str().unwrap();
        let shown = tare.ok(&["published", "show", id]).stdout;
        assert!(shown.contains("taken from"), "{id}");
        assert!(!shown.contains("NaN"), "{id}");
        let whole = json(&tare, &["published", "show", id, "--json"]);
        assert_eq!(whole["study"]["id"], id);
    }
    let shown = tare.ok("published show conaboy2021").stdout;
    for words in ["iozone, kB/s", "Errata", "8050.44", "Where studies differ"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

#[test]
fn every_checkable_claim_is_reproduced() {
    let tare = Tare::beside_others();
    let checked = json(&tare, &["published", "check", "--json"]);
    let tally = &checked["tally"];
    for (key, count) in [
        ("checkable", 40),
        ("reproduced", 40),
        ("with_number", 14),
        ("differ", 3),
    ] {
        assert_eq!(tally[key], count, "{key}");
    }
    let text = tare.ok("published check").stdout;
    for words in [
        "40 of 40 claims that can be checked follow from the tables",
        "the study's word 29 %, which differs by 2.86 points",
        "agrees to rounding",
        "not checkable",
        "erratum: ",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let one = tare.ok("published check li2018").stdout;
    assert!(
        one.contains("2 of 2 claims") && !one.contains("felter2015"),
        "{one}"
    );
}

#[test]
fn a_workload_shows_what_all_studies_say_and_where_they_differ() {
    let tare = Tare::beside_others();
    let text = tare.ok("published workload redis").stdout;
    for words in [
        "felter2015",
        "kuenzer2021 and felter2015: Redis: Docker loses 20 %",
        "redis-set-loopback",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let storage = json(&tare, &["published", "workload", "storage", "--json"]);
    assert_eq!(storage["families"].as_array().unwrap().len(), 3);
    assert!(storage["contradictions"].as_array().unwrap().len() >= 4);
    assert!(tare.ok("published scores").stdout.contains("li2018"));
}

#[test]
fn unknown_names_are_refused_with_the_nearest() {
    let tare = Tare::beside_others();
    for command in ["show", "check"] {
        let words = ["no study 'li2019'", "did you mean 'li2018'?"];
        tare.refused(&["published", command, "li2019"], &words);
        let refused = tare.refused(&["published", command, "a\u{1b}[31m\nb"], &["no study"]);
        assert!(
            !refused.stderr.trim_end().contains(['\u{1b}', '\n']),
            "{refused:?}"
        );
    }
    let words = ["no study has a workload 'rediss'", "did you mean 'redis'?"];
    tare.refused("published workload rediss", &words);
}

/// Results of 12 blocks of linpack, in which docker costs twice as much: the test bed under the names of platforms.
fn measured(tare: &Tare) {
    let study = "-p fake,fake?cost=2 -w linpack --provisioning vanilla --blocks 12 --seed 1";
    tare.ok(&format!("run {study} --cpus 1 --no-settle -o own.jsonl"));
    let path = tare.path("own.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let text = text
        .replace("fake?cost=2", "docker")
        .replace("\"fake\"", "\"native\"");
    std::fs::write(path, text).unwrap();
}

#[test]
fn own_figures_stand_beside_those_of_a_study() {
    let tare = Tare::beside_others();
    measured(&tare);
    let args = ["compare", "own.jsonl", "--published", "conaboy2021"];
    let text = tare.ok(&args).stdout;
    for words in [
        "docker vanilla linpack",
        "differs",
        "stream (12 figures): no workload stream in the results",
        "iozone (24 figures): tare has no such workload",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let json = json(&tare, &[&args[..], &["--json"]].concat());
    let rows = json["rows"].as_array().unwrap();
    let judged = rows.iter().find(|r| r["own"].is_object()).unwrap();
    assert_eq!(judged["verdict"]["verdict"], "differs");
    assert_eq!(judged["own"]["n"], 12);
}

#[test]
fn a_comparison_names_a_study_or_a_second_file() {
    let tare = Tare::beside_others();
    measured(&tare);
    tare.refused("compare own.jsonl", &["<AFTER>", "--published <STUDY>"]);
    let both = ["compare", "own.jsonl", "own.jsonl", "--published", "li2018"];
    tare.refused(&both, &["cannot be used with"]);
    let gate = [
        "compare",
        "own.jsonl",
        "--fail-above",
        "5",
        "--published",
        "li2018",
    ];
    tare.refused(&gate, &["cannot be used with"]);
    let unknown = ["compare", "own.jsonl", "--published", "li2081"];
    tare.refused(&unknown, &["no study 'li2081'", "did you mean 'li2018'?"]);
    let absent = ["compare", "absent.jsonl", "--published", "li2018"];
    tare.refused(&absent, &["absent.jsonl"]);
}
