//! The chart of size effects: one panel per workload, the paired ratio against
//! CPUs with its interval, one series per platform and provisioning. Geometry
//! only; the template `sizes.html` draws it.

use super::scale::Scale;
use super::{COLOURS, px};
use crate::show::ratio_with_interval;
use crate::words::sizes;
use tare_analysis::{SizeEffect, SizePoint};

/// Columns of the drawing, in its own units.
const LEFT: f64 = 60.0;
const RIGHT: f64 = 600.0;
const WIDTH: f64 = 935.0;
/// Air between the ends of the axis and the outermost sizes.
const AIR: f64 = 40.0;
/// Heights.
const TITLE: f64 = 34.0;
const PLOT: f64 = 210.0;
const AXIS: f64 = 46.0;
const LEGEND: f64 = 34.0;
/// Distance between series at one size, so that their intervals do not hide
/// one another.
const APART: f64 = 7.0;
/// Letters of the legend.
const LETTERS: usize = 40;
/// Steps in which the line of a fit is drawn.
const STEPS: u32 = 32;

/// What it shows.
pub(super) const CAPTION: &str = "Paired ratio against native-set with its 95 % interval, by CPUs (logarithmic) and CHR. The band is the margin. A line is the fit 1 + PTO + PSO/c, even if its figures are not quoted; a fit that the data contradict is not drawn.";

/// A drawing.
#[derive(Debug, Clone)]
pub struct SizeChart {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) panels: Vec<Panel>,
}

/// One workload.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    pub title: String,
    pub title_y: String,
    pub left: f64,
    pub right: f64,
    pub top: String,
    pub plot: f64,
    pub axis_y: String,
    pub band_y: String,
    pub band_height: String,
    pub one_y: String,
    pub across: Vec<Label>,
    pub upwards: Vec<Label>,
    pub legend_x: f64,
    pub series: Vec<Series>,
}

/// A mark on an axis.
#[derive(Debug, Clone)]
pub(crate) struct Label {
    pub at: String,
    pub text_y: String,
    pub text: String,
}

/// One platform and provisioning.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    pub name: String,
    pub class: String,
    pub marks: Vec<Mark>,
    /// Points of the fitted line, if there is one to draw.
    pub curve: Option<String>,
    pub legend_y: String,
    pub brief_y: String,
    pub brief: String,
}

/// A ratio with its interval.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    pub x: String,
    pub y: String,
    pub low: String,
    pub high: String,
    pub title: String,
}

/// Draws all effects; `margin` as a ratio less 1. `None` without any.
pub(crate) fn chart(effects: &[SizeEffect], margin: f64) -> Option<SizeChart> {
    let mut workloads: Vec<&str> = Vec::new();
    for effect in effects {
        if !workloads.contains(&effect.workload.as_str()) {
            workloads.push(&effect.workload);
        }
    }
    let mut y = 0.0;
    let mut panels = Vec::new();
    for workload in workloads {
        let shown: Vec<&SizeEffect> = effects.iter().filter(|e| e.workload == workload).collect();
        panels.extend(panel(&shown, margin, &mut y));
    }
    (!panels.is_empty()).then_some(SizeChart {
        width: WIDTH,
        height: y,
        panels,
    })
}

/// Where CPUs and ratios lie.
struct Axes {
    scale: Scale,
    smallest: f64,
    largest: f64,
    top: f64,
}

impl Axes {
    fn of(effects: &[&SizeEffect], margin: f64, top: f64) -> Self {
        let points = || effects.iter().flat_map(|e| &e.sizes);
        let ratios: Vec<_> = points().filter_map(|p| p.ratio).collect();
        Self {
            scale: Scale::around(&ratios, margin, (top + PLOT, top)),
            smallest: points().map(|p| p.cpus).fold(f64::INFINITY, f64::min),
            largest: points().map(|p| p.cpus).fold(0.0, f64::max),
            top,
        }
    }

