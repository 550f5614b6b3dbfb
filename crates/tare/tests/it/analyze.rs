//! `tare analyze` as a user runs it.

use crate::common::{Tare, ended};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;

/// The text of the first block of a kind in the document.
fn block<'a>(document: &'a str, kind: &str) -> &'a str {
    let begin = format!("```{kind}\n");
    let (_, rest) = document.split_once(&begin).unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_example_of_the_document_is_what_tare_prints() {
    let tare = Tare::beside_others();
    let document = include_str!("../../../../docs/analyze.md");
    std::fs::write(tare.path("runs.csv"), block(document, "csv")).unwrap();
    let command: Vec<&str> = block(document, "sh").split_whitespace().skip(1).collect();
    let ended = tare.ok(&command);
    let expected = block(document, "text");
    assert!(ended.stdout.starts_with(expected), "{}", ended.stdout);
}

#[test]
fn files_of_a_benchmark_tool_are_blocks_of_the_cells_named_before_them() {
    let tare = Tare::beside_others();
    let mut files = Vec::new();
    for block in 0..12 {
        for (cell, nanoseconds) in [("old", 100), ("new", 110)] {
            let name = format!("{cell}-{block}.txt");
            let line = format!(
                "goos: linux\nBenchmarkA-8 9 {}.5 ns/op\n",
                nanoseconds + block % 3
            );
            std::fs::write(tare.path(&name), line).unwrap();
            files.push(format!("{cell}={name}"));
        }
    }
    let options = ["--baseline", "old", "--json"].map(str::to_owned);
    let arguments: Vec<String> = ["analyze".to_owned()]
        .into_iter()
        .chain(files)
        .chain(options)
        .collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let analysis: serde_json::Value = serde_json::from_str(&tare.ok(&arguments).stdout).unwrap();
    let compared = &analysis["comparisons"][0];
    assert_eq!((&compared["metric"], &compared["n"]), (&"A-8".into(), &12.into()));
    assert_eq!(compared["verdict"]["word"], "slower");
}

#[test]
fn standard_input_is_read_and_json_printed() {
    let tare = Tare::beside_others();
    let mut rows = String::new();
    for block in 0..12 {
        for (cell, value) in [("a", 1.0), ("b", 1.1)] {
            let value = value + f64::from(block % 5) / 100.0;
            writeln!(
                rows,
                r#"{{"block":{block},"cell":"{cell}","metric":"t","value":{value}}}"#
            )
            .unwrap();
        }
    }
    let mut command = tare.command("analyze - --baseline a --json --margin 2");
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(rows.as_bytes()).unwrap();
    let ended = ended(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let analysis: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        (&analysis["schema"], &analysis["source"]),
        (&"tare-analyze/1".into(), &"standard input".into())
    );
    let compared = &analysis["comparisons"][0];
    assert_eq!(
        (&compared["verdict"]["word"], &compared["n"]),
        (&"slower".into(), &12.into())
    );
    for key in [
        "paired",
        "ratio_of_means",
        "loss",
        "op",
        "variability_overhead",
        "steadiness",
        "pair_correlation",
    ] {
        assert!(!compared[key].is_null(), "{key}: {compared}");
    }
    for key in ["p", "p_wilcoxon", "p_holm", "p_equal"] {
        assert!(compared["paired"][key].is_f64(), "{key}: {compared}");
    }
}

#[test]
fn bad_data_is_one_line_without_control_characters() {
    let tare = Tare::beside_others();
    std::fs::write(tare.path("bad.csv"), "block,cell,metric,value\n1,a,t,\u{1b}[2J\n").unwrap();
    let refused = tare.refused(
        "analyze bad.csv --baseline a",
        &["bad.csv:2:7: value '\\u{1b}[2J' is not a number"],
    );
    assert_eq!(refused.stderr.lines().count(), 1);
    assert!(refused.stdout.is_empty());
    tare.refused("analyze absent.csv", &["cannot read absent.csv"]);
    tare.refused("analyze .", &["cannot be read"]);
    std::fs::write(
        tare.path("none.csv"),
        "block,cell,metric,value\n1,a,t,1\n1,b,t,1\n",
    )
    .unwrap();
    tare.refused(
        "analyze none.csv",
        &["none.csv: no baseline: choose the cell to compare the others with by --baseline, one of a, b"],
    );
    for (option, value, expected) in [
        ("--margin", "0", "give a percentage from 0.01 to 100"),
        ("--direction", "up", "give higher or lower"),
    ] {
        tare.refused(&["analyze", "none.csv", option, value], &[expected]);
    }
}
