//! Which parameters of a workload matter, and the setting to take.

use super::{kind, kind_columns};
use crate::chart::Picture;
use crate::document::{Cell, Column, Document, Section, Show, Table};
use crate::words::{course, notices, tuning as words};
use tare_analysis::{Analysis, Tuned, TuningEffect};
use tare_model::tuning::TuningDesign;

/// The answer, each parameter, what they do together, and each setting.
pub fn tuning(analysis: &Analysis) -> Document {
    let tunings = &analysis.tunings;
    let sections = [
        levels(tunings),
        together(tunings),
        settings(tunings),
        Section::detail("How to read this").list(caveats(tunings)),
    ];
    Document {
        whole: None,
        title: "Which parameters matter?".to_owned(),
        subtitle: format!(
            "{} · {}",
            course::ran(&analysis.study, &analysis.run),
            course::host(analysis)
        ),
        answer: words::answer(tunings),
        notices: notices::all(&analysis.notices),
        sections: sections.into_iter().filter_map(Section::unless_empty).collect(),
    }
}

/// The same in a report.
pub(super) fn in_report(analysis: &Analysis) -> Option<Section> {
    let tunings = &analysis.tunings;
    (!tunings.is_empty()).then(|| levels(tunings).list(words::answer(tunings)))
}

/// The answer alone.
pub(super) fn brief(analysis: &Analysis) -> Option<Section> {
    let tunings = &analysis.tunings;
    (!tunings.is_empty()).then(|| Section::new(TITLE).list(words::answer(tunings)))
}

const TITLE: &str = "Which parameters matter";

fn levels(tunings: &[Tuned]) -> Section {
    let about = tunings.first().map_or_else(String::new, |of| {
        format!(
            "What a run costs, by its {}, at a level over the first level of its parameter ({}).",
            of.metric,
            words::design(of)
        )
    });
    Section::new(TITLE)
        .about(about)
        .picture(Picture::levels(tunings))
        .table(level_table(tunings))
}

fn level_table(tunings: &[Tuned]) -> Table {
    let mut columns: Vec<Column> = kind_columns().into();
    columns.extend([
        Column::name("level"),
        Column::name("instead of"),
        Column::interval("cost", "over that at the first level"),
        Column::number("p", "after Holm's correction"),
        Column::name("effect"),
    ]);
    let mut table = Table::new("levels", 3, columns);
    for of in tunings {
        for level in &of.effects {
            let mut row: Vec<Cell> = kind(&of.kind).into();
            row.push(format!("{}={}", level.factor, level.to).into());
            row.push(level.from.as_str().into());
            row.extend(effect(level.effect));
            table.push(row);
        }
    }
    table
}

fn effect(effect: TuningEffect) -> [Cell; 3] {
    let (word, colour) = words::shown(effect);
    [
        Cell::interval(effect.cost, Show::Ratio),
        Cell::figure(effect.p_holm, Show::P),
        Cell::State(word, colour),
    ]
}

fn together(tunings: &[Tuned]) -> Section {
    let mut columns: Vec<Column> = kind_columns().into();
    columns.extend([
        Column::name("parameters"),
        Column::interval("together", "over what both alone come to"),
        Column::number("p", "after Holm's correction"),
        Column::name("effect"),
    ]);
    let mut table = Table::new("together", 3, columns);
    for of in tunings {
        for pairs in &of.interactions {
            let mut row: Vec<Cell> = kind(&of.kind).into();
            row.push(words::pair_names(pairs).into());
            row.extend(effect(pairs.effect));
            table.push(row);
        }
    }
    Section::detail("Two together")
        .about("The cost of a run with both second levels over what the effects of both alone come to: 1 if they do not act together. Where several pairs are named the settings show only what all of them do: a full design of these parameters tells which.")
        .table(table)
}

fn settings(tunings: &[Tuned]) -> Section {
    let mut columns: Vec<Column> = kind_columns().into();
    columns.extend([
        Column::name("setting"),
        Column::number("n", "blocks"),
        Column::number("mean", "of the metric"),
        Column::interval("cost", "over the first setting's"),
    ]);
    let mut table = Table::new("settings", 3, columns);
    for of in tunings {
        let first = of.settings.first();
        for setting in &of.settings {
            let mut row: Vec<Cell> = kind(&of.kind).into();
            row.extend([
                words::setting_name(setting, first).into(),
                Cell::count(setting.n),
                Cell::figure(setting.mean, Show::Unit(of.unit.clone())),
                Cell::interval(setting.cost, Show::Ratio),
            ]);
            table.push(row);
        }
    }
    Section::detail("Each setting")
        .about("Single settings, without a correction for their number: the fastest of many is often only the luckiest.")
        .table(table)
}

fn caveats(tunings: &[Tuned]) -> Vec<String> {
    let crossed = tunings.iter().any(|of| of.design != TuningDesign::OneAtATime);
    let mean = if crossed {
        "An effect is the mean over all settings of the other parameters, on a log scale, taken within each block; its interval is 95 % by Student's t over blocks."
    } else {
        "An effect is that of one level, all other parameters being at their first, taken within each block; its interval is 95 % by Student's t over blocks."
    };
    let pairs = if crossed { ", or for all pairs" } else { "" };
    let mut caveats = vec![
        mean.to_owned(),
        format!(
            "Shown is what has p under 5 % after Holm's correction for all levels{pairs}, and is not equal within the margin."
        ),
    ];
    if crossed {
        caveats.push("The best setting is the one that the shown effects make the cheapest; what is not shown to do anything stays at its first level. Its figure is by its own trials if it ran.".to_owned());
    }
    if tunings.iter().any(|of| of.design == TuningDesign::Fractional) {
        caveats.push(
            "With a fraction of all settings it is supposed that no three parameters act together."
                .to_owned(),
        );
    }
    caveats
}
