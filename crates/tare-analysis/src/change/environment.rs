//! What differs between the two files besides the figures.

use crate::run::{OtherFile, clipped};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use tare_model::results::{Header, Results};
use tare_model::study::{BoxKind, Cell};

/// One fact that differs; absent where a file does not have it.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Difference {
    /// Which fact, such as `host.kernel`.
    pub what: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// Processes of a cell's trials, as its groups tell: more than one number where one box had
/// room for two and another had not.
type Processes<'a> = BTreeMap<&'a Cell, BTreeSet<u32>>;

/// Every fact of the headers that differs: version and build of tare, host,
/// platforms, study. Facts that later versions add are compared as well, since
/// none is named here. Beside them, how many processes took the rounds of a trial.
pub(super) fn differences(before: &Results, after: &Results) -> Vec<Difference> {
    let processes = (processes(before), processes(after));
    let (mut before, mut after) = (facts(&before.header), facts(&after.header));
    before.extend(facts_of_processes(&processes.0, &processes.1));
    after.extend(facts_of_processes(&processes.1, &processes.0));
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort();
    names.dedup();
    let difference = |what: &String| {
        let (first, second) = (before.get(what), after.get(what));
        (first != second).then(|| Difference {
            what: what.clone(),
            before: first.map(|fact| clipped(fact)),
            after: second.map(|fact| clipped(fact)),
        })
    };
    names.into_iter().filter_map(difference).collect()
}

/// Files, and the image, that differ between two headers that both tell theirs.
pub(super) fn other_files(before: &Header, after: &Header) -> Vec<OtherFile> {
    if before.files.is_empty() != after.files.is_empty() {
        // A version that recorded none says nothing of them.
        return Vec::new();
    }
    let (first, second) = (digests(before), digests(after));
    let names: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
    let other = |file: &String| {
        let (before, after) = (first.get(file), second.get(file));
        let front = |digest: &&str| digest.chars().take(DIGITS).collect();
        (before != after).then(|| OtherFile {
            file: clipped(file),
            before: before.map(front),
            after: after.map(front),
        })
    };
    names.into_iter().filter_map(other).collect()
}

/// Digits of a digest that are enough to tell two files apart.
const DIGITS: usize = 12;

fn digests(header: &Header) -> BTreeMap<String, &str> {
    let files = header
        .files
        .iter()
        .map(|(path, digest)| (path.clone(), digest.as_str()));
    let image = header.study.image.iter().map(|image| {
        let digest = image.digest.strip_prefix("sha256:").unwrap_or(&image.digest);
        (format!("image {}", image.name), digest)
    });
    files.chain(image).collect()
}

fn processes(results: &Results) -> Processes<'_> {
    let mut processes = Processes::new();
    for member in results.groups().flat_map(|group| &group.members) {
        processes
            .entry(&member.cell)
            .or_default()
            .insert(member.processes);
    }
    processes
}

/// By workload: one number if it is that of all boxes, else that of each. Cells that the
/// other file has not in slices are left out: they are told as such.
fn facts_of_processes(own: &Processes, other: &Processes) -> BTreeMap<String, String> {
    let mut workloads: BTreeMap<&str, BTreeMap<String, Vec<&BoxKind>>> = BTreeMap::new();
    for (cell, numbers) in own.iter().filter(|(cell, _)| other.contains_key(*cell)) {
        let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
        let kinds = workloads.entry(&cell.workload).or_default();
        kinds.entry(numbers.join(" or ")).or_default().push(&cell.kind);
    }
    let fact = |(workload, kinds): (&str, BTreeMap<String, Vec<&BoxKind>>)| {
        (format!("processes.{workload}"), numbers_of_boxes(&kinds))
    };
    workloads.into_iter().map(fact).collect()
}

/// `2`, or `1 (vm pinned), 2 (docker pinned, native pinned)`.
fn numbers_of_boxes(by_number: &BTreeMap<String, Vec<&BoxKind>>) -> String {
    let of_some = |(number, kinds): (&String, &Vec<&BoxKind>)| {
        let kinds: Vec<String> = kinds.iter().map(ToString::to_string).collect();
        format!("{number} ({})", kinds.join(", "))
    };
    let mut numbers = by_number.keys();
    match (numbers.next(), numbers.next()) {
        (Some(only), None) => only.clone(),
        _ => by_number.iter().map(of_some).collect::<Vec<_>>().join(", "),
    }
}

fn facts(header: &Header) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    // A header came out of JSON and goes back into it.
    if let Ok(Value::Object(header)) = serde_json::to_value(header) {
        for (name, value) in header {
            collect(name, value, &mut facts);
        }
    }
    facts
}

fn collect(name: String, value: Value, facts: &mut BTreeMap<String, String>) {
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            for (field, value) in fields {
                collect(format!("{name}.{field}"), value, facts);
            }
        }
        Value::Array(items) if items.iter().any(|i| i.is_object() || i.is_array()) => {
            for (i, item) in items.into_iter().enumerate() {
                collect(format!("{name}[{i}]"), item, facts);
            }
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(scalar).collect();
            facts.insert(name, items.join(", "));
        }
        other => {
            facts.insert(name, scalar(&other));
        }
    }
}

fn scalar(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
