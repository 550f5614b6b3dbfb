//! What depends on the size of the host.

use crate::document::{Cell, Column, Section, Show, Table};
use crate::words::hosts;
use tare_analysis::{Analysis, HostEffect, HostPoint, RangeEnd};

/// The section; none if no size of box was measured on two hosts.
pub(super) fn section(analysis: &Analysis) -> Option<Section> {
    let found = &analysis.host_effects.effects;
    Section::new(hosts::TITLE)
        .about(hosts::ABOUT)
        .table(verdicts(found))
        .table(points(found))
        .unless_empty()
}

/// What the largest host costs over the smallest alone.
pub(super) fn brief(analysis: &Analysis) -> Option<Section> {
    let table = verdicts(&analysis.host_effects.effects).only(&["workload", "n", "excess", "effect"]);
    Section::new(hosts::TITLE).table(table).unless_empty()
}

fn of() -> [Column; 5] {
    [
        "platform",
        "provisioning",
        "CPUs of the box",
        "workload",
        "metric",
    ]
    .map(Column::name)
}

fn whose(effect: &HostEffect) -> [Cell; 5] {
    [
        effect.platform.to_string().into(),
        effect.provisioning.to_string().into(),
        Cell::Worded(vec![effect.cpus], hosts::cpus(effect)),
        effect.workload.as_str().into(),
        effect.metric.as_str().into(),
    ]
}

fn verdicts(effects: &[HostEffect]) -> Table {
    let own = [
        Column::number("n", "blocks"),
        Column::interval("excess", "cost on the largest host over that on the smallest"),
        Column::name("effect"),
        Column::name("dies out"),
        Column::machine("beyond CHR", "largest CHR with a shown excess"),
        Column::machine(
            "within CHR",
            "smallest CHR from which on the excess is within the margin",
        ),
        Column::words("remarks"),
    ];
    let row = |effect: &HostEffect| {
        let chr = |end: Option<RangeEnd>| {
            let is_shown = effect.shown.is_some();
            Cell::figure(end.filter(|_| is_shown).and_then(|end| end.chr), Show::Plain)
        };
        let own = [
            Cell::count(effect.n),
            Cell::interval(effect.hosts.last().and_then(|h| h.excess), Show::Percent),
            crate::words::effects::shown_as(effect.shown).into(),
            hosts::range(effect).into(),
            chr(effect.range.beyond),
            chr(effect.range.within),
            hosts::remarks(effect).into(),
        ];
        super::cells(whose(effect), own)
    };
    Table::new("host-effects", 3, super::columns(of(), own)).with(effects.iter().map(row))
}

fn points(effects: &[HostEffect]) -> Table {
    let own = [
        Column::number("host's CPUs", ""),
        Column::number("CHR", "CPUs of the box over those of the host"),
        Column::number("n", "blocks"),
        Column::interval("paired ratio", "cost on this host"),
        Column::interval("excess", "over the smallest host"),
    ];
    let mut table = Table::new("hosts", 3, super::columns(of(), own));
    for effect in effects {
        for point in &effect.hosts {
            table.push(super::cells(whose(effect), point_cells(effect, point)));
        }
    }
    table
}

fn point_cells(effect: &HostEffect, point: &HostPoint) -> [Cell; 5] {
    [
        Cell::Count(point.host_cpus.into()),
        Cell::Figure(point.chr, Show::Decimals(2)),
        Cell::count(effect.n),
        Cell::interval(point.ratio, Show::Ratio),
        Cell::interval(point.excess, Show::Percent),
    ]
}
