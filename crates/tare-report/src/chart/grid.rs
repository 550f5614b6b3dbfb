//! Grids: workloads against platforms, with a figure and a shade in each cell.

use super::{GAP, LETTER, px, room, shortened};
use crate::show::cost_briefly;
use tare_analysis::{Analysis, Comparison, ScoreAxis, ScoreTable, Word};
use tare_model::study::BoxKind;

/// Columns of the drawing, in its own units.
const WIDTH: f64 = 1100.0;
const NARROWEST: f64 = 70.0;
/// Heights.
const HEAD_LINE: f64 = 16.0;
const ROW: f64 = 26.0;
/// Letters that fit.
const NAME_LETTERS: usize = 36;
/// Larger grids are not looked at: the tables have every figure.
const MOST_COLUMNS: usize = 24;
const MOST_ROWS: usize = 80;
const MOST_AXES: usize = 24;
/// From these ratios on a shade is darker.
const SHADES: [f64; 3] = [1.05, 1.25, 2.0];

/// A drawing.
#[derive(Debug, Clone)]
pub struct Grid {
    pub(super) id: &'static str,
    pub(super) caption: String,
    pub(crate) label: String,
    pub(crate) width: f64,
    pub(crate) height: String,
    pub(crate) heads: Vec<Head>,
    pub(crate) rows: Vec<Row>,
    pub(crate) cell_width: String,
}

/// The head of a column: a name, and below it what narrows it down.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub x: String,
    pub lines: Vec<HeadLine>,
}

/// A line of it.
#[derive(Debug, Clone)]
pub(crate) struct HeadLine {
    pub y: String,
    pub text: String,
}

#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub name: String,
    pub y: String,
    pub text_y: String,
    pub cells: Vec<Cell>,
}

#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub x: String,
    pub text_x: String,
    pub class: String,
    pub text: String,
    pub title: String,
}

/// What is in a cell, before it has a place.
struct Content {
    class: String,
    text: String,
    title: String,
}

/// The cost of each workload in each kind of box, shaded by what is shown.
pub(super) fn heat(analysis: &Analysis) -> Option<Grid> {
    let comparisons: Vec<&Comparison> = analysis.asked().collect();
    let kinds = distinct(comparisons.iter().map(|c| &c.cell.kind));
    let workloads = distinct(comparisons.iter().map(|c| &c.cell.workload));
    let of = |workload: &String, kind: &BoxKind| {
        let found = comparisons
            .iter()
            .find(|c| c.cell.workload == *workload && c.cell.kind == *kind);
        found.map_or_else(empty, |c| content(c))
    };
    let caption = "Cost over the baseline. Orange: slower, blue: faster, darker is more; green: equal; dashed: inconclusive or no verdict.";
    // The longer of the two goes down.
    let (heads, rows): (Vec<_>, Vec<_>) = if kinds.len() > workloads.len() {
        let row = |kind: &&BoxKind| (kind.to_string(), workloads.iter().map(|w| of(w, kind)).collect());
        (
            workloads.iter().map(|w| parted(w, ' ')).collect(),
            kinds.iter().map(row).collect(),
        )
    } else {
        let row = |workload: &&String| {
            (
                (*workload).clone(),
                kinds.iter().map(|k| of(workload, k)).collect(),
            )
        };
        let head = |kind: &&BoxKind| {
            let mut lines = parted(&kind.platform.to_string(), '?');
            lines.push(manner(kind));
            lines
        };
        (
            kinds.iter().map(head).collect(),
            workloads.iter().map(row).collect(),
        )
    };
    draw("heat-map", "Workloads against platforms", caption, heads, rows)
}

/// A name and its options, one below the other.
fn parted(name: &str, mark: char) -> Vec<String> {
    name.splitn(2, mark).map(str::to_owned).collect()
}

/// How a kind of box is given its CPUs, and its size.
fn manner(kind: &BoxKind) -> String {
    let size = kind.instance.iter().map(|name| format!(" {name}"));
    kind.provisioning.to_string() + &size.collect::<String>()
}

fn distinct<'a, T: PartialEq>(all: impl Iterator<Item = &'a T>) -> Vec<&'a T> {
    let mut seen = Vec::new();
    for item in all {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}

fn empty() -> Content {
    Content {
        class: "missing".to_owned(),
        text: String::new(),
        title: "not measured".to_owned(),
    }
}

