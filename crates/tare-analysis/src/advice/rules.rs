//! Best practices and findings of published studies as rules, each held against the data.
//!
//! A rule is confirmed where rows show it and none shows the opposite, contradicted where rows show
//! the opposite and none shows it; all else cannot be told. A row shows something by a verdict, or
//! by two.

use super::pinning::{self, Pinning};
use crate::run::{Against, Analysis, Comparison, Estimate, Word};
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Ordering;
use tare_model::family::BoxFamily;
use tare_model::platform::{PlatformPath, Provisioning};
use tare_model::study::Cell;
use tare_model::template::Property;

/// Boxes of so many CPUs at most are small.
const SMALL: f64 = 2.0;

#[derive(Debug, Clone, Copy, JsonSchema, Serialize)]
pub struct Rule {
    /// Its id: the study and a number.
    pub id: &'static str,
    pub text: &'static str,
    #[serde(skip)]
    rows: fn(&Analysis) -> Vec<Row>,
}

/// A rule held against the data.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Held {
    #[serde(flatten)]
    pub rule: Rule,
    /// What came of it.
    pub outcome: Outcome,
    /// By which rows.
    pub rows: Vec<Row>,
}

/// What data say of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// They show it.
    Confirmed,
    /// They show the opposite.
    Contradicted,
    /// They show neither, or both.
    CannotTell,
}

/// Something that speaks of a rule.
#[derive(Debug, Clone, JsonSchema, Serialize)]
#[schemars(rename = "Evidence")]
pub struct Row {
    /// What is held against what.
    pub what: String,
    pub figure: Option<Estimate>,
    /// What it is held against, where that is no constant.
    pub beside: Option<Estimate>,
    /// Whether it shows the rule, the opposite, or neither.
    pub shows: Option<bool>,
}

/// Every rule.
const RULES: [Rule; 9] = [
    Rule {
        id: "ghatrehsamani2020-1",
        text: "avoid small containers (one or two CPUs) with a quota: they cost more than the bare machine",
        rows: small_vanilla,
    },
    Rule {
        id: "ghatrehsamani2020-2",
        text: "pin containers for CPU-bound work: pinned, they cost less than with a quota",
        rows: |analysis| pinned(analysis, is_container, &[Property::Computation, Property::Memory]),
    },
    Rule {
        id: "ghatrehsamani2020-3",
        text: "do not pin VMs for CPU-bound work: it costs no less than a quota",
        rows: |analysis| {
            inverted(pinned(
                analysis,
                is_machine,
                &[Property::Computation, Property::Memory],
            ))
        },
    },
    Rule {
        id: "ghatrehsamani2020-4",
        text: "for I/O-bound work that cannot be pinned, use a container in a VM: it costs less than a container with a quota",
        rows: container_in_machine,
    },
    Rule {
        id: "ghatrehsamani2020-5",
        text: "choose the size by the kind of work: a container's overhead with a quota disappears at a CHR of 0.07 to 0.14 (CPU-bound) or 0.14 to 0.57 (I/O-bound)",
        rows: dying_out,
    },
    Rule {
        id: "li2018-1",
        text: "a container costs no more than 1 % in computation and memory",
        rows: |analysis| within(analysis, &[Property::Computation, Property::Memory]),
    },
    Rule {
        id: "li2018-2",
        text: "a VM costs more than a container for network and storage",
        rows: |analysis| {
            apart(
                analysis,
                is_machine,
                is_container,
                &[Property::Communication, Property::Storage],
            )
        },
    },
    Rule {
        id: "ruan2016-1",
        text: "system containers (LXC) cost less than application containers (Docker) in storage, network and services",
        rows: |analysis| {
            apart(
                analysis,
                is_named("docker"),
                is_named("lxc"),
                &[Property::Communication, Property::Storage, Property::Application],
            )
        },
    },
    Rule {
        id: "ruan2016-2",
        text: "a VM below containers costs more than containers on the host",
        rows: |analysis| apart(analysis, is_nested_in_machine, is_container, &Property::ALL),
    },
];

/// Every rule, held against a file.
pub(super) fn all(analysis: &Analysis) -> Vec<Held> {
    RULES.into_iter().map(|rule| held(rule, analysis)).collect()
}

