//! What differs between the two files besides the figures.

use crate::show::clipped;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use tare_model::results::Header;

/// One fact that differs; absent where a file does not have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Which fact, such as `host.kernel`.
    pub what: String,
    /// Before.
    pub before: Option<String>,
    /// After.
    pub after: Option<String>,
}

/// Every fact of the headers that differs: version and build of tare, host,
/// platforms, study. Facts that later versions add are compared as well, since
/// none is named here.
pub(super) fn differences(before: &Header, after: &Header) -> Vec<Difference> {
    let (before, after) = (facts(before), facts(after));
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
