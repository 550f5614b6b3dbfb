//! Evidence of causes: what the host's kernel did for a unit of work of a cell, and of its baseline.
//!
//! It comes from one box of each, under probes that slow the work down: it tells where time goes, and no cost.

use super::Analysis;
use super::comparison::Comparison;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use tare_model::evidence::{EvidenceRecord, Histogram, Look, ProbeSet, Stack, State};
use tare_model::mechanism::Mechanism;
use tare_model::platform::Provisioning;
use tare_model::results::{Record, Results};
use tare_model::study::{Against, Cell};

/// What the kernel did for a cell and for its baseline.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Evidence {
    #[serde(flatten)]
    pub cell: Cell,
    pub baseline: Cell,
    /// Time of a unit of work under each set of probes, in nanoseconds.
    pub unit_ns: BTreeMap<ProbeSet, Beside>,
    /// Times, system calls and counts, what differs most first; times before counts.
    pub figures: Vec<Figure>,
    /// Functions in which the CPU was found, those that differ and what differs most first.
    pub functions: Vec<Function>,
    /// Whether probes saw no task of one of both at work: then there are no figures.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_blind: bool,
    /// Settings of processes that differ; absent on a side where the kernel has none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<Setting>,
    /// Stacks for which there was no room.
    pub lost: u64,
    /// What both are made of; large, and in the results file.
    #[serde(skip)]
    pub records: Box<Records>,
}

/// What was seen of a cell and of its baseline.
#[derive(Debug, Clone)]
pub struct Records {
    pub baseline: EvidenceRecord,
    pub cell: EvidenceRecord,
}

/// A figure of the baseline and of the cell, for a unit of work.
#[derive(Debug, Clone, Copy, Default, PartialEq, JsonSchema, Serialize)]
pub struct Beside {
    pub baseline: f64,
    pub cell: f64,
}

impl Beside {
    /// What the cell has more than its baseline.
    pub fn difference(self) -> f64 {
        self.cell - self.baseline
    }

    /// Whether the difference is over four standard errors and over a hundredth of the time of a unit: of hundreds of
    /// functions some are over three by chance.
    pub fn differs(self, standard_error: f64, whole: f64) -> bool {
        let size = self.difference().abs();
        size > ERRORS * standard_error && size > PART * whole
    }
}

/// A setting of a process that is another one in the baseline.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Setting {
    pub name: String,
    pub baseline: Option<String>,
    pub cell: Option<String>,
}

/// Something that the kernel timed or counted.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Figure {
    /// A state of tasks, a system call, a thing that is counted.
    pub what: String,
    pub kind: FigureKind,
    /// Nanoseconds or a number, for a unit of work.
    pub per_unit: Beside,
}

/// What a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FigureKind {
    /// Time of tasks in a state.
    State,
    /// Time within a system call, waiting included.
    Call,
    /// Time beside tasks.
    Aside,
    /// A number.
    Count,
}

/// A function of the kernel.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Function {
    /// `[user]`: outside the kernel.
    pub name: String,
    /// Time in the function itself, without those that it calls, in nanoseconds of a unit of work.
    pub per_unit: Beside,
    /// Standard error of the difference, from the number of samples; how much boxes differ is not in it.
    pub standard_error: f64,
    /// Whether the difference is more than chance, and over a hundredth of the baseline's time.
    pub differs: bool,
}

/// From so many standard errors on a function differs.
const ERRORS: f64 = 4.0;
/// From such a part of the time of a unit on a function differs.
const PART: f64 = 0.01;

/// What the kernel spends on something.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct InKernel {
    /// What the cell spends on it more than its baseline, over the baseline's time of a unit.
    pub adds: f64,
    /// Its standard error from the number of samples; times in states have none.
    pub standard_error: f64,
}

impl Evidence {
    /// Time in the functions and states of a mechanism, where it has any that were seen.
    pub fn of_mechanism(&self, mechanism: &Mechanism) -> Option<InKernel> {
        let parts = [
            self.in_functions(mechanism.functions),
            self.in_states(mechanism.states),
        ];
        parts.into_iter().flatten().reduce(|a, b| InKernel {
            adds: a.adds + b.adds,
            standard_error: a.standard_error.hypot(b.standard_error),
        })
    }

    /// Time in all functions whose names contain one of these.
    fn in_functions(&self, parts: &[&str]) -> Option<InKernel> {
        let whole = self.unit_ns.get(&ProbeSet::Stacks)?.baseline;
        let named = |function: &&Function| parts.iter().any(|part| function.name.contains(part));
        let found: Vec<&Function> = self.functions.iter().filter(named).collect();
        let variance: f64 = found.iter().map(|function| function.standard_error.powi(2)).sum();
        let adds: f64 = found.iter().map(|function| function.per_unit.difference()).sum();
        (whole > 0.0 && !found.is_empty()).then(|| InKernel {
            adds: adds / whole,
            standard_error: variance.sqrt() / whole,
        })
    }

