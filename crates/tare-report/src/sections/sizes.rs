//! What depends on the size of the box.

use crate::chart::Picture;
use crate::document::{Cell, Column, Section, Show, Table};
use crate::words::remarks::joined;
use crate::words::sizes;
use tare_analysis::{Analysis, RangeEnd, SizeEffect, SizePoint};

/// The size effects, each with its sizes; of a study of several sizes, why there are none.
pub(super) fn section(analysis: &Analysis) -> Option<Section> {
    let found = &analysis.size_effects;
    let effects = &found.effects;
    let section = Section::new("Size effects").list(sizes::none(analysis).into_iter().collect());
    if effects.is_empty() {
        return section.unless_empty();
    }
    let section = section
        .about(sizes::ABOUT)
        .picture(Picture::sizes(effects, analysis.study.protocol.margin))
        .table(table(effects))
        .table(points(effects));
    Some(section)
}

/// The effects alone.
pub(super) fn brief(analysis: &Analysis) -> Option<Section> {
    let heads = [
        "workload",
        "metric",
        "n",
        "effects",
        "PTO",
        "PSO",
        "PSO dies out",
        "fit",
    ];
    let table = table(&analysis.size_effects.effects).only(&heads);
    Section::new("Size effects").table(table).unless_empty()
}

fn of() -> [Column; 4] {
    ["platform", "provisioning", "workload", "metric"].map(Column::name)
}

fn whose(effect: &SizeEffect) -> [Cell; 4] {
    [
        effect.platform.to_string().into(),
        effect.provisioning.to_string().into(),
        effect.workload.as_str().into(),
        effect.metric.as_str().into(),
    ]
}

fn table(effects: &[SizeEffect]) -> Table {
    let own = [
        Column::number("n", "blocks"),
        Column::name("effects"),
        Column::interval("PTO", "cost at the largest size"),
        Column::name("PTO shown"),
        Column::interval("PSO", "cost of the smallest size over that of the largest"),
        Column::name("PSO shown"),
        Column::name("PSO dies out"),
        Column::machine("PSO beyond CPUs", "largest size with a shown excess"),
        Column::machine(
            "PSO within CPUs",
            "smallest size from which on the excess is within the margin",
        ),
        Column::machine("PTO p", ""),
        Column::machine("PTO Holm", ""),
        Column::machine("PSO p", ""),
        Column::machine("PSO Holm", ""),
        Column::words("fit"),
        Column::words("remarks"),
    ];
    let p = |p: Option<f64>| Cell::figure(p, Show::P);
    let row = |effect: &SizeEffect| {
        let cpus = |end: Option<RangeEnd>| {
            let is_shown = effect.class.is_some();
            Cell::figure(end.filter(|_| is_shown).map(|end| end.cpus), Show::Plain)
        };
        let share =
            |part: Option<&tare_analysis::OverheadPart>| Cell::interval(part.map(|p| p.share), Show::Percent);
        let own = [
            Cell::count(effect.n),
            sizes::class(effect).into(),
            share(effect.pto.as_ref()),
            sizes::shown_as(effect, effect.pto.as_ref()).into(),
            share(effect.pso.as_ref()),
            sizes::shown_as(effect, effect.pso.as_ref()).into(),
            sizes::range(effect).into(),
            cpus(effect.range.beyond),
            cpus(effect.range.within),
            p(effect.pto.as_ref().map(|p| p.p)),
            p(effect.pto.as_ref().map(|p| p.p_holm)),
            p(effect.pso.as_ref().map(|p| p.p)),
            p(effect.pso.as_ref().map(|p| p.p_holm)),
            format!("fit: {}", sizes::fit(effect)).into(),
            joined(vec![sizes::remarks(effect), sizes::p_values(effect)]).into(),
        ];
        super::cells(whose(effect), own)
    };
    Table::new("size-effects", 2, super::columns(of(), own)).with(effects.iter().map(row))
}

fn points(effects: &[SizeEffect]) -> Table {
    let own = [
        Column::number("CPUs", "of the box"),
        Column::number("CHR", "CPUs of the box over those of the host"),
        Column::number("n", "blocks"),
        Column::interval("paired ratio", "over 1 costs more"),
        Column::interval("excess", "over the largest size"),
    ];
    let mut table = Table::new("sizes", 4, super::columns(of(), own));
    for effect in effects {
        for point in &effect.sizes {
            table.push(super::cells(whose(effect), point_cells(effect, point)));
        }
    }
    table
}

fn point_cells(effect: &SizeEffect, point: &SizePoint) -> [Cell; 5] {
    [
        Cell::Worded(vec![point.cpus], sizes::cpus(point.cpus)),
        Cell::figure(point.chr, Show::Decimals(2)),
        Cell::count(effect.n),
        Cell::interval(point.ratio, Show::Ratio),
        point
            .excess
            .map_or(Cell::Blank, |e| Cell::Interval(e, Show::Percent)),
    ]
}
