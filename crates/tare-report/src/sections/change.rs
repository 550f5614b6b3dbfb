//! What changed between two results files.

use super::{cells, columns, kind, kind_columns, reading};
use crate::document::{Cell, Column, Document, Section, Show, Table};
use crate::show::{between, date, margin, or_missing};
use crate::words::remarks::joined;
use crate::words::verdict::of_change;
use crate::words::{answer, caveats, facts, flag, notices};
use tare_analysis::change::{Change, Difference, OverheadChange, RawChange, Side};
use tare_analysis::{Estimate, Flag, VerdictCounts};
use tare_model::size::counted;
use tare_model::study;

/// Changes from one file to another, what is in one only, what else differs.
pub fn change(change: &Change, [before, after]: [&str; 2]) -> Document {
    let files = [("before", &change.before), ("after", &change.after)];
    let files = files.map(|(name, side)| (name.to_owned(), about(side)));
    let sections = [
        Some(Section::new("The two files").facts(files.into())),
        Some(overheads(change)),
        Some(raw(change)),
        alone("Only in the first file", &change.only_before),
        alone("Only in the second file", &change.only_after),
        Some(differences(&change.differences)),
        Some(reading(caveats::of_change(change))),
    ];
    Document {
        whole: None,
        title: format!("Changes from {before} to {after}"),
        subtitle: String::new(),
        answer: std::iter::once(answer(change))
            .chain(themselves(change))
            .collect(),
        notices: all_notices(change),
        sections: sections.into_iter().flatten().collect(),
    }
}

/// How many changes of costs are decided.
fn answer(change: &Change) -> String {
    let words = change.overheads.iter().map(|c| c.verdict.word);
    answer::decided(&VerdictCounts::of(words), "cost change")
}

/// `syscall itself, whatever the cause: 12 to 18 % slower in 4 of 4 cells`: by how much the figures of a workload, those of the
/// baseline among them, are beyond the margin from before.
fn themselves(change: &Change) -> Vec<String> {
    let mut of_workloads: Vec<(&str, Vec<Estimate>)> = Vec::new();
    for raw in change
        .raw
        .iter()
        .filter(|raw| raw.metric.primary && raw.is_judged())
    {
        let known = of_workloads
            .iter_mut()
            .find(|(name, _)| *name == raw.cell.workload);
        match (known, raw.change) {
            (Some((_, all)), Some(change)) => all.push(change),
            (None, Some(change)) => of_workloads.push((&raw.cell.workload, vec![change])),
            (_, None) => {}
        }
    }
    let told = of_workloads.iter().filter_map(|(workload, all)| {
        let worse = |e: &&Estimate| e.low > 1.0 + change.margin;
        let better = |e: &&Estimate| e.high < 1.0 / (1.0 + change.margin);
        let moved: Vec<f64> = all
            .iter()
            .filter(|e| worse(e) || better(e))
            .map(|e| e.value)
            .collect();
        let (low, high) = (
            moved.iter().copied().reduce(f64::min)?,
            moved.iter().copied().reduce(f64::max)?,
        );
        Some(format!(
            "{workload} itself, whatever the cause: {} in {} of {}",
            between(low, high),
            moved.len(),
            counted(all.len(), "cell")
        ))
    });
    told.collect()
}

/// What is to be known of each file, then of both together.
fn all_notices(change: &Change) -> Vec<String> {
    let of = |when: &'static str, side: &Side| {
        let told = notices::all(&side.notices).into_iter();
        told.map(move |text| format!("{when}: {text}"))
    };
    let sides = of("before", &change.before).chain(of("after", &change.after));
    sides.chain(notices::all(&change.notices)).collect()
}

fn about(side: &Side) -> String {
    let run = &side.run;
    let started = or_missing(run.sessions.first(), |s| date(s.started_unix_ns));
    format!(
        "{started}, {}, {}",
        counted(run.blocks, "block"),
        facts::programs(&side.tare, &side.build, side.agent.as_deref())
    )
}

