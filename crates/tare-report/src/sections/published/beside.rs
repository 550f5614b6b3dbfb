//! Own figures beside a study's.

use super::document;
use crate::document::{Cell, Column, Document, Section, Show, Table};
use crate::show::{MISSING, percent, ratio};
use crate::words::remarks::joined;
use std::collections::BTreeSet;
use tare_analysis::{Analysis, Estimate, Word};
use tare_model::size::counted;
use tare_published::{Beside, BesideRow, Detectable, Library, StudyRow, TheirFigure, Verdict, beside_all};

const ABOUT: &str = "Intervals and verdicts at 95 %, per row. Host, kernel and year differ: 'differs' means that the cost here is different, not that one of the two is wrong.";

/// Every figure of the study with a verdict, those that can be compared first.
pub fn beside(beside: &Beside) -> Document {
    let facts = [
        ("there", &beside.their_host),
        ("baseline here", &beside.own_baseline),
    ];
    let facts = facts.map(|(name, value)| (name.to_owned(), value.clone()));
    let instead = beside.instead_of.as_ref().map(|own| {
        format!(
            "The study has no figure for {own}, the baseline of your results: they are compared with {} in the same blocks instead.",
            beside.own_baseline
        )
    });
    let others = beside.rows.iter().filter(|row| row.own.is_none());
    let nothing = beside
        .rows
        .is_empty()
        .then(|| "The study prints no table, so there is nothing to compare with".to_owned());
    let sections = [
        Section::new("The study")
            .facts(facts.into())
            .list(instead.into_iter().collect()),
        Section::new(format!(
            "Costs over {}, here and there (over 1 costs more)",
            beside.own_baseline
        ))
        .about(ABOUT)
        .table(table(beside))
        .list(nothing.into_iter().collect()),
        Section::detail("Not comparable").list(others.map(not_compared).collect()),
        Section::detail("What the study states without figures in a table").list(beside.statements.clone()),
    ];
    let title = format!("Your figures next to {}: {}", beside.study, beside.title);
    document(
        title,
        sections.into_iter().filter_map(Section::unless_empty).collect(),
    )
}

/// What studies have of the work of a report; nothing where none has any of it.
pub(in crate::sections) fn in_report(analysis: &Analysis) -> Option<Section> {
    let library = Library::load().ok()?;
    let found = beside_all(&library, analysis);
    let heads = std::iter::once(Column::name("study")).chain(columns());
    let row = |of: &StudyRow| {
        std::iter::once(of.study.as_str().into())
            .chain(row(&of.row))
            .collect()
    };
    Section::evidence("Published figures for the same work")
        .about(format!("{} {ABOUT} Settings differ too: 'tare compare --published STUDY' shows how, and what cannot be compared.", tally(&found)))
        .table(Table::new("published", 2, heads.collect()).with(found.iter().map(row)))
        .unless_empty()
}

/// `Of 38 comparisons with 19 published figures 35 agree and 3 differ.` A published figure stands beside each
/// own cell of the same work, by quota and pinned.
fn tally(found: &[StudyRow]) -> String {
    let count = |is: fn(&Verdict) -> bool| found.iter().filter(|of| is(&of.row.verdict)).count();
    let agree = count(|verdict| matches!(verdict, Verdict::Agrees(_)));
    let differ = count(|verdict| matches!(verdict, Verdict::Differs(_)));
    let open = match found.len() - agree - differ {
        0 => String::new(),
        open => format!(", {open} undecided"),
    };
    let figures: BTreeSet<[&str; 4]> = found
        .iter()
        .map(|StudyRow { study, row }| [study.as_str(), &row.workload, &row.metric, &row.platform])
        .collect();
    format!(
        "Of {} with {} {agree} agree and {differ} differ{open}.",
        counted(found.len(), "comparison"),
        counted(figures.len(), "published figure")
    )
}

fn table(beside: &Beside) -> Table {
    let compared = beside.rows.iter().filter(|row| row.own.is_some());
    let heads = columns().into_iter().chain([Column::words("remarks")]);
    let row = |of| row(of).into_iter().chain([remarks(of).into()]).collect();
    Table::new("beside", 1, heads.collect()).with(compared.map(row))
}

fn columns() -> [Column; 8] {
    [
        Column::name("workload"),
        Column::name("metric"),
        Column::name("there"),
        Column::name("here"),
        Column::interval(
            "cost there",
            "with its 95 % interval, where the study prints a spread",
        ),
        Column::interval("cost here", "with its 95 % interval"),
        Column::number("n", "blocks here"),
        Column::name("verdict"),
    ]
}

fn row(row: &BesideRow) -> [Cell; 8] {
    let own = row.own.as_ref();
    [
        row.workload.as_str().into(),
        row.metric.as_str().into(),
        row.platform.as_str().into(),
        own.map_or(Cell::Missing, |o| o.cell.as_str().into()),
        row.theirs.map_or(Cell::Missing, theirs),
        Cell::interval(own.map(|o| o.ratio), Show::Ratio),
        own.map_or(Cell::Missing, |o| Cell::count(o.n)),
        verdict(&row.verdict).0,
    ]
}

fn remarks(row: &BesideRow) -> String {
    joined(vec![
        verdict(&row.verdict).1,
        row.note.clone().unwrap_or_default(),
    ])
}

fn theirs(figure: TheirFigure) -> Cell {
    match figure.interval {
        Some((low, high)) => Cell::Interval(
            Estimate {
                value: figure.ratio,
                low,
                high,
            },
            Show::Ratio,
        ),
        None => Cell::Figure(figure.ratio, Show::Ratio),
    }
}

fn verdict(verdict: &Verdict) -> (Cell, String) {
    match verdict {
        Verdict::Agrees(seen) => (Cell::State("agrees", Word::Equal), hidden(*seen)),
        Verdict::CannotTell(seen) => {
            let words = format!("too much noise: {}", hidden(*seen));
            (Cell::State("not known", Word::Inconclusive), words)
        }
        Verdict::Differs(by) => {
            let known = if by.with_their_error {
                ""
            } else {
                ", by the error here only: the study's own error, which it does not print, may explain it"
            };
            let words = format!("{} times the cost there{known}", Show::Ratio.interval(by.ratio));
            (Cell::State("differs", Word::Slower), words)
        }
        Verdict::NotComparable { why } => (Cell::State("not comparable", Word::None), why.clone()),
    }
}

/// What would not have been seen.
fn hidden(seen: Detectable) -> String {
    let known = if seen.with_their_error {
        ""
    } else {
        ", nor differences within the study's own error, which it does not print"
    };
    format!("differences under {} would not show{known}", percent(seen.share))
}

fn not_compared(row: &BesideRow) -> String {
    let why = match &row.verdict {
        Verdict::NotComparable { why } => why.as_str(),
        _ => MISSING,
    };
    let parts = [row.workload.as_str(), &row.metric, &row.platform];
    let parts: Vec<&str> = parts.into_iter().filter(|p| !p.is_empty()).collect();
    let theirs = row.theirs.map(|t| format!(" ({} there)", ratio(t.ratio)));
    let many = (row.figures > 1).then(|| format!(" ({} figures)", row.figures));
    format!(
        "{}{}{}: {why}",
        parts.join(", "),
        theirs.unwrap_or_default(),
        many.unwrap_or_default()
    )
}
