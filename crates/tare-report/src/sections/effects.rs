//! Workloads that the study holds together.

use crate::document::{Cell, Column, Section, Show, Table};
use crate::words::effects;
use tare_analysis::{Analysis, WorkloadEffect};

/// A section per effect of the study.
pub(super) fn sections(analysis: &Analysis) -> impl Iterator<Item = Section> {
    let section = |named: effects::Named<'_>| {
        Section::new(named.title)
            .about(effects::ABOUT)
            .table(table(&named.effects))
    };
    effects::named(analysis).into_iter().map(section)
}

/// The ratio of each alone.
pub(super) fn brief(analysis: &Analysis) -> impl Iterator<Item = Section> {
    let section = |named: effects::Named<'_>| {
        let heads = ["platform", "provisioning", "size", "n", "their ratio", "effect"];
        Section::new(named.title).table(table(&named.effects).only(&heads))
    };
    effects::named(analysis).into_iter().map(section)
}

fn table(effects: &[&WorkloadEffect]) -> Table {
    let columns = vec![
        Column::name("platform"),
        Column::name("provisioning"),
        Column::name("size"),
        Column::number("n", "blocks that have both workloads"),
        Column::interval("their ratio", "of both costs"),
        Column::name("effect"),
        Column::interval("cost of the first", ""),
        Column::interval("cost of the second", ""),
        Column::words("remarks"),
    ];
    Table::new("workload-effects", 0, columns).with(effects.iter().map(|effect| row(effect)))
}

fn row(effect: &WorkloadEffect) -> Vec<Cell> {
    let ratio = |of| Cell::interval(of, Show::Ratio);
    vec![
        effect.platform.to_string().into(),
        effect.provisioning.to_string().into(),
        Cell::name(effects::size(effect).as_ref()),
        Cell::count(effect.n),
        ratio(effect.ratio),
        effects::shown_as(effect.shown).into(),
        ratio(effect.of.ratio),
        ratio(effect.against.ratio),
        effects::remarks(effect).into(),
    ]
}
