//! Costs along time: runs of a trend, blocks of a study. A panel for each series with its points,
//! their intervals, and the levels between changes.

use super::px;
use super::scale::{Scale, Tick};
use tare_analysis::Estimate;

/// Columns of the drawing, in its own units.
const WIDTH: f64 = 1100.0;
const LEFT: f64 = 70.0;
/// Panels side by side.
const ACROSS: usize = 3;
const GAP: f64 = 26.0;
/// Heights.
const TITLE: f64 = 30.0;
const PLOT: f64 = 110.0;
const AXIS: f64 = 24.0;
/// Letters of a title.
const LETTERS: usize = 46;
/// More panels are not looked at: those are drawn that vary most, and the tables have every figure.
const MOST: usize = 24;

/// A series before it has a place.
pub(super) struct Series {
    pub title: String,
    pub points: Vec<Point>,
    /// From which point to which one, both included, the level lies where.
    pub levels: Vec<(usize, usize, f64)>,
}

/// A point before it has a place.
pub(super) struct Point {
    pub cost: f64,
    pub interval: Option<(f64, f64)>,
    /// Whether there is a reason to doubt it.
    pub doubtful: bool,
    pub title: String,
}

/// A drawing.
#[derive(Debug, Clone)]
pub struct Course {
    pub(super) id: &'static str,
    pub(super) caption: String,
    pub(crate) label: String,
    pub(crate) width: f64,
    pub(crate) height: String,
    pub(crate) panels: Vec<Panel>,
}

/// One series.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    pub title: String,
    pub title_y: String,
    pub left: String,
    pub right: String,
    pub top: String,
    pub plot_width: String,
    pub plot_height: f64,
    pub band_y: String,
    pub band_height: String,
    pub one_y: String,
    pub label_x: String,
    pub ticks: Vec<Tick>,
    pub marks: Vec<Mark>,
    pub levels: Vec<String>,
}

/// A point with its interval.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    /// A line of no length, which its round ends make a disc: half as long in a page as a circle.
    pub point: String,
    pub interval: Option<String>,
    pub doubtful: bool,
    pub title: String,
}

/// Draws some series, if there is anything to see. `margin` as a ratio less 1.
pub(super) fn draw(
    id: &'static str,
    label: &str,
    caption: &str,
    series: &[Series],
    margin: f64,
) -> Option<Course> {
    let all: Vec<&Series> = series.iter().filter(|s| s.points.len() > 1).collect();
    if all.is_empty() {
        return None;
    }
    let shown = most_varied(&all);
    let left_out = if shown.len() < all.len() {
        format!(" These {MOST} of {} vary most.", all.len())
    } else {
        String::new()
    };
    let width = (WIDTH - LEFT) / columns(ACROSS) - GAP;
    let height = TITLE + PLOT + AXIS;
    let place = |i: usize| {
        let (row, column) = (columns(i / ACROSS), columns(i % ACROSS));
        (
            LEFT + column * (width + GAP + LEFT / 2.0 - GAP / 2.0),
            row * height,
        )
    };
    let panels = shown
        .iter()
        .enumerate()
        .map(|(i, series)| panel(series, place(i), width - LEFT / 3.0, margin));
    Some(Course {
        id,
        caption: format!("{caption}{left_out}"),
        label: label.to_owned(),
        width: WIDTH,
        height: px(columns(shown.len().div_ceil(ACROSS)) * height),
        panels: panels.collect(),
    })
}

#[expect(clippy::cast_precision_loss, reason = "a few panels or thousands of points")]
const fn columns(n: usize) -> f64 {
    n as f64
}

/// As many as there is room for, in their order.
fn most_varied<'a>(all: &[&'a Series]) -> Vec<&'a Series> {
    let range = |series: &Series| {
        let costs = || series.points.iter().map(|p| p.cost);
        costs().fold(0.0, f64::max) / costs().fold(f64::INFINITY, f64::min)
    };
    let mut by_range: Vec<(usize, &Series)> = all.iter().copied().enumerate().collect();
    by_range.sort_by(|(_, a), (_, b)| range(b).total_cmp(&range(a)));
    by_range.truncate(MOST);
    by_range.sort_by_key(|(place, _)| *place);
    by_range.into_iter().map(|(_, series)| series).collect()
}

fn panel(series: &Series, (left, y): (f64, f64), width: f64, margin: f64) -> Panel {
    let (top, bottom) = (y + TITLE, y + TITLE + PLOT);
    let ratios: Vec<Estimate> = series.points.iter().map(estimate).collect();
    let scale = Scale::around(&ratios, margin, (bottom, top));
    let step = width / columns(series.points.len());
    let x = |i: usize| left + step * (columns(i) + 0.5);
    let mark = |(i, point): (usize, &Point)| Mark {
        point: format!("M{},{}h0", px(x(i)), px(scale.at(point.cost))),
        interval: point
            .interval
            .map(|(low, high)| format!("M{},{}V{}", px(x(i)), px(scale.at(low)), px(scale.at(high)))),
        doubtful: point.doubtful,
        title: point.title.clone(),
    };
    let level = |&(from, to, cost): &(usize, usize, f64)| {
        format!(
            "M{},{}H{}",
            px(x(from) - step / 2.0),
            px(scale.at(cost)),
            px(x(to) + step / 2.0)
        )
    };
    let (high, low) = (scale.at(1.0 + margin), scale.at(1.0 / (1.0 + margin)));
    Panel {
        title: super::shortened(&format!("{}{}", series.title, scale.note()), LETTERS),
        title_y: px(top - 8.0),
        left: px(left),
        right: px(left + width),
        top: px(top),
        plot_width: px(width),
        plot_height: PLOT,
        band_y: px(high),
        band_height: px((low - high).max(1.0)),
        one_y: px(scale.at(1.0)),
        label_x: px(left - 5.0),
        ticks: scale.few_ticks(),
        marks: series.points.iter().enumerate().map(mark).collect(),
        levels: series.levels.iter().map(level).collect(),
    }
}

fn estimate(point: &Point) -> Estimate {
    let (low, high) = point.interval.unwrap_or((point.cost, point.cost));
    Estimate {
        value: point.cost,
        low,
        high,
    }
}