fn held(rule: Rule, analysis: &Analysis) -> Held {
    let rows = (rule.rows)(analysis);
    let any = |shows: bool| rows.iter().any(|row| row.shows == Some(shows));
    let outcome = match (any(true), any(false)) {
        (true, false) => Outcome::Confirmed,
        (false, true) => Outcome::Contradicted,
        _ => Outcome::CannotTell,
    };
    Held { rule, outcome, rows }
}

fn name(platform: &PlatformPath) -> &str {
    &platform.split_last().1.name
}

fn is_container(platform: &PlatformPath) -> bool {
    platform.segments().len() == 1 && BoxFamily::of(name(platform)) == Some(BoxFamily::Container)
}

fn is_machine(platform: &PlatformPath) -> bool {
    platform.segments().len() == 1 && BoxFamily::of(name(platform)) == Some(BoxFamily::Machine)
}

fn is_nested_in_machine(platform: &PlatformPath) -> bool {
    let [outer, .., inner] = platform.segments() else {
        return false;
    };
    BoxFamily::of(&outer.name) == Some(BoxFamily::Machine)
        && BoxFamily::of(&inner.name) == Some(BoxFamily::Container)
}

fn is_named(wanted: &'static str) -> impl Fn(&PlatformPath) -> bool {
    move |platform| platform.segments().len() == 1 && name(platform) == wanted
}

/// Whether a cell's workload shows one of these; emulated machines show nothing.
fn shows(analysis: &Analysis, cell: &Cell, of: &[Property]) -> bool {
    let feature = analysis.study.workload(cell).and_then(|w| w.feature);
    feature.is_some_and(|f| of.contains(&f.property)) && !analysis.is_emulated(&cell.kind.platform)
}

/// A comparison by its verdict: whether it shows that a box costs more.
fn costs_more(comparison: &Comparison) -> Row {
    Row {
        what: comparison.cell.to_string(),
        figure: comparison.ratio(),
        beside: None,
        shows: match comparison.word() {
            Word::Slower => Some(true),
            Word::Equal | Word::Faster => Some(false),
            Word::Inconclusive | Word::None => None,
        },
    }
}

/// Small containers by quota against the bare machine. A box with all CPUs of its host is not small there.
fn small_vanilla(analysis: &Analysis) -> Vec<Row> {
    let is_small_cell = |cell: &Cell| {
        analysis.study.instance_of(&cell.kind).is_some_and(|instance| {
            let cpus = instance.size.cpus.as_f64();
            let of = f64::from(instance.host_cpus.unwrap_or(analysis.host.cpus));
            cpus <= SMALL && !(of > 0.0 && cpus >= of)
        })
    };
    let is_small = |c: &&Comparison| {
        c.against == Against::NativeSet && is_container(&c.cell.kind.platform) && is_small_cell(&c.cell)
    };
    analysis
        .comparisons
        .iter()
        .filter(is_small)
        .map(costs_more)
        .collect()
}

/// Pinned against a quota.
fn pinned(analysis: &Analysis, is_of: fn(&PlatformPath) -> bool, of: &[Property]) -> Vec<Row> {
    let counts = |p: &&Pinning| {
        let workload = analysis.study.workloads.iter().find(|w| w.name == p.workload);
        let feature = workload.and_then(|w| w.feature.as_ref());
        is_of(&p.platform)
            && !analysis.is_emulated(&p.platform)
            && feature.is_some_and(|f| of.contains(&f.property))
    };
    let row = |p: &Pinning| Row {
        what: format!("{} {}, pinned next to vanilla", p.platform, p.workload),
        figure: Some(p.pinned),
        beside: Some(p.vanilla),
        shows: p.cheaper.map(|cheaper| cheaper == Provisioning::Pinned),
    };
    pinning::all(analysis).iter().filter(counts).map(row).collect()
}

/// The opposite is the rule: what shows it contradicts, and only that shows anything.
fn inverted(rows: Vec<Row>) -> Vec<Row> {
    let turned = |row: Row| Row {
        shows: row.shows.map(|shows| !shows),
        ..row
    };
    rows.into_iter().map(turned).collect()
}

/// Containers in machines beside containers by quota.
fn container_in_machine(analysis: &Analysis) -> Vec<Row> {
    let io = [Property::Storage, Property::Communication, Property::Application];
    let is_vanilla = |c: &Comparison| c.cell.kind.provisioning == Provisioning::Vanilla;
    let all = pairs(analysis, is_container, is_nested_in_machine, &io);
    all.into_iter()
        .filter(|(container, _)| is_vanilla(container))
        .map(|(a, b)| dearer(a, b))
        .collect()
}

