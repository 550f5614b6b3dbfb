//! The radar chart of standardised scores: one axis per metric, one line per
//! platform. Geometry only; the template `radar.html` draws it.

use super::{COLOURS, px, shortened};
use crate::analysis::{Score, ScoreTable};
use crate::show::or_missing;
use std::f64::consts::TAU;

/// Columns and heights of the drawing, in its own units.
const WIDTH: f64 = 935.0;
const CENTRE_X: f64 = 300.0;
const RADIUS: f64 = 140.0;
const TOP: f64 = 40.0;
const LEGEND_X: f64 = 614.0;
const LINE: f64 = 20.0;
/// Kinds of dashes.
const DASHES: usize = 3;
/// Distance of a label from the end of its axis.
const LABEL: f64 = 14.0;
/// With fewer axes there is no area to see.
const FEWEST: usize = 3;

/// A drawing.
pub(crate) struct Radar {
    pub label: String,
    pub width: f64,
    pub height: f64,
    /// Outlines at a quarter, a half, three quarters and 1.
    pub rings: Vec<Ring>,
    pub axes: Vec<Axis>,
    pub lines: Vec<Line>,
    pub centre_x: f64,
    pub centre_y: String,
    pub legend_x: f64,
}

/// All points of one score.
pub(crate) struct Ring {
    pub points: String,
    pub label: &'static str,
    pub y: String,
}

/// One metric.
pub(crate) struct Axis {
    pub x: String,
    pub y: String,
    pub label_x: String,
    pub label_y: String,
    pub anchor: &'static str,
    pub name: String,
}

/// One platform.
pub(crate) struct Line {
    pub name: String,
    pub class: String,
    pub path: String,
    pub dots: Vec<Dot>,
    pub legend_y: String,
    /// The line before its name in the legend.
    pub sample: String,
}

/// A score.
pub(crate) struct Dot {
    pub x: String,
    pub y: String,
    pub title: String,
}

/// Draws one table; `None` with fewer than three metrics.
pub(crate) fn radar(table: &ScoreTable) -> Option<Radar> {
    let n = table.axes.len();
    if n < FEWEST {
        return None;
    }
    let platforms: Vec<String> = table.platforms().map(ToString::to_string).collect();
    let legend = platforms.iter().fold(TOP, |y, _| y + LINE);
    let height = legend.max(2.0 * (TOP + RADIUS));
    let wheel = Wheel::of(n, height / 2.0);
    let lines = (0..platforms.len()).map(|i| line(table, &wheel, i)).collect();
    Some(Radar {
        label: table.name(),
        width: WIDTH,
        height,
        rings: [(0.25, "0.25"), (0.5, "0.5"), (0.75, "0.75"), (1.0, "1")]
            .map(|(share, label)| ring(&wheel, share, label))
            .into(),
        axes: (0..n).map(|i| axis(&wheel, i, &table.axes[i].name())).collect(),
        lines,
        centre_x: CENTRE_X,
        centre_y: px(wheel.centre_y),
        legend_x: LEGEND_X,
    })
}

/// Directions of the axes, the first one upwards.
struct Wheel {
    angles: Vec<f64>,
    centre_y: f64,
}

impl Wheel {
    fn of(n: usize, centre_y: f64) -> Self {
        let step = TAU / (0..n).fold(0.0, |count, _| count + 1.0);
        let angles = (0..n).scan(-TAU / 4.0, |angle, _| {
            let this = *angle;
            *angle += step;
            Some(this)
        });
        Self {
            angles: angles.collect(),
            centre_y,
        }
    }

    fn at(&self, i: usize, radius: f64) -> (f64, f64) {
        let angle = self.angles[i];
        (
            CENTRE_X + radius * angle.cos(),
            self.centre_y + radius * angle.sin(),
        )
    }
}

fn ring(wheel: &Wheel, share: f64, label: &'static str) -> Ring {
    let points = (0..wheel.angles.len()).map(|i| pair(wheel.at(i, RADIUS * share)));
    Ring {
        points: points.collect::<Vec<_>>().join(" "),
        label,
        y: px(wheel.centre_y - RADIUS * share - 3.0),
    }
}

fn pair((x, y): (f64, f64)) -> String {
    format!("{},{}", px(x), px(y))
}

fn axis(wheel: &Wheel, i: usize, name: &str) -> Axis {
    let (x, y) = wheel.at(i, RADIUS);
    let (label_x, label_y) = wheel.at(i, RADIUS + LABEL);
    let anchor = match label_x - CENTRE_X {
        off if off > 1.0 => "start",
        off if off < -1.0 => "end",
        _ => "middle",
    };
    Axis {
        x: px(x),
        y: px(y),
        label_x: px(label_x),
        label_y: px(label_y + 4.0),
        anchor,
        name: shortened(name),
    }
}

/// One platform's line, open where a score is missing: a point at the centre
/// would be a score of 0.
fn line(table: &ScoreTable, wheel: &Wheel, platform: usize) -> Line {
    let scores: Vec<&Score> = table.axes.iter().map(|a| &a.scores[platform]).collect();
    let point = |i: usize| scores[i].score.map(|score| wheel.at(i, RADIUS * score));
    let n = scores.len();
    let segments = (0..n).filter_map(|i| {
        let (from, to) = point(i).zip(point((i + 1) % n))?;
        Some(format!("M{} L{}", pair(from), pair(to)))
    });
    let dot = |i: usize| {
        let (x, y) = point(i)?;
        let score = or_missing(scores[i].score, |s| format!("{s:.3}"));
        Some(Dot {
            x: px(x),
            y: px(y),
            title: format!("{}, {}: {score}", scores[i].platform, table.axes[i].name()),
        })
    };
    let name = scores
        .first()
        .map_or_else(String::new, |s| s.platform.to_string());
    let place = (0..platform).fold(TOP, |y, _| y + LINE);
    Line {
        name: shortened(&name),
        // Where the colours come again, other dashes tell the lines apart.
        class: format!(
            "series-{} dash-{}",
            platform % COLOURS,
            platform / COLOURS % DASHES
        ),
        path: segments.collect::<Vec<_>>().join(" "),
        dots: (0..n).filter_map(dot).collect(),
        legend_y: px(place),
        sample: format!("M{},{} h20", px(LEGEND_X - 28.0), px(place - 4.0)),
    }
}
