//! Files of benchmark tools, known by what is in them. What a tool repeats in one run shares that run's
//! conditions: its repetitions are no trials, so that a file is one block, and a figure of it the mean
//! of its repetitions.

mod criterion;
mod go;
mod google;
mod hyperfine;
mod jmh;
mod pytest;
mod services;
#[cfg(test)]
mod tests;

use super::fault::{DataError, Fault};
use super::lines::Lines;
use super::table::{Builder, Row};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::borrow::Cow;
use std::io::BufRead;
use tare_model::metric::Direction;

/// A tool whose document is one JSON object. Those of JMH and github-action-benchmark are lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    Google,
    Hyperfine,
    Pytest,
    /// `sample.json` of a benchmark.
    CriterionSample,
    /// The messages of `cargo criterion`.
    CriterionMessages,
}

/// What a tool measured.
pub(super) struct Figure {
    /// The command or benchmark.
    pub name: String,
    pub metric: Cow<'static, str>,
    pub unit: Option<String>,
    pub direction: Option<Direction>,
    /// The mean of all repetitions; absent if one failed.
    pub value: Option<f64>,
}

/// The metrics that need no name beside that of their benchmark.
const TIME: &str = "time";
const THROUGHPUT: &str = "throughput";
const VALUE: &str = "value";

/// Keys by which documents are known.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Keys {
    results: Option<IgnoredAny>,
    benchmarks: Option<IgnoredAny>,
    context: Option<IgnoredAny>,
    iters: Option<IgnoredAny>,
    times: Option<IgnoredAny>,
    reason: Option<IgnoredAny>,
}

/// Whether a file that begins with this line is a document rather than a table, whatever is in it.
pub(super) fn is_document(first: &str) -> bool {
    let first = first.trim_start();
    let keys = || serde_json::from_str::<Keys>(first);
    let is_known = || keys().map_or_else(|e| e.is_eof(), |keys| keys.tool().is_some());
    first.starts_with('[') || first.starts_with('{') && (is_known() || bmf(first).is_some())
}

/// Benchmarks in Bencher Metric Format, if a document has any.
fn bmf(text: &str) -> Option<services::Bmf> {
    let found: services::Bmf = serde_json::from_str(text).ok()?;
    (!found.is_empty()).then_some(found)
}

/// Whether a file that begins with this line is one of Go's benchmarks.
pub(super) fn is_go(first: &str) -> bool {
    ["goos: ", "goarch: ", "pkg: ", "Benchmark"]
        .iter()
        .any(|begin| first.starts_with(begin))
}

/// Whether this line is of a summary by `benchstat`, which has no single figures any more.
pub(super) fn is_benchstat(line: &str) -> bool {
    let is_old = line.starts_with("name ") && line.contains("/op");
    is_old || line.trim_start().starts_with('│')
}

impl Keys {
    const fn tool(&self) -> Option<Tool> {
        match self {
            Self { results: Some(_), .. } => Some(Tool::Hyperfine),
            Self {
                benchmarks: Some(_),
                context: Some(_),
                ..
            } => Some(Tool::Google),
            Self {
                benchmarks: Some(_), ..
            } => Some(Tool::Pytest),
            Self {
                iters: Some(_),
                times: Some(_),
                ..
            } => Some(Tool::CriterionSample),
            Self { reason: Some(_), .. } => Some(Tool::CriterionMessages),
            _ => None,
        }
    }
}

/// Where figures belong.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// The cell of all figures, whose metrics are then their names; absent where each name is a cell.
    pub cell: Option<&'a str>,
    /// Number of the file among those of its cell, from 1.
    pub block: u32,
}

/// Reads the rest of a document, and what it measured.
pub(super) fn document<R: BufRead>(first: &str, lines: &mut Lines<R>) -> Result<Vec<Figure>, DataError> {
    let source = lines.source;
    let text = lines.rest(first)?;
    let failed = |fault| DataError::whole(source, fault);
    let unknown = || failed(Fault::Document);
    if text.trim_start().starts_with('[') {
        return list(&text)
            .filter(|figures| !figures.is_empty())
            .ok_or_else(unknown);
    }
    // First: a benchmark may have any name, such as a key of another tool.
    if let Some(benchmarks) = bmf(&text) {
        return Ok(services::of_bmf(benchmarks));
    }
    // Messages are many documents, of which the first line is one.
    let keys = serde_json::from_str::<Keys>(&text).or_else(|e| serde_json::from_str(first).map_err(|_| e));
    let keys = keys.map_err(|e| failed(Fault::BrokenDocument(why(&e))))?;
    let broken = |why| failed(Fault::BrokenDocument(why));
    match keys.tool().ok_or_else(unknown)? {
        Tool::Google => Ok(google::figures(parse(&text).map_err(broken)?)),
        Tool::Hyperfine => Ok(hyperfine::figures(parse(&text).map_err(broken)?)),
        Tool::Pytest => Ok(pytest::figures(parse(&text).map_err(broken)?)),
        Tool::CriterionSample => Ok(criterion::sample(source, &parse(&text).map_err(broken)?)),
        Tool::CriterionMessages => criterion::messages(&text).map_err(broken),
    }
}

/// What a list is of, if it is one of a tool.
fn list(text: &str) -> Option<Vec<Figure>> {
    let of_jmh = || serde_json::from_str::<Vec<jmh::Benchmark>>(text).ok();
    let entries = || serde_json::from_str::<Vec<services::Entry>>(text).ok();
    of_jmh()
        .map(|benchmarks| jmh::figures(&benchmarks))
        .or_else(|| entries().map(services::of_entries))
}

/// Reads the lines of Go's benchmarks.
pub(super) fn go<R: BufRead>(first: &str, lines: &mut Lines<R>) -> Result<Vec<Figure>, DataError> {
    let text = lines.rest(first)?;
    if text.lines().any(is_benchstat) {
        return Err(DataError::whole(lines.source, Fault::Benchstat));
    }
    Ok(go::figures(&text))
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|e| why(&e))
}

/// Why a document cannot be read, with the way out of what people have.
fn why(error: &serde_json::Error) -> String {
    let line = error.line();
    let told = tare_model::plain::fault(error);
    match &*told {
        "trailing characters" => format!(
            "another document begins in line {line}: give each a file of its own, and each row of a table one line"
        ),
        "expected value" | "invalid number" => {
            format!(
                "line {line}: {told}: JSON has no NaN and no Infinity; write null for a figure that is none"
            )
        }
        _ => format!("line {line}: {told}"),
    }
}

/// Takes in what a file measured.
pub(super) fn add(
    figures: &[Figure],
    place: Place<'_>,
    source: &str,
    builder: &mut Builder,
) -> Result<(), DataError> {
    let block = place.block.to_string();
    for (number, figure) in (1..).zip(figures) {
        let named = match &*figure.metric {
            TIME | THROUGHPUT | VALUE => figure.name.clone(),
            metric if figure.unit.as_deref() == Some(metric) => figure.name.clone(),
            metric => format!("{} {metric}", figure.name),
        };
        let row = Row {
            block: &block,
            cell: place.cell.unwrap_or(&figure.name),
            metric: place.cell.map_or(&*figure.metric, |_| &named),
            value: figure.value.filter(|value| value.is_finite()),
            baseline: None,
            direction: figure.direction.map(Direction::name),
            unit: figure.unit.as_deref(),
        };
        builder
            .add(&row, number)
            .map_err(|(_, fault)| DataError::whole(source, fault))?;
    }
    Ok(())
}
