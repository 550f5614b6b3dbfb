//! Stretches of time by their lengths: the baseline's as an outline, the cell's as bars.

use super::{GAP, px, room};
use crate::words::causes::seconds;
use tare_analysis::Evidence;
use tare_model::evidence::{Histogram, State};

pub(super) const CAPTION: &str = "Share of stretches by their length (powers of two of a nanosecond): of the box as bars, of the baseline as an outline. Their numbers stand above.";

/// Those that are drawn, one beside the other.
const STATES: [State; 4] = [State::OnCpu, State::RunQueue, State::Sleep, State::Throttled];
/// Larger studies have tables alone.
const MOST: usize = 16;
/// Columns of a panel, and heights.
const PANEL: f64 = 220.0;
const PLOT: f64 = 52.0;
const TITLE: f64 = 22.0;
const AXIS: f64 = 22.0;

/// A drawing.
#[derive(Debug, Clone)]
pub struct Stretches {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) panels: Vec<Panel>,
    pub(crate) names: Vec<Name>,
}

/// The cell of a row of panels.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    pub text: String,
    pub y: String,
}

/// One state of one cell.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    pub title: String,
    pub title_y: String,
    pub left: String,
    pub width: f64,
    pub top: String,
    pub plot: f64,
    pub axis_y: String,
    pub right: String,
    pub shortest: String,
    pub longest: String,
    pub bars: String,
    pub outline: String,
}

pub(super) fn draw(evidence: &[Evidence]) -> Option<Stretches> {
    let rows = || evidence.iter().take(MOST);
    let names: Vec<String> = rows()
        .map(|of| format!("{} against {}", of.cell, of.baseline.kind))
        .collect();
    let first = room(names.iter().map(String::as_str)) + GAP;
    let mut panels = Vec::new();
    let mut labels = Vec::new();
    let (mut y, mut widest) = (0.0, first);
    for (of, name) in rows().zip(names) {
        let mut x = first;
        let before = panels.len();
        for state in STATES {
            let Some(panel) = of.stretches(state).and_then(|both| panel(state, both, (x, y))) else {
                continue;
            };
            panels.push(panel);
            x += PANEL + GAP;
            widest = x.max(widest);
        }
        if panels.len() > before {
            labels.push(Name {
                text: name,
                y: px(y + TITLE + PLOT / 2.0),
            });
            y += TITLE + PLOT + AXIS;
        }
    }
    (!panels.is_empty()).then(|| Stretches {
        width: widest.ceil(),
        height: y,
        panels,
        names: labels,
    })
}

#[expect(clippy::cast_precision_loss, reason = "a few dozen places")]
fn panel(state: State, [baseline, cell]: [&Histogram; 2], (x, y): (f64, f64)) -> Option<Panel> {
    let all = || [baseline, cell].into_iter();
    let first = all().filter_map(|of| of.log2.iter().position(|n| *n > 0)).min()?;
    let end = all().map(|of| of.log2.len()).max()?;
    let places = (end - first) as f64;
    let tallest = all()
        .flat_map(|of| (first..end).map(|i| share(of, i)))
        .fold(0.0, f64::max);
    let (top, bottom) = (y + TITLE, y + TITLE + PLOT);
    let at = |i: usize| x + PANEL * (i - first) as f64 / places;
    let high = |of: &Histogram, i: usize| bottom - PLOT * share(of, i) / tallest;
    let bar = |i: usize| {
        let (from, to) = (px(at(i) + 1.0), px(at(i + 1) - 1.0));
        format!(
            "M{from},{}V{}H{to}V{}Z",
            px(bottom),
            px(high(cell, i)),
            px(bottom)
        )
    };
    let step = |i: usize| format!("V{}H{}", px(high(baseline, i)), px(at(i + 1)));
    Some(Panel {
        title: format!("{}: {} (baseline {})", state.name(), cell.n, baseline.n),
        title_y: px(top - 7.0),
        left: px(x),
        width: PANEL,
        top: px(top),
        plot: PLOT,
        axis_y: px(bottom + 13.0),
        right: px(x + PANEL),
        shortest: seconds(2_f64.powi(i32::try_from(first).unwrap_or(0))),
        longest: seconds(2_f64.powi(i32::try_from(end).unwrap_or(0))),
        bars: (first..end).filter(|i| share(cell, *i) > 0.0).map(bar).collect(),
        outline: format!(
            "M{},{}{}V{}",
            px(x),
            px(bottom),
            (first..end).map(step).collect::<String>(),
            px(bottom)
        ),
    })
}

#[expect(clippy::cast_precision_loss, reason = "a share to be drawn")]
fn share(of: &Histogram, place: usize) -> f64 {
    let n = of.log2.get(place).copied().unwrap_or(0);
    n as f64 / of.n.max(1) as f64
}
