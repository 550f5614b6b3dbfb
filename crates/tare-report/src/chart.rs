//! The ratio chart: one panel per workload with its own scale, a point with its
//! interval per kind of box, the margin as a band around 1. Geometry only; the
//! template `chart.html` draws it.

pub(crate) mod radar;
mod scale;
pub(crate) mod sizes;

use crate::analysis::Comparison;
use crate::show::{MISSING, or_missing, ratio_with_interval};
use scale::Scale;

/// Columns of the drawing, in its own units.
const LEFT: f64 = 210.0;
const RIGHT: f64 = 615.0;
const WIDTH: f64 = 935.0;
/// Heights.
const ROW: f64 = 24.0;
const TITLE: f64 = 40.0;
const AXIS: f64 = 26.0;

/// Colours that the style sheet has for series; further ones begin again.
const COLOURS: usize = 6;

/// A drawing.
pub(crate) struct Chart {
    pub label: String,
    pub width: f64,
    pub height: f64,
    pub text_x: f64,
    pub panels: Vec<Panel>,
}

/// One workload.
pub(crate) struct Panel {
    pub title: String,
    pub title_y: String,
    pub top: String,
    pub height: String,
    pub bottom: String,
    pub axis_y: String,
    pub left: f64,
    pub right: f64,
    pub band_x: String,
    pub band_width: String,
    pub one_x: String,
    pub ticks: Vec<Tick>,
    pub rows: Vec<Row>,
}

/// A mark on the axis.
pub(crate) struct Tick {
    pub x: String,
    pub label: String,
}

/// One kind of box.
pub(crate) struct Row {
    pub label: String,
    pub name: String,
    pub text_y: String,
    pub y: String,
    /// Where the point and the ends of its interval lie; absent without a figure.
    pub mark: Option<Mark>,
    pub figures: String,
    pub class: &'static str,
    pub verdict: String,
}

/// A point with its interval.
pub(crate) struct Mark {
    pub x: String,
    pub low: String,
    pub high: String,
    pub cap_top: String,
    pub cap_bottom: String,
}

/// Draws the primary metrics of `comparisons`, grouped by workload in the order
/// in which they first occur; `margin` as a ratio less 1.
pub(crate) fn chart(label: &str, comparisons: &[&Comparison], margin: f64) -> Option<Chart> {
    let mut workloads: Vec<&str> = Vec::new();
    for comparison in comparisons {
        if !workloads.contains(&comparison.cell.workload.as_str()) {
            workloads.push(&comparison.cell.workload);
        }
    }
    let mut y = 0.0;
    let mut panels = Vec::new();
    for workload in workloads {
        let rows = comparisons.iter().filter(|c| c.cell.workload == workload);
        let panel = panel(&rows.copied().collect::<Vec<_>>(), margin, &mut y);
        panels.extend(panel);
    }
    (!panels.is_empty()).then(|| Chart {
        label: label.to_owned(),
        width: WIDTH,
        height: y,
        text_x: RIGHT + 14.0,
        panels,
    })
}

fn panel(comparisons: &[&Comparison], margin: f64, y: &mut f64) -> Option<Panel> {
    let first = comparisons.first()?;
    let metric = &first.primary()?.metric;
    let scale = Scale::of(comparisons, margin);
    let top = *y + TITLE;
    let rows = (0_u32..)
        .zip(comparisons)
        .map(|(i, c)| row(c, &scale, top + ROW * f64::from(i)));
    let rows: Vec<Row> = rows.collect();
    let bottom = (0..rows.len()).fold(top, |y, _| y + ROW);
    *y = bottom + AXIS;
    let (band_low, band_high) = (scale.x(1.0 / (1.0 + margin)), scale.x(1.0 + margin));
    Some(Panel {
        title: format!("{} {}{}", first.cell.workload, metric.name, scale.note()),
        title_y: px(top - 12.0),
        top: px(top),
        height: px(bottom - top),
        bottom: px(bottom),
        axis_y: px(bottom + 16.0),
        left: LEFT,
        right: RIGHT,
        band_x: px(band_low),
        band_width: px((band_high - band_low).max(1.0)),
        one_x: px(scale.x(1.0)),
        ticks: scale.ticks(),
        rows,
    })
}

fn row(comparison: &Comparison, scale: &Scale, top: f64) -> Row {
    let metric = comparison.primary();
    let verdict = metric.and_then(|m| m.verdict.as_ref());
    let paired = metric.and_then(|m| m.paired.as_ref());
    let middle = top + ROW / 2.0;
    let figures = or_missing(paired, |p| {
        ratio_with_interval(p.ratio.value, p.ratio.low, p.ratio.high)
    });
    let n = metric.map_or(0, |m| m.n);
    Row {
        label: shortened(&comparison.cell.kind.to_string()),
        name: comparison.cell.kind.to_string(),
        text_y: px(middle + 4.0),
        y: px(middle),
        mark: paired.map(|p| Mark {
            x: px(scale.x(p.ratio.value)),
            low: px(scale.x(p.ratio.low)),
            high: px(scale.x(p.ratio.high)),
            cap_top: px(middle - 5.0),
            cap_bottom: px(middle + 5.0),
        }),
        figures: format!("{figures} n = {n}"),
        class: verdict.map_or("none", |v| v.word.name()),
        verdict: verdict.map_or_else(|| MISSING.to_owned(), |v| v.word.to_string()),
    }
}

/// Letters that fit beside a panel.
const LABEL: usize = 26;

/// A label with its middle left out where it is too long: both ends tell
/// platforms apart.
fn shortened(label: &str) -> String {
    let letters: Vec<char> = label.chars().collect();
    if letters.len() <= LABEL {
        return label.to_owned();
    }
    let half = LABEL / 2;
    let ends = [&letters[..half], &letters[letters.len() - half..]];
    ends.map(|end| end.iter().collect::<String>()).join("…")
}

/// Coordinates to a tenth of a unit.
fn px(value: f64) -> String {
    format!("{value:.1}")
}
