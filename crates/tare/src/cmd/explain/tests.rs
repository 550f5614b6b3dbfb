//! Every word that is printed as a term is explained: the words come from where they are printed.

use super::*;
use crate::args::named;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tare_model::platform::PlatformPath;

/// Types of JSON documents whose values are none of tare's terms: what files write to say how something is read
/// or done, and formulas and words of published studies.
const NO_TERMS: [&str; 15] = [
    "Asked",
    "Check",
    "Comma",
    "Formula",
    "Header",
    "LatencyOf",
    "Run",
    "Scale",
    "Sense",
    "Source",
    "Spread",
    "Stream",
    "Take",
    "Unit",
    "Usage",
];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// The texts of all files below a folder that end so.
fn texts(folder: &Path, ending: &str) -> Vec<String> {
    let all = named::texts(folder, ending).into_iter();
    all.map(|(_, text)| text).collect()
}

#[track_caller]
fn explained(words: impl IntoIterator<Item = String>) {
    let glossary = whole().unwrap();
    let words: BTreeSet<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
    assert!(!words.is_empty());
    let is_unknown = |word: &&String| !glossary.find(word).is_ok_and(|found| is_exact(&found, word));
    let unknown: Vec<_> = words.iter().filter(is_unknown).collect();
    assert!(
        unknown.is_empty(),
        "'tare explain' lacks {unknown:?}: add them to docs/GLOSSARY.md, or documentation where they are defined"
    );
}

/// Whether the word itself is explained, rather than one that has it as a part.
fn is_exact(found: &[glossary::Entry], word: &str) -> bool {
    let spelt = |word: &str| word.to_lowercase().replace(['-', '_'], " ").replace(',', "");
    let mut known = found.iter().flat_map(|entry| entry.term.split(", "));
    let singular = word.strip_suffix('s').unwrap_or(word);
    known.any(|known| [word, singular].iter().any(|word| spelt(known) == spelt(word)))
}

/// The texts in quotation marks that follow a mark in code.
fn quoted_after(code: &str, mark: &str) -> Vec<String> {
    let first = |rest: &str| {
        let text = rest.trim_start().strip_prefix('"')?;
        text.split('"').next().map(str::to_owned)
    };
    code.split(mark).skip(1).filter_map(first).collect()
}

/// The values of enumerations in a schema, without those of types that are no terms.
fn values(schema: &Value, words: &mut Vec<String>) {
    match schema {
        Value::Object(map) => {
            let all = map.get("enum").and_then(Value::as_array);
            let all = all.into_iter().flatten().chain(map.get("const"));
            words.extend(all.filter_map(Value::as_str).map(str::to_owned));
            let inner = map.iter().filter(|(key, _)| !NO_TERMS.contains(&key.as_str()));
            inner.for_each(|(_, value)| values(value, words));
        }
        Value::Array(list) => list.iter().for_each(|value| values(value, words)),
        _ => {}
    }
}

#[test]
fn values_in_json() {
    let mut words = Vec::new();
    for text in texts(&folder("docs/schemas"), ".json") {
        values(&serde_json::from_str(&text).unwrap(), &mut words);
    }
    assert!(words.contains(&"end-outside".to_owned()));
    // Names of formats and kinds of records.
    words.retain(|word| !word.contains('/'));
    explained(words);
}

#[test]
fn columns_and_states_of_tables() {
    let code = texts(&folder("crates/tare-report/src/sections"), ".rs").concat();
    let kinds = ["name", "number", "interval", "words", "machine"];
    let heads = kinds
        .iter()
        .flat_map(|kind| quoted_after(&code, &format!("Column::{kind}(")));
    let states = quoted_after(&code, "Cell::State(");
    let words: Vec<String> = heads.chain(states).collect();
    for word in ["n", "Wilcoxon", "MiB by PSS", "confirmed"] {
        assert!(words.contains(&word.to_owned()), "{word}");
    }
    explained(words);
}

#[test]
fn reasons_for_no_verdict_in_short() {
    let code = std::fs::read_to_string(folder("crates/tare-analysis/src/run/refusal.rs")).unwrap();
    let short = code.split("fn short").nth(1).unwrap();
    let words = quoted_after(short, "=> ");
    assert!(words.contains(&"trials failed".to_owned()));
    explained(words);
}

#[test]
fn words_of_remarks_and_messages() {
    let words = [
        "bootstrap-t",
        "CPU-bound",
        "not judged",
        "overload",
        "quantile ratios",
        "regression",
        "run stopped",
        "Welch",
    ];
    explained(words.map(str::to_owned));
}

#[test]
fn columns_of_exports() {
    let code = std::fs::read_to_string(folder("crates/tare-report/src/export/mod.rs")).unwrap();
    let column = |line: &str| {
        let name = line.trim().strip_prefix("(\"")?.split_once("\", Values::")?.0;
        Some(name.to_owned())
    };
    let words: Vec<String> = code.lines().filter_map(column).collect();
    assert!(words.contains(&"wall_ns".to_owned()));
    explained(words);
}

#[test]
fn what_the_doctor_looks_at() {
    let code = std::fs::read_to_string(folder("crates/tare-lab/src/doctor.rs")).unwrap();
    let words = ["check(", "finding("]
        .iter()
        .flat_map(|mark| quoted_after(&code, mark));
    let words: Vec<String> = words.collect();
    assert!(words.contains(&"steal".to_owned()) && words.contains(&"mke2fs".to_owned()));
    explained(words);
}

/// What a platform says that it has instead of an option or a value that there is not.
fn offered(platform: &str, option: &str) -> Vec<String> {
    let path: PlatformPath = format!("{platform}?{option}=qqqqqqqqqqqq").parse().unwrap();
    let Err(error) = tare_platforms::open(&path, Path::new("/nonexistent")) else {
        return Vec::new();
    };
    let told = error.to_string();
    let list = ["there are ", "choose one of "]
        .into_iter()
        .find_map(|mark| told.split_once(mark));
    let list = list.map_or("", |(_, list)| list);
    list.split(", ")
        .map(str::to_owned)
        .filter(|word| !word.is_empty())
        .collect()
}

#[test]
fn platforms_and_their_options() {
    let mut words = Vec::new();
    for platform in REGISTRY.iter().filter(|entry| entry.real && entry.name != "ssh") {
        let options = offered(platform.name, "qqqqqqqqqqqq");
        for option in &options {
            words.extend(offered(platform.name, option));
        }
        words.push(platform.name.to_owned());
        words.extend(options);
    }
    for word in ["seccomp", "macvlan", "qcow2", "docker"] {
        assert!(words.contains(&word.to_owned()), "{word}: {words:?}");
    }
    explained(words);
}

#[test]
fn workloads_and_metrics() {
    let workloads = workloads::list()
        .unwrap()
        .workloads
        .into_iter()
        .map(|workload| workload.name);
    let metrics = metrics().unwrap().into_iter().map(|metric| metric.name);
    explained(workloads.chain(metrics));
    let glossary = whole().unwrap();
    let linpack = &glossary.find("linpack").unwrap()[0].meaning;
    assert!(linpack.contains(Kernel::Linpack.about()), "{linpack}");
    let cpu = &glossary.find("box-cpu").unwrap()[0].meaning;
    assert!(
        cpu.contains("host's counters") && cpu.ends_with("lower is better"),
        "{cpu}"
    );
}