    /// Time of tasks in these states.
    fn in_states(&self, states: &[State]) -> Option<InKernel> {
        let whole = self.unit_ns.get(&ProbeSet::Times)?.baseline;
        let named = |figure: &&Figure| {
            figure.kind == FigureKind::State && states.iter().any(|state| state.name() == figure.what)
        };
        let found: Vec<f64> = self
            .figures
            .iter()
            .filter(named)
            .map(|figure| figure.per_unit.difference())
            .collect();
        (whole > 0.0 && !found.is_empty()).then(|| InKernel {
            adds: found.iter().sum::<f64>() / whole,
            standard_error: 0.0,
        })
    }

    /// The stretches of time in a state, of the baseline and of the cell.
    pub fn stretches(&self, state: State) -> Option<[&Histogram; 2]> {
        static NONE: Histogram = Histogram {
            n: 0,
            ns: 0,
            log2: Vec::new(),
        };
        let of = |record| times(record)?.seen.times.get(&state);
        let both = [of(&self.records.baseline), of(&self.records.cell)];
        both.iter()
            .any(Option::is_some)
            .then(|| both.map(|of| of.unwrap_or(&NONE)))
    }
}

fn times(record: &EvidenceRecord) -> Option<&Look> {
    record.by(ProbeSet::Times)
}

/// That of every cell beside its baseline, and of every cell by quota beside the same pinned, where both have some.
pub(super) fn all(results: &Results, comparisons: &[Comparison]) -> Vec<Evidence> {
    let record = |record: &Record| match record {
        Record::Evidence(found) => Some((found.cell.clone(), found.clone())),
        _ => None,
    };
    let records: BTreeMap<Cell, EvidenceRecord> = results.records.iter().filter_map(record).collect();
    let compared = comparisons.iter().filter(|c| c.against == Against::Native);
    let compared = compared.map(|c| (c.baseline.clone(), c.cell.clone()));
    // A box by quota differs from a pinned one of its own platform by how it gets its CPUs.
    let by_quota = records
        .keys()
        .filter(|cell| cell.kind.provisioning == Provisioning::Vanilla);
    let by_quota = by_quota.map(|cell| {
        let mut pinned = cell.clone();
        pinned.kind.provisioning = Provisioning::Pinned;
        (pinned, cell.clone())
    });
    compared
        .chain(by_quota)
        .filter_map(|(baseline, cell)| Some(beside(records.get(&baseline)?, records.get(&cell)?)))
        .collect()
}

impl Analysis {
    /// What the kernel did for a cell beside another one, where it was looked into for both.
    pub fn evidence_between(&self, cell: &Cell, baseline: &Cell) -> Option<Evidence> {
        let record = |of: &Cell| {
            let pairs = self.evidence.iter().map(|evidence| &evidence.records);
            pairs
                .flat_map(|pair| [&pair.baseline, &pair.cell])
                .find(|record| record.cell == *of)
        };
        Some(beside(record(baseline)?, record(cell)?))
    }
}

fn beside(baseline: &EvidenceRecord, cell: &EvidenceRecord) -> Evidence {
    let both = |set| Some([baseline.by(set)?, cell.by(set)?]);
    let unit_ns = |set: ProbeSet| {
        let [baseline, cell] = both(set)?.map(|look| look.per_unit(look.wall_ns));
        Some((set, Beside { baseline, cell }))
    };
    let is_blind = [baseline, cell].iter().any(|record| sees_nothing(record));
    let looks = ProbeSet::ALL.into_iter().filter_map(both).filter(|_| !is_blind);
    let mut figures: Vec<Figure> = looks.flat_map(figures).collect();
    figures.sort_by(|a, b| {
        let size = |figure: &Figure| figure.per_unit.difference().abs();
        let group = |figure: &Figure| figure.kind == FigureKind::Count;
        group(a).cmp(&group(b)).then(size(b).total_cmp(&size(a)))
    });
    let stacks = both(ProbeSet::Stacks).filter(|_| !is_blind);
    Evidence {
        cell: cell.cell.clone(),
        baseline: baseline.cell.clone(),
        unit_ns: ProbeSet::ALL.into_iter().filter_map(unit_ns).collect(),
        figures,
        functions: stacks.map(functions).unwrap_or_default(),
        is_blind,
        settings: settings(baseline, cell),
        lost: [baseline, cell]
            .iter()
            .flat_map(|of| &of.looks)
            .map(|look| look.seen.lost)
            .sum(),
        records: Box::new(Records {
            baseline: baseline.clone(),
            cell: cell.clone(),
        }),
    }
}

