//! Which study defines which score.

use crate::document::{Column, Document, Section, Table};
use tare_published::DEFINITIONS;

/// By itself.
pub fn definitions() -> Document {
    Document {
        whole: None,
        title: "Scores".to_owned(),
        subtitle: String::new(),
        answer: Vec::new(),
        notices: Vec::new(),
        sections: vec![section()],
    }
}

pub(super) fn section() -> Section {
    let columns = vec![
        Column::name("score"),
        Column::name("defined by"),
        Column::words("formula"),
        Column::words("remarks"),
    ];
    let rows = DEFINITIONS.iter().map(|d| {
        vec![
            d.score.into(),
            d.defined_by.into(),
            d.formula.into(),
            d.remark.into(),
        ]
    });
    Section::evidence("Which study defines which score")
        .table(Table::new("definitions", 0, columns).with(rows))
}