fn content(comparison: &Comparison) -> Content {
    let Some(metric) = comparison.primary() else {
        return empty();
    };
    let word = metric.word();
    let Some(cost) = metric.cost() else {
        return Content {
            title: format!("{}: no figure", comparison.cell),
            ..empty()
        };
    };
    Content {
        class: shade(word, cost),
        text: cost_briefly(cost),
        title: format!(
            "{}: {}, {word}",
            comparison.cell,
            crate::words::remarks::cost_with_interval(metric)
        ),
    }
}

fn shade(word: Word, cost: f64) -> String {
    let size = cost.max(cost.recip());
    let shade = SHADES.iter().filter(|from| size >= **from).count();
    match word {
        Word::Slower | Word::Faster => format!("{}-{shade}", word.name()),
        _ => word.name().to_owned(),
    }
}

/// The scores of each metric on each platform.
pub(super) fn scores(table: &ScoreTable) -> Option<Grid> {
    let platforms = table.platforms().map(|p| parted(&p.to_string(), '?')).collect();
    // Of many metrics those that carry verdicts.
    let is_drawn = |axis: &&ScoreAxis| table.axes.len() <= MOST_AXES || axis.primary;
    let rows = table.axes.iter().filter(is_drawn).map(|axis| {
        let cells = axis.scores.iter().map(|score| match score.score {
            Some(value) => Content {
                class: format!("score-{}", tenths(value)),
                text: format!("{value:.3}"),
                title: format!("{}, {}: {value:.3}", score.platform, axis.name()),
            },
            None => empty(),
        });
        (axis.name(), cells.collect())
    });
    let caption = format!(
        "Standardised scores of {} boxes: 1 is the best platform of a row, and darker. They have no intervals and carry no verdict.",
        table.name()
    );
    let label = format!("Standardised scores, {}", table.name());
    draw("scores", &label, &caption, platforms, rows.collect())
}

/// A score by steps of which there is a shade each: 0 to 4.
fn tenths(score: f64) -> u8 {
    [0.5, 0.8, 0.95, 0.995]
        .iter()
        .map(|from| u8::from(score >= *from))
        .sum()
}

fn draw(
    id: &'static str,
    label: &str,
    caption: &str,
    heads: Vec<Vec<String>>,
    rows: Vec<(String, Vec<Content>)>,
) -> Option<Grid> {
    let fits = !rows.is_empty() && rows.len() <= MOST_ROWS && (1..=MOST_COLUMNS).contains(&heads.len());
    if !fits {
        return None;
    }
    let columns = heads.iter().fold(0.0, |n, _| n + 1.0);
    let names: Vec<String> = rows
        .iter()
        .map(|(name, _)| shortened(name, NAME_LETTERS))
        .collect();
    let left = GAP + room(names.iter().map(String::as_str));
    let wanted = GAP + room(heads.iter().flatten().map(String::as_str));
    let width = wanted.min((WIDTH - left) / columns).max(NARROWEST);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "letters of a column"
    )]
    let letters = (width / LETTER) as usize;
    let places: Vec<f64> = heads
        .iter()
        .scan(left, |x, _| Some(std::mem::replace(x, *x + width)))
        .collect();
    let lines = heads.iter().map(Vec::len).max().unwrap_or(0);
    let head_height = (0..lines).fold(12.0, |height, _| height + HEAD_LINE);
    let tops = (0_u32..).map(|i| head_height + ROW * f64::from(i));
    Some(Grid {
        id,
        caption: caption.to_owned(),
        label: label.to_owned(),
        width: (left + width * columns).ceil(),
        height: px(rows.iter().fold(head_height, |y, _| y + ROW)),
        heads: heads
            .iter()
            .zip(&places)
            .map(|(lines, x)| head(lines, x + width / 2.0, letters))
            .collect(),
        rows: names
            .into_iter()
            .zip(rows)
            .zip(tops)
            .map(|((name, (_, cells)), y)| row(name, cells, y, &places, width))
            .collect(),
        cell_width: px(width - 3.0),
    })
}

fn head(lines: &[String], x: f64, letters: usize) -> Head {
    let line = |(text, place): (&String, u32)| HeadLine {
        y: px(HEAD_LINE * f64::from(place)),
        text: shortened(text, letters),
    };
    Head {
        x: px(x),
        lines: lines.iter().zip(1..).map(line).collect(),
    }
}

fn row(name: String, cells: Vec<Content>, y: f64, places: &[f64], width: f64) -> Row {
    let cell = |(content, x): (Content, &f64)| Cell {
        x: px(*x),
        text_x: px(x + width / 2.0 - 1.5),
        class: content.class,
        text: content.text,
        title: content.title,
    };
    Row {
        name,
        y: px(y),
        text_y: px(y + 16.0),
        cells: cells.into_iter().zip(places).map(cell).collect(),
    }
}
