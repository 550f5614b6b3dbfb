//! The analysis of foreign data.

use super::beside::{tested, tests};
use super::comparisons::cost;
use super::reading;
use crate::document::{Cell, Column, Document, Section, Show, Table};
use crate::show::margin;
use crate::words::{caveats, notices, remarks, verdict};
use tare_analysis::foreign::{ForeignAnalysis, ForeignComparison, SeriesFigures};
use tare_model::size::counted;

/// The headline, the figures beside it, every cell by itself, how to read them.
pub fn foreign(analysis: &ForeignAnalysis) -> Document {
    let sections = [
        headline(analysis).unless_empty(),
        beside(analysis).unless_empty(),
        cells(analysis).unless_empty(),
        Some(reading(caveats::of_foreign(analysis))),
    ];
    Document {
        whole: None,
        title: analysis.source.to_owned(),
        subtitle: format!(
            "{} in {}, margin {}",
            counted(analysis.rows, "row"),
            counted(analysis.blocks, "block"),
            margin(analysis.margin)
        ),
        answer: Vec::new(),
        notices: notices::all(&analysis.notices),
        sections: sections.into_iter().flatten().collect(),
    }
}

fn of() -> [Column; 3] {
    ["cell", "against", "metric"].map(Column::name)
}

fn whose(comparison: &ForeignComparison) -> [Cell; 3] {
    [
        comparison.cell.into(),
        comparison.baseline.into(),
        comparison.figures.metric.name.into(),
    ]
}

fn headline(analysis: &ForeignAnalysis) -> Section {
    let own = [
        Column::number("n", "blocks in which both cells have a value"),
        Column::interval("paired ratio", "with its 95 % interval"),
        Column::name("verdict"),
        Column::words("remarks"),
    ];
    let row = |comparison: &ForeignComparison| {
        let figures = &comparison.figures;
        let verdict = figures.verdict.as_ref();
        let phrase = verdict.map_or_else(String::new, verdict::phrase);
        let own = [
            Cell::count(figures.n),
            cost(figures),
            Cell::verdict(verdict.map(|v| v.word)),
            remarks::joined(vec![phrase, remarks::of_figures(figures)]).into(),
        ];
        super::cells(whose(comparison), own)
    };
    let table = Table::new("costs", 2, super::columns(of(), own));
    Section::new("Against the baseline (over 1 is worse)")
        .table(table.with(analysis.comparisons.iter().map(row)))
}

fn beside(analysis: &ForeignAnalysis) -> Section {
    let row = |comparison: &ForeignComparison| {
        super::cells(
            whose(comparison),
            tests(&comparison.figures, comparison.figures.metric.direction),
        )
    };
    let table = Table::new("tests", 2, super::columns(of(), tested()));
    Section::evidence("More figures: ratios of means, losses, variability, tests")
        .table(table.with(analysis.comparisons.iter().map(row)))
}

fn cells(analysis: &ForeignAnalysis) -> Section {
    let columns = vec![
        Column::name("cell"),
        Column::name("metric"),
        Column::number("n", "values"),
        Column::interval("mean", "with its 95 % interval"),
        Column::number("sd", "standard deviation"),
        Column::number("CV", "standard deviation over the mean"),
        Column::name("unit"),
        Column::name("better"),
        Column::number("empty", "rows without a value"),
    ];
    Section::detail("Every cell").table(Table::new("cells", 1, columns).with(analysis.cells.iter().map(row)))
}

fn row(figures: &SeriesFigures) -> Vec<Cell> {
    let mean = match figures.interval {
        Some(interval) => Cell::Interval(interval, Show::Digits),
        None => Cell::figure(figures.mean, Show::Digits),
    };
    vec![
        figures.cell.into(),
        figures.metric.name.into(),
        Cell::count(figures.n),
        mean,
        Cell::figure(figures.sd, Show::Digits),
        Cell::figure(figures.cv, Show::Percent),
        figures.metric.unit.map_or(Cell::Blank, Cell::from),
        figures.metric.direction.name().into(),
        if figures.empty > 0 {
            Cell::count(figures.empty)
        } else {
            Cell::Blank
        },
    ]
}
