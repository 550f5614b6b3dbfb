//! The sections of reports, each written once: what is told, in which order, in which tables.

mod advice;
mod beside;
mod blocks;
mod boxes;
mod causes;
mod cells;
mod change;
mod comparisons;
mod counters;
mod definitions;
mod density;
mod effects;
mod evidence;
mod foreign;
mod hosts;
mod latencies;
mod layers;
mod merge;
mod pairs;
mod pilot;
pub mod published;
mod scores;
mod sizes;
mod slices;
mod stops;
mod summary;
mod trend;
mod tuning;
mod why;

pub use advice::advice;
pub use change::change;
pub use definitions::definitions;
pub use density::density;
pub use foreign::foreign;
pub use merge::merge;
pub use pilot::pilot;
pub use trend::trend;
pub use tuning::tuning;
pub use why::why;

use crate::document::{Cell, Column, Document, Section};
use crate::show::{date, or_missing};
use crate::words::open::Where;
use crate::words::{answer, caveats, course, notices};
use tare_analysis::{Analysis, Word};
use tare_model::study::BoxKind;

/// The report of a results file, with what its reader types to go on.
pub fn report(analysis: &Analysis, place: Where<'_>) -> Document {
    let mut sections = vec![summary::section(analysis)];
    sections.extend(summary::open(analysis, place));
    sections.push(summary::doubts(analysis));
    sections.extend(comparisons::sections(analysis));
    let optional = [
        stops::section(analysis),
        latencies::section(analysis),
        slices::section(analysis),
        layers::section(analysis),
    ];
    sections.extend(optional.into_iter().flatten());
    sections.extend(effects::sections(analysis));
    sections.extend(tuning::in_report(analysis));
    sections.extend(hosts::section(analysis));
    sections.extend(sizes::section(analysis));
    sections.extend(boxes::sections(analysis));
    sections.extend(scores::section(analysis));
    sections.extend(blocks::section(analysis));
    sections.extend(published::in_report(analysis));
    sections.extend(pairs::section(analysis));
    sections.extend(beside::section(analysis));
    sections.extend(cells::section(analysis));
    sections.extend(counters::section(analysis));
    sections.extend(why::in_report(analysis));
    sections.extend(causes::sections(&analysis.evidence));
    sections.extend(evidence::sections(analysis));
    sections
        .push(Section::evidence("How to read further figures").list(caveats::of_further_figures(analysis)));
    sections.push(reading(caveats::of_results(analysis)));
    let template = analysis.study.template.as_ref();
    Document {
        whole: None,
        title: template
            .map_or("What does the box cost?", |t| &t.title)
            .to_owned(),
        subtitle: subtitle(analysis),
        answer: answer::all(analysis),
        notices: notices::all(&analysis.notices),
        sections,
    }
}

/// What stands below the costs after a run: boxes in boxes, and what the study asks about sizes and
/// workloads.
pub(crate) fn brief(analysis: &Analysis) -> Vec<Section> {
    let mut sections: Vec<Section> = layers::section(analysis).into_iter().collect();
    sections.extend(effects::brief(analysis));
    sections.extend(tuning::brief(analysis));
    sections.extend(hosts::brief(analysis));
    sections.extend(sizes::brief(analysis));
    sections
}

/// What was run, when, and on what.
fn subtitle(analysis: &Analysis) -> String {
    let when = analysis.run.sessions.first().map(|s| date(s.started_unix_ns));
    format!(
        "{} · {} · {}",
        course::ran(&analysis.study, &analysis.run),
        course::host(analysis),
        or_missing(when, |w| w)
    )
}

/// What holds for every file of its kind.
fn reading(caveats: Vec<String>) -> Section {
    Section::new("How to read this").list(caveats)
}

/// The columns that say what kind of box a row is of.
fn kind_columns() -> [Column; 3] {
    ["platform", "provisioning", "size"].map(Column::name)
}

fn kind(kind: &BoxKind) -> [Cell; 3] {
    [
        kind.platform.to_string().into(),
        kind.provisioning.to_string().into(),
        Cell::name(kind.instance.as_ref()),
    ]
}

/// Columns, then others.
fn columns<const N: usize, const M: usize>(first: [Column; N], then: [Column; M]) -> Vec<Column> {
    first.into_iter().chain(then).collect()
}

/// Cells, then others.
fn cells<const N: usize, const M: usize>(first: [Cell; N], then: [Cell; M]) -> Vec<Cell> {
    first.into_iter().chain(then).collect()
}

/// A verdict on a kind of limits or effects: what is shown.
const fn shown_word(is_good: bool) -> Word {
    if is_good { Word::Equal } else { Word::Slower }
}