/// Platforms of one kind beside those of another, in the same setting: whether the first cost more.
fn apart(
    analysis: &Analysis,
    first: impl Fn(&PlatformPath) -> bool,
    second: impl Fn(&PlatformPath) -> bool,
    of: &[Property],
) -> Vec<Row> {
    pairs(analysis, first, second, of)
        .into_iter()
        .map(|(a, b)| dearer(a, b))
        .collect()
}

fn pairs<'a>(
    analysis: &'a Analysis,
    first: impl Fn(&PlatformPath) -> bool,
    second: impl Fn(&PlatformPath) -> bool,
    of: &[Property],
) -> Vec<(&'a Comparison, &'a Comparison)> {
    let all: Vec<&Comparison> = analysis
        .asked()
        .filter(|c| shows(analysis, &c.cell, of))
        .collect();
    let alike = |a: &Comparison, b: &Comparison| {
        let (one, other) = (&a.cell.kind, &b.cell.kind);
        a.cell.workload == b.cell.workload
            && (one.provisioning, &one.instance) == (other.provisioning, &other.instance)
    };
    let mut pairs = Vec::new();
    for a in all.iter().filter(|c| first(&c.cell.kind.platform)) {
        let others = all
            .iter()
            .filter(|c| second(&c.cell.kind.platform) && alike(a, c));
        pairs.extend(others.map(|b| (*a, *b)));
    }
    pairs
}

/// Whether the first costs more than the second, where the verdicts show it.
fn dearer(first: &Comparison, second: &Comparison) -> Row {
    Row {
        what: format!("{} beside {}", first.cell, second.cell.kind),
        figure: first.ratio(),
        beside: second.ratio(),
        shows: first.beside(second).map(Ordering::is_gt),
    }
}

/// Containers that cost no more than the margin.
fn within(analysis: &Analysis, of: &[Property]) -> Vec<Row> {
    let counts = |c: &&Comparison| is_container(&c.cell.kind.platform) && shows(analysis, &c.cell, of);
    let row = |c: &Comparison| {
        let verdict = c.primary().and_then(|m| m.verdict.as_ref());
        Row {
            shows: verdict.and_then(|v| match v.word {
                Word::Equal | Word::Faster => Some(true),
                Word::Slower if v.beyond_margin => Some(false),
                _ => None,
            }),
            ..costs_more(c)
        }
    };
    analysis.asked().filter(counts).map(row).collect()
}

/// Where the overhead of containers by quota dies out, against the ranges of the study.
fn dying_out(analysis: &Analysis) -> Vec<Row> {
    let of = |effect: &crate::run::SizeEffect| {
        let workload = analysis
            .study
            .workloads
            .iter()
            .find(|w| w.name == effect.workload)?;
        let property = workload.feature.as_ref()?.property;
        let (low, high) = if matches!(property, Property::Computation | Property::Memory) {
            (0.07, 0.14)
        } else {
            (0.14, 0.57)
        };
        let is_one = is_container(&effect.platform) && effect.provisioning == Provisioning::Vanilla;
        let chr = |end: Option<crate::run::RangeEnd>| end.and_then(|end| end.chr);
        let (beyond, within) = (chr(effect.range.beyond), chr(effect.range.within));
        // It dies out between the two: that is within the study's range, or surely not.
        let shows = match (beyond, within) {
            (_, Some(within)) if within < low => Some(false),
            (Some(beyond), _) if beyond >= high => Some(false),
            (Some(beyond), Some(within)) if beyond >= low && within <= high => Some(true),
            _ => None,
        };
        is_one.then(|| Row {
            what: format!(
                "{} {}: disappears between CHR {} and {}",
                effect.platform,
                effect.workload,
                shown(beyond),
                shown(within)
            ),
            figure: None,
            beside: None,
            shows: shows.filter(|_| effect.class.is_some()),
        })
    };
    analysis.size_effects.effects.iter().filter_map(of).collect()
}

fn shown(chr: Option<f64>) -> String {
    chr.map_or_else(|| "?".to_owned(), |chr| format!("{chr:.2}"))
}