/// Whether a cell was looked at and none of its tasks was ever on a CPU: its cgroup is not the one that was looked for.
fn sees_nothing(record: &EvidenceRecord) -> bool {
    times(record).is_some_and(|look| look.seen.times.get(&State::OnCpu).is_none_or(|of| of.n == 0))
}

fn settings(baseline: &EvidenceRecord, cell: &EvidenceRecord) -> Vec<Setting> {
    let names: BTreeSet<&String> = baseline.settings.keys().chain(cell.settings.keys()).collect();
    let setting = |name: &String| Setting {
        name: name.clone(),
        baseline: baseline.settings.get(name).cloned(),
        cell: cell.settings.get(name).cloned(),
    };
    let all = names.into_iter().map(setting);
    all.filter(|of| of.baseline != of.cell).collect()
}

/// All times and counts of two looks by the same probes.
fn figures(looks: [&Look; 2]) -> Vec<Figure> {
    let named = looks.map(|look| {
        let seen = &look.seen;
        let states = seen
            .times
            .iter()
            .map(|(state, of)| ((FigureKind::State, state.name().to_owned()), of.ns));
        let calls = seen
            .calls
            .iter()
            .map(|(name, of)| ((FigureKind::Call, name.clone()), of.ns));
        let asides = seen
            .asides
            .iter()
            .map(|(aside, of)| ((FigureKind::Aside, aside.name().to_owned()), of.ns));
        let counts = seen
            .counts
            .iter()
            .map(|(count, n)| ((FigureKind::Count, count.name().to_owned()), *n));
        let all = states.chain(calls).chain(asides).chain(counts);
        all.map(|(name, of)| (name, look.per_unit(of)))
            .collect::<BTreeMap<_, _>>()
    });
    let names: BTreeSet<&(FigureKind, String)> = named.iter().flat_map(BTreeMap::keys).collect();
    let figure = |name: &(FigureKind, String)| {
        let [baseline, cell] = [0, 1].map(|i: usize| named[i].get(name).copied().unwrap_or(0.0));
        Figure {
            kind: name.0,
            what: name.1.clone(),
            per_unit: Beside { baseline, cell },
        }
    };
    names.into_iter().map(figure).collect()
}

/// Samples of the CPU by the innermost function.
fn functions(looks: [&Look; 2]) -> Vec<Function> {
    let own = looks.map(|look| {
        let mut own: BTreeMap<&str, u64> = BTreeMap::new();
        for stack in look.on_cpu() {
            *own.entry(innermost(stack)).or_default() += stack.n;
        }
        own
    });
    let names: BTreeSet<&str> = own.iter().flat_map(BTreeMap::keys).copied().collect();
    let whole = looks[0].per_unit(looks[0].wall_ns);
    let sample_ns = looks.map(sample_ns);
    let function = |name: &str| {
        let told = [0, 1].map(|i: usize| {
            let n = own[i].get(name).copied().unwrap_or(0);
            // The standard error of a number of rare events is its root; of none, that of one is taken.
            let error = looks[i].per_unit(1) * root(n.max(1)) * sample_ns[i];
            (looks[i].per_unit(n) * sample_ns[i], error)
        });
        let [(baseline, one), (cell, other)] = told;
        let (per_unit, standard_error) = (Beside { baseline, cell }, one.hypot(other));
        Function {
            name: name.to_owned(),
            per_unit,
            standard_error,
            differs: per_unit.differs(standard_error, whole),
        }
    };
    let mut all: Vec<Function> = names.into_iter().map(function).collect();
    let size = |of: &Function| of.per_unit.difference().abs();
    all.sort_by(|a, b| b.differs.cmp(&a.differs).then(size(b).total_cmp(&size(a))));
    all
}

#[expect(clippy::cast_precision_loss, reason = "a number of samples")]
fn root(n: u64) -> f64 {
    (n as f64).sqrt()
}

fn innermost(stack: &Stack) -> &str {
    stack.frames.rsplit(';').next().unwrap_or("")
}

/// What a sample stands for, in nanoseconds.
#[expect(clippy::cast_precision_loss, reason = "a few digits are shown")]
fn sample_ns(look: &Look) -> f64 {
    let (n, ns) = look
        .on_cpu()
        .fold((0, 0), |(n, ns), stack| (n + stack.n, ns + stack.ns));
    ns as f64 / n.max(1) as f64
}
