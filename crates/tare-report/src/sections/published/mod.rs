//! What studies have published, and a file's own figures beside theirs.

mod beside;
mod check;
mod study;

pub use beside::beside;
pub(super) use beside::in_report;
pub use check::check;
pub use study::{study, workload};

use crate::document::{Cell, Column, Document, Section, Show, Table};
use tare_published::{Library, Published};

/// All studies in brief.
pub fn list(library: &Library) -> Document {
    let studies = &library.studies;
    let sum = |of: fn(&Published) -> usize| studies.iter().map(of).sum::<usize>();
    let columns = vec![
        Column::name("study"),
        Column::number("year", ""),
        Column::number("figures", ""),
        Column::number("claims", "that can be checked"),
        Column::number("errata", ""),
        Column::words("title"),
        Column::words("host"),
    ];
    let row = |of: &Published| {
        vec![
            of.study.id.as_str().into(),
            Cell::Count(of.study.year.into()),
            Cell::count(of.figures()),
            Cell::count(of.checkable()),
            Cell::count(of.errata.len()),
            of.study.title.as_str().into(),
            of.study.host.as_str().into(),
        ]
    };
    let title = format!(
        "{} studies, {} figures, {} checkable claims. None was measured by tare.",
        studies.len(),
        sum(Published::figures),
        sum(Published::checkable),
    );
    let next = [
        "tare published show STUDY: one study in full",
        "tare published check [STUDY]: its claims against its tables",
        "tare published workload NAME: what the studies say about a workload",
        "tare published scores: which study defines which score",
        "tare compare RESULTS --published STUDY: your figures next to a study's",
    ];
    let table = Table::new("studies", 0, columns).with(studies.iter().map(row));
    document(
        title,
        vec![
            Section::new("Studies").table(table),
            Section::new("Related commands").list(next.map(str::to_owned).into()),
        ],
    )
}

fn document(title: String, sections: Vec<Section>) -> Document {
    Document {
        whole: None,
        title,
        subtitle: String::new(),
        answer: Vec::new(),
        notices: Vec::new(),
        sections,
    }
}

/// A figure as the study prints it.
fn printed(value: Option<f64>) -> Cell {
    Cell::figure(value, Show::Plain)
}
