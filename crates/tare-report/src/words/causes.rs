//! What the kernel shows of causes, in sentences.

use crate::show::percent;
use std::fmt;
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

/// What a cell spends more on something, in nanoseconds of a unit, and over the baseline's time of a unit.
struct More {
    nanoseconds: f64,
    part: f64,
    what: String,
}

impl More {
    fn new(nanoseconds: f64, unit: f64, what: String) -> Self {
        Self {
            nanoseconds,
            part: nanoseconds / unit,
            what,
        }
    }
}

impl fmt::Display for More {
    /// `+7.20 ns (6.1 %) in __seccomp_filter`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.nanoseconds < 0.0 { '-' } else { '+' };
        let (time, part) = (seconds(self.nanoseconds.abs()), percent(self.part.abs()));
        write!(f, "{sign}{time} ({part}) {}", self.what)
    }
}

/// Where a cell's time goes beside its baseline's, in one sentence for each.
pub(crate) fn sentences(evidence: &[Evidence]) -> Vec<String> {
    evidence.iter().map(sentence).collect()
}

fn sentence(of: &Evidence) -> String {
    let told = differences(of).join(", ");
    let where_to = if of.is_blind {
        "the probes saw nothing of one of them"
    } else if told.is_empty() {
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
    let is_usual = |name: &str, cell: &Option<String>| {
        let depth = cell.as_ref().and_then(|cell| cell.parse::<usize>().ok());
        name == "cgroup_depth" && depth.is_some_and(|depth| depth <= USUAL_DEPTH)
    };
    let differing = of.settings.iter().filter(|of| !is_usual(&of.name, &of.cell));
    let told: Vec<String> = differing
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

/// tare itself makes containers lie one cgroup deeper than processes.
const USUAL_DEPTH: usize = 2;

/// What takes most of the time that these cells take more, for a unit of work each.
pub(crate) fn answer<'a>(evidence: impl Iterator<Item = &'a Evidence>) -> String {
    let told = evidence.filter_map(|of| {
        let adds = differences(of).into_iter().find(|told| told.starts_with('+'))?;
        Some(format!("{} {adds}{}", of.cell, settings(of)))
    });
    told.take(IN_ANSWER).collect::<Vec<_>>().join("; ")
}

/// What differs most first.
fn differences(of: &Evidence) -> Vec<String> {
    let mut all: Vec<More> = functions(of).chain(states(of)).collect();
    all.sort_by(|a, b| b.nanoseconds.abs().total_cmp(&a.nanoseconds.abs()));
    all.iter().map(More::to_string).collect()
}

/// The baseline's time of a unit under these probes.
fn unit(of: &Evidence, probes: ProbeSet) -> f64 {
    of.unit_ns
        .get(&probes)
        .map_or(f64::INFINITY, |unit| unit.baseline)
}

fn functions(of: &Evidence) -> impl Iterator<Item = More> {
    let unit = unit(of, ProbeSet::Stacks);
    let differing = of.functions.iter().filter(|function| function.differs);
    differing.take(MOST).map(move |Function { name, per_unit, .. }| {
        let place = if name == "[user]" {
            "outside the kernel".to_owned()
        } else {
            format!("in {name}")
        };
        More::new(per_unit.difference(), unit, place)
    })
}

/// Times of tasks that are not those of work.
fn states(of: &Evidence) -> impl Iterator<Item = More> {
    let unit = unit(of, ProbeSet::Times);
    let waits = of
        .figures
        .iter()
        .filter(|figure| figure.kind == FigureKind::State && figure.what != "on CPU");
    waits
        .map(move |figure| More::new(figure.per_unit.difference(), unit, figure.what.clone()))
        .filter(|more| more.part.abs() > SMALL)
}
