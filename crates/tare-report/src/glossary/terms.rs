//! Words of reports, with what the types that print them say of each.

use super::{Chapter, Glossary};
use crate::words::findings;
use schemars::{JsonSchema, schema_for};
use serde_json::Value;
use tare_analysis::advice::{Criterion, Missing};
use tare_analysis::{Class, NoEffects, NoFit, Notice, Refusal, Shown, Standing, Steadiness};
use tare_model::digits::digits;
use tare_model::finding::Reason;
use tare_model::kernel::{Isa, Way};
use tare_model::looks::LookJudgement;
use tare_model::measuring::{Fresh, Slicing, Stopping};
use tare_model::metric::{LatencyOf, Quantity, Source, Usage};
use tare_model::results::EndReason;
use tare_model::template::{Capacity, Property};
use tare_model::topology::Topology;
use tare_published::DEFINITIONS;

const FINDINGS: Chapter = Chapter {
    title: "Findings",
    one: "a finding",
};
const SCORES: Chapter = Chapter {
    title: "Scores",
    one: "a score",
};

/// Adds all of them.
pub(super) fn add(glossary: &mut Glossary) {
    for (term, meaning) in findings::MEANINGS {
        glossary.add(FINDINGS, term, meaning);
    }
    add_of_trials(glossary);
    add_of_studies(glossary);
    add_of_analyses(glossary);
    for score in DEFINITIONS {
        let names = score.score.split(" (").next().unwrap_or(score.score);
        let parts = [score.formula, score.remark]
            .into_iter()
            .filter(|part| !part.is_empty());
        let meaning = parts.collect::<Vec<_>>().join("; ");
        for name in names.split(", ") {
            glossary.add(SCORES, name, &meaning);
        }
    }
}

fn add_of_trials(glossary: &mut Glossary) {
    add_values::<Notice>(glossary, "Notices", "a notice");
    add_values::<Reason>(glossary, "Failures of trials", "a failure");
    add_values::<EndReason>(glossary, "Ends of runs", "the end of a run");
    add_values::<Refusal>(glossary, "Reasons for no verdict", "a reason for no verdict");
    add_values::<LookJudgement>(glossary, "Looks of adaptive studies", "the result of a look");
}

fn add_of_studies(glossary: &mut Glossary) {
    const PROTOCOL: &str = "Protocol";
    add_values::<Fresh>(glossary, PROTOCOL, "how long a box is used (--fresh)");
    add_values::<Slicing>(glossary, PROTOCOL, "a way to run trials (--slices)");
    add_values::<Stopping>(glossary, PROTOCOL, "a rule for stopping");
    add_values::<Isa>(glossary, "Instruction sets", "an instruction set (--isa)");
    add_values::<Topology>(glossary, "Ends of a network workload", "a place of both ends");
    add_values::<Way>(glossary, "Ways to a disk", "a way to a disk");
    add_values::<Property>(glossary, "What workloads show", "a property");
    add_values::<Capacity>(glossary, "What workloads show", "a capacity");
    add_values::<Quantity>(glossary, "Kinds of metrics", "a kind of metric");
}

fn add_of_analyses(glossary: &mut Glossary) {
    const SIZES: &str = "Effects of sizes";
    add_values::<Steadiness>(glossary, "Verdicts on steadiness", "a verdict on steadiness");
    add_values::<Class>(glossary, SIZES, "the effects that are shown");
    add_values::<Shown>(glossary, SIZES, "what is shown of an effect");
    add_values::<Standing>(glossary, SIZES, "the state of a fit");
    add_values::<NoFit>(glossary, SIZES, "a weakness of a fit");
    add_values::<NoEffects>(glossary, SIZES, "a reason for no effect");
    add_values::<Criterion>(glossary, "Criteria of advice", "a criterion (--weigh)");
    add_values::<Missing>(glossary, "What advice lacks", "something that advice lacks");
}

/// Adds the values of an enumeration, each with its documentation.
fn add_values<T: JsonSchema>(glossary: &mut Glossary, title: &'static str, one: &'static str) {
    for (value, meaning) in values::<T>() {
        glossary.add(Chapter { title, one }, &value, &meaning);
    }
}

/// The values of an enumeration as files hold them, each with its documentation.
fn values<T: JsonSchema>() -> Vec<(String, String)> {
    let schema = schema_for!(T).to_value();
    let variants = ["oneOf", "anyOf"].iter().filter_map(|key| schema[key].as_array());
    let documented = |variant: &Value| Some((name(variant)?, sentence(variant["description"].as_str()?)));
    variants.flatten().filter_map(documented).collect()
}

/// A value by itself, that of a tag, or the one key of an object.
fn name(variant: &Value) -> Option<String> {
    let constant = |value: &Value| value["const"].as_str().map(str::to_owned);
    let properties = variant["properties"].as_object();
    constant(variant)
        .or_else(|| properties?.values().find_map(constant))
        .or_else(|| properties?.keys().next().cloned())
}

/// A documentation as meanings are written: in one line, without a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let text = text.replace(['`', '\n'], " ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let text = text.trim_end_matches('.');
    let mut letters = text.chars();
    let is_word = text.chars().nth(1).is_some_and(char::is_lowercase) || text.starts_with("A ");
    match letters.next() {
        Some(first) if is_word => first.to_lowercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

/// What a metric is that tare itself reads, by where its sample comes from; `None` of one that a workload reports.
pub fn of_source(source: &Source) -> Option<String> {
    let documented = |all: Vec<(String, String)>, name: &str| {
        let mut found = all.into_iter().filter(|(value, _)| value == name);
        found.next().map(|(_, meaning)| meaning)
    };
    match source {
        Source::Usage(usage) => {
            let usage = serde_json::to_value(usage).ok()?;
            documented(values::<Usage>(), usage.as_str()?)
        }
        Source::Host => documented(values::<Source>(), "host"),
        Source::Ready => documented(values::<Source>(), "ready"),
        Source::Latency(LatencyOf::Mean) => Some("mean latency of requests".to_owned()),
        Source::Latency(LatencyOf::Share(share)) => Some(format!(
            "latency that {} % of requests do not exceed",
            digits(100.0 * share, 1)
        )),
        Source::Report | Source::Output(_) | Source::Later(_) => None,
    }
}
