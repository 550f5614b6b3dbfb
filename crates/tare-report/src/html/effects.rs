//! The sections of workloads that are held together.

use super::tables::{NAME, NUMBER, Row, TEXT, Table, cell, head};
use crate::analysis::{Analysis, WorkloadEffect};
use crate::effects;

pub(super) struct Effect {
    pub title: String,
    pub about: &'static str,
    pub table: Table,
}

pub(super) fn sections(analysis: &Analysis) -> Vec<Effect> {
    let section = |named: effects::Named<'_>| Effect {
        table: table(&named.effects),
        title: named.title,
        about: effects::ABOUT,
    };
    effects::named(analysis).into_iter().map(section).collect()
}

fn table(effects: &[&WorkloadEffect]) -> Table {
    let row = |effect: &&WorkloadEffect| Row {
        group: None,
        class: "primary",
        cells: vec![
            cell(NAME, effects::label(effect)),
            cell(NUMBER, effect.n.to_string()),
            cell(NUMBER, effects::cost(&effect.of)),
            cell(NUMBER, effects::cost(&effect.against)),
            cell(NUMBER, effects::ratio(effect)),
            cell(TEXT, effects::shown_as(effect.shown)),
            cell(TEXT, effects::remarks(effect)),
        ],
    };
    Table {
        head: head(&[
            ("box", NAME),
            ("n", NUMBER),
            ("cost of the first", NUMBER),
            ("cost of the second", NUMBER),
            ("their ratio", NUMBER),
            ("effect", TEXT),
            ("remarks", TEXT),
        ]),
        rows: effects.iter().map(row).collect(),
    }
}
