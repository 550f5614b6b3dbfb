//! What the kernel shows of causes, in sentences.

use tare_analysis::{Evidence, FigureKind, Function};
use tare_model::evidence::ProbeSet;
use tare_model::metric::Unit;

/// More functions than this are in the table.
const MOST: usize = 4;
/// Cells that the answer tells of; the details have all.
const IN_ANSWER: usize = 4;
/// Waits and other times of which the difference is less, over the time of a unit, are in the table alone.
const SMALL: f64 = 0.02;

/// `7.20 ns`, and `0.04 ns` of what is less than one.
pub(crate) fn seconds(nanoseconds: f64) -> String {
    if nanoseconds.abs() < 1.0 {
        return format!("{nanoseconds:.2} ns");
    }
    Unit::Second.show_briefly(nanoseconds / 1e9)
}

/// `+7.20 ns in __seccomp_filter`.
fn more(nanoseconds: f64, what: &str) -> String {
    let sign = if nanoseconds < 0.0 { '-' } else { '+' };
    format!("{sign}{} {what}", seconds(nanoseconds.abs()))
}

/// Where a cell's time goes beside its baseline's, in one sentence for each.
pub(crate) fn sentences(evidence: &[Evidence]) -> Vec<String> {
    evidence.iter().map(sentence).collect()
}

fn sentence(of: &Evidence) -> String {
    let told = differences(of).join(", ");
    let where_to = if told.is_empty() {
        "no function of the kernel and no wait is shown to differ"
    } else {
        &told
    };
    let lost = match of.lost {
        0 => String::new(),
        lost => format!("; {lost} stacks were lost, as there was no room for them"),
    };
    format!(
        "{} against {}: {where_to}{}{lost}",
        of.cell,
        of.baseline.kind,
        settings(of)
    )
}

/// `; its processes have THP_enabled 0 instead of 1`.
fn settings(of: &Evidence) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    let told: Vec<String> = of
        .settings
        .iter()
        .map(|of| {
            format!(
                "{} {} instead of {}",
                of.name,
                value(&of.cell),
                value(&of.baseline)
            )
        })
        .collect();
    if told.is_empty() {
        return String::new();
    }
    format!("; its processes have {}", told.join(", "))
}

/// What takes most of the time that these cells take more, for a unit of work each.
pub(crate) fn answer<'a>(evidence: impl Iterator<Item = &'a Evidence>) -> String {
    let told = evidence.filter_map(|of| {
        let adds = differences(of).into_iter().find(|told| told.starts_with('+'))?;
        Some(format!("{} {adds}", of.cell))
    });
    told.take(IN_ANSWER).collect::<Vec<_>>().join("; ")
}

/// What differs most first.
fn differences(of: &Evidence) -> Vec<String> {
    let mut all: Vec<(f64, String)> = functions(of).chain(states(of)).collect();
    all.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    all.into_iter()
        .map(|(difference, what)| more(difference, &what))
        .collect()
}

fn functions(of: &Evidence) -> impl Iterator<Item = (f64, String)> {
    let differing = of.functions.iter().filter(|function| function.differs);
    differing.take(MOST).map(|Function { name, per_unit, .. }| {
        let place = if name == "[user]" {
            "outside the kernel".to_owned()
        } else {
            format!("in {name}")
        };
        (per_unit.difference(), place)
    })
}

/// Times of tasks that are not those of work.
fn states(of: &Evidence) -> impl Iterator<Item = (f64, String)> {
    let whole = of
        .unit_ns
        .get(&ProbeSet::Times)
        .map_or(f64::INFINITY, |unit| unit.baseline);
    let is_large = move |difference: f64| difference.abs() > SMALL * whole;
    let waits = of
        .figures
        .iter()
        .filter(|figure| figure.kind == FigureKind::State && figure.what != "on CPU");
    waits
        .map(|figure| (figure.per_unit.difference(), figure.what.clone()))
        .filter(move |(difference, _)| is_large(*difference))
}
