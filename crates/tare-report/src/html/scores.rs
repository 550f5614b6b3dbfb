//! The section of scores.

use super::tables::{NAME, Row, TEXT, Table, cell, head};
use crate::analysis::{Analysis, Definition, ScoreAxis, ScoreTable};
use crate::chart::radar::{Radar, radar};
use crate::show::or_missing;

pub(super) struct Scores {
    pub tables: Vec<Standardised>,
    pub definitions: Table,
}

/// One provisioning and size.
pub(super) struct Standardised {
    pub name: String,
    pub radar: Option<Radar>,
    pub platforms: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

pub(super) fn section(analysis: &Analysis) -> Scores {
    Scores {
        tables: analysis.scores.standardised.iter().map(standardised).collect(),
        definitions: definitions(analysis.scores.definitions),
    }
}

fn standardised(table: &ScoreTable) -> Standardised {
    let row = |axis: &ScoreAxis| {
        let scores = axis
            .scores
            .iter()
            .map(|s| or_missing(s.score, |v| format!("{v:.3}")));
        std::iter::once(axis.name()).chain(scores).collect()
    };
    Standardised {
        name: table.name(),
        radar: radar(table),
        platforms: table.platforms().map(ToString::to_string).collect(),
        rows: table.axes.iter().map(row).collect(),
    }
}

fn definitions(all: &[Definition]) -> Table {
    let row = |d: &Definition| Row {
        group: None,
        class: "primary",
        cells: vec![
            cell(NAME, d.score),
            cell(TEXT, d.formula),
            cell(NAME, d.defined_by),
            cell(TEXT, d.remark),
        ],
    };
    Table {
        head: head(&[
            ("score", NAME),
            ("formula", TEXT),
            ("defined by", NAME),
            ("remarks", TEXT),
        ]),
        rows: all.iter().map(row).collect(),
    }
}
