//! The section of size effects.

use super::tables::{NAME, NUMBER, Row, TEXT, Table, cell, group, head};
use crate::analysis::{Analysis, SizeEffect, SizePoint};
use crate::chart::sizes::{SizeChart, chart};
use crate::remarks::joined;
use crate::show::{or_missing, ratio_with_interval};
use crate::sizes;

pub(super) struct Sizes<'a> {
    pub note: Option<&'a String>,
    pub about: &'static str,
    pub chart: Option<SizeChart>,
    pub table: Table,
    pub points: Table,
}

pub(super) fn section(analysis: &Analysis) -> Sizes<'_> {
    let found = &analysis.size_effects;
    Sizes {
        note: found.note.as_ref(),
        about: sizes::ABOUT,
        chart: chart(&found.effects, analysis.study.protocol.margin),
        table: table(&found.effects),
        points: points(&found.effects),
    }
}

fn table(effects: &[SizeEffect]) -> Table {
    let mut last = None;
    let row = |effect: &SizeEffect| Row {
        group: group(&mut last, sizes::label(effect)),
        class: "primary",
        cells: vec![
            cell(NAME, &effect.workload),
            cell(NAME, &effect.metric),
            cell(NUMBER, effect.n.to_string()),
            cell(NAME, sizes::class(effect)),
            cell(TEXT, sizes::part(effect, effect.pto.as_ref())),
            cell(TEXT, sizes::part(effect, effect.pso.as_ref())),
            cell(TEXT, sizes::range(effect)),
            cell(TEXT, sizes::fit(effect)),
            cell(
                TEXT,
                joined(vec![sizes::remarks(effect), sizes::p_values(effect)]),
            ),
        ],
    };
    Table {
        head: head(&[
            ("workload", NAME),
            ("metric", NAME),
            ("n", NUMBER),
            ("effects", NAME),
            ("PTO", TEXT),
            ("PSO", TEXT),
            ("PSO dies out", TEXT),
            ("fit", TEXT),
            ("remarks", TEXT),
        ]),
        rows: effects.iter().map(row).collect(),
    }
}

fn points(effects: &[SizeEffect]) -> Table {
    let mut last = None;
    let mut rows = Vec::new();
    for effect in effects {
        let row = |point: &SizePoint| Row {
            group: group(&mut last, format!("{} {}", sizes::label(effect), effect.workload)),
            class: "primary",
            cells: vec![
                cell(NAME, sizes::size(point)),
                cell(NUMBER, effect.n.to_string()),
                cell(
                    NUMBER,
                    or_missing(point.ratio, |e| ratio_with_interval(e.value, e.low, e.high)),
                ),
                cell(NUMBER, sizes::excess(point)),
            ],
        };
        rows.extend(effect.sizes.iter().map(row));
    }
    Table {
        head: head(&[
            ("size", NAME),
            ("n", NUMBER),
            ("paired ratio", NUMBER),
            ("over the largest size", NUMBER),
        ]),
        rows,
    }
}