fn overheads(change: &Change) -> Section {
    let title = "Change in the cost of each box over its baseline (over 1 costs more than before)";
    let section = Section::new(title);
    if change.overheads.is_empty() {
        return section.list(vec!["no box has a baseline in both files".to_owned()]);
    }
    let own = [
        Column::name("against"),
        Column::name("workload"),
        Column::name("metric"),
        Column::number("n before", "pairs"),
        Column::number("n after", "pairs"),
        Column::number("before", "cost over the baseline"),
        Column::number("after", "cost over the baseline"),
        Column::interval("change", "cost after over cost before, with its interval"),
        Column::name("verdict"),
        Column::number("p", "Welch's t test"),
        Column::number("Holm", "p with Holm's correction"),
        Column::words("remarks"),
    ];
    let table = Table::new("changes", 4, columns(kind_columns(), own));
    section
        .about(tests(change))
        .table(table.with(change.overheads.iter().map(overhead)))
}

fn overhead(of: &OverheadChange) -> Vec<Cell> {
    let verdict = &of.verdict;
    let remarks = vec![
        of_change(verdict, of.refusals.each_ref().map(Vec::as_slice)),
        flags("before", &of.before.flags),
        flags("after", &of.after.flags),
    ];
    let own = [
        of.baseline.kind.to_string().into(),
        of.cell.workload.as_str().into(),
        of.metric.name.as_str().into(),
        Cell::count(of.before.n),
        Cell::count(of.after.n),
        Cell::figure(of.before.ratio.map(|e| e.value), Show::Ratio),
        Cell::figure(of.after.ratio.map(|e| e.value), Show::Ratio),
        Cell::interval(of.change, Show::Ratio),
        Cell::Verdict(verdict.word),
        Cell::figure(of.p, Show::P),
        Cell::figure(of.p_holm, Show::P),
        joined(remarks).into(),
    ];
    cells(kind(&of.cell.kind), own)
}

fn tests(change: &Change) -> String {
    let differences = match change.family {
        0 => "no difference could be tested".to_owned(),
        tests => format!(
            "differences with Holm's correction over {}, in families by question",
            counted(tests, "test")
        ),
    };
    let looks = if change.level > 0.95 {
        ", allowing for looks in adaptive runs"
    } else {
        ""
    };
    format!(
        "margin {}; intervals are 95 % by Welch's t{looks}; {differences}",
        margin(change.margin)
    )
}

fn flags(when: &str, flags: &[Flag]) -> String {
    let names: Vec<String> = flags
        .iter()
        .map(|f| format!("{when} {}", flag::words(f)))
        .collect();
    names.join("; ")
}

fn raw(change: &Change) -> Section {
    let section = Section::new("Change of the figures themselves (over 1 is worse; confounded, no verdict)");
    if change.raw.is_empty() {
        return section.list(vec!["no cell does the same work in both files".to_owned()]);
    }
    let own = [
        Column::name("workload"),
        Column::name("metric"),
        Column::number("n before", "trials"),
        Column::number("n after", "trials"),
        Column::number("before", "mean"),
        Column::number("after", "mean"),
        Column::interval("change", "over 1 is worse"),
        Column::machine("unit", "of the means"),
    ];
    let table = Table::new("figures", 3, columns(kind_columns(), own));
    section.table(table.with(change.raw.iter().map(figures)))
}

fn figures(raw: &RawChange) -> Vec<Cell> {
    let mean = |mean| Cell::figure(mean, Show::Unit(raw.metric.unit.clone()));
    let own = [
        raw.cell.workload.as_str().into(),
        raw.metric.name.as_str().into(),
        Cell::count(raw.before.n),
        Cell::count(raw.after.n),
        mean(raw.before.mean),
        mean(raw.after.mean),
        Cell::interval(raw.change, Show::Ratio),
        raw.metric.unit.symbol().into(),
    ];
    cells(kind(&raw.cell.kind), own)
}

fn alone(title: &str, cells: &[study::Cell]) -> Option<Section> {
    let names = cells.iter().map(ToString::to_string).collect();
    Section::new(title).list(names).unless_empty()
}

fn differences(differences: &[Difference]) -> Section {
    let side = |fact: &Option<String>| or_missing(fact.as_ref(), Clone::clone);
    let told = |d: &Difference| {
        (
            d.what.to_string(),
            format!("{} -> {}", side(&d.before), side(&d.after)),
        )
    };
    let section = Section::new("Other differences between the files");
    if differences.is_empty() {
        return section.list(vec!["none that the files record".to_owned()]);
    }
    section.facts(differences.iter().map(told).collect())
}