    /// CPUs by their logs: sizes mostly double.
    fn x(&self, cpus: f64) -> f64 {
        let share = (cpus / self.smallest).ln() / (self.largest / self.smallest).ln();
        LEFT + AIR + share * (RIGHT - LEFT - 2.0 * AIR)
    }

    fn y(&self, ratio: f64) -> f64 {
        self.scale.at(ratio)
    }
}

fn panel(effects: &[&SizeEffect], margin: f64, y: &mut f64) -> Option<Panel> {
    let first = effects.first()?;
    let top = *y + TITLE;
    let axes = Axes::of(effects, margin, top);
    let entries = effects.iter().fold(0.0, |height, _| height + LEGEND);
    let bottom = top + PLOT;
    *y = (bottom + AXIS).max(top + entries);
    let (band_top, band_bottom) = (axes.y(1.0 + margin), axes.y(1.0 / (1.0 + margin)));
    Some(Panel {
        title: format!("{} {}{}", first.workload, first.metric, axes.scale.note()),
        title_y: px(top - 12.0),
        left: LEFT,
        right: RIGHT,
        top: px(top),
        plot: PLOT,
        axis_y: px(bottom + 32.0),
        band_y: px(band_top),
        band_height: px((band_bottom - band_top).max(1.0)),
        one_y: px(axes.y(1.0)),
        across: across(first, &axes, bottom),
        upwards: upwards(&axes),
        legend_x: RIGHT + 14.0,
        series: effects
            .iter()
            .enumerate()
            .zip(0_u32..)
            .map(|((i, effect), n)| series(effect, i, n, effects.len(), &axes))
            .collect(),
    })
}

fn across(effect: &SizeEffect, axes: &Axes, bottom: f64) -> Vec<Label> {
    let label = |point: &SizePoint| Label {
        at: px(axes.x(point.cpus)),
        text_y: px(bottom + 16.0),
        text: sizes::tick(point),
    };
    effect.sizes.iter().map(label).collect()
}

fn upwards(axes: &Axes) -> Vec<Label> {
    let label = |(value, text)| Label {
        at: px(axes.y(value)),
        text_y: px(axes.y(value) + 4.0),
        text,
    };
    axes.scale.marks().into_iter().map(label).collect()
}

fn series(effect: &SizeEffect, i: usize, n: u32, of: usize, axes: &Axes) -> Series {
    let of = u32::try_from(of).unwrap_or(n + 1);
    let offset = (f64::from(n) - f64::from(of - 1) / 2.0) * APART.min(AIR / f64::from(of));
    let mark = |point: &SizePoint| {
        let ratio = point.ratio?;
        Some(Mark {
            x: px(axes.x(point.cpus) + offset),
            y: px(axes.y(ratio.value)),
            low: px(axes.y(ratio.low)),
            high: px(axes.y(ratio.high)),
            title: format!(
                "{}, {}: {}, n = {}",
                sizes::label(effect),
                sizes::size(point),
                ratio_with_interval(ratio.value, ratio.low, ratio.high),
                effect.n
            ),
        })
    };
    let legend = axes.top + 12.0 + LEGEND * f64::from(n);
    Series {
        name: super::shortened(&sizes::label(effect), LETTERS),
        class: format!("series-{}", i % COLOURS),
        marks: effect.sizes.iter().filter_map(mark).collect(),
        curve: curve(effect, axes),
        legend_y: px(legend),
        brief_y: px(legend + 14.0),
        brief: sizes::brief(effect),
    }
}

/// The fitted line from the smallest to the largest size.
fn curve(effect: &SizeEffect, axes: &Axes) -> Option<String> {
    let (pto, pso) = effect.fit.drawn?;
    let point = |i: u32| {
        let share = f64::from(i) / f64::from(STEPS);
        let cpus = axes.smallest * (axes.largest / axes.smallest).powf(share);
        format!("{},{}", px(axes.x(cpus)), px(axes.y(1.0 + pto + pso / cpus)))
    };
    Some((0..=STEPS).map(point).collect::<Vec<_>>().join(" "))
}
