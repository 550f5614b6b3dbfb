//! The section of host-size effects.

use super::tables::{NAME, NUMBER, Row, TEXT, Table, cell, group, head};
use crate::analysis::{Analysis, HostEffect, HostPoint};
use crate::hosts;

pub(super) struct Hosts {
    pub title: &'static str,
    pub about: &'static str,
    pub table: Table,
    pub verdicts: Table,
}

/// The section; absent if no size of box was measured on two hosts.
pub(super) fn section(analysis: &Analysis) -> Option<Hosts> {
    let found = &analysis.host_effects.effects;
    (!found.is_empty()).then(|| Hosts {
        title: hosts::TITLE,
        about: hosts::ABOUT,
        table: points(found),
        verdicts: verdicts(found),
    })
}

fn points(effects: &[HostEffect]) -> Table {
    let mut last = None;
    let mut rows = Vec::new();
    for effect in effects {
        let row = |point: &HostPoint| Row {
            group: group(&mut last, hosts::label(effect)),
            class: "primary",
            cells: vec![
                cell(NAME, &effect.workload),
                cell(NAME, &effect.metric),
                cell(NAME, hosts::host(point)),
                cell(NUMBER, effect.n.to_string()),
                cell(NUMBER, hosts::ratio(point)),
                cell(NUMBER, hosts::excess(point)),
            ],
        };
        rows.extend(effect.hosts.iter().map(row));
    }
    Table {
        head: head(&[
            ("workload", NAME),
            ("metric", NAME),
            ("host", NAME),
            ("n", NUMBER),
            ("paired ratio", NUMBER),
            ("over the smallest host", NUMBER),
        ]),
        rows,
    }
}

fn verdicts(effects: &[HostEffect]) -> Table {
    let mut last = None;
    let row = |effect: &HostEffect| Row {
        group: group(&mut last, hosts::label(effect)),
        class: "primary",
        cells: vec![
            cell(NAME, &effect.workload),
            cell(NUMBER, effect.n.to_string()),
            cell(TEXT, hosts::largest(effect)),
            cell(TEXT, hosts::range(effect)),
            cell(TEXT, hosts::remarks(effect)),
        ],
    };
    Table {
        head: head(&[
            ("workload", NAME),
            ("n", NUMBER),
            ("largest host over the smallest", TEXT),
            ("dies out", TEXT),
            ("remarks", TEXT),
        ]),
        rows: effects.iter().map(row).collect(),
    }
}
