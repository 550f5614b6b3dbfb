//! The ratio chart: one panel per workload with its own scale, a point with its
//! interval per kind of box, the margin as a band around 1. Geometry only; the
//! template `chart.html` draws it.

use crate::analysis::Comparison;
use crate::show::{MISSING, or_missing, ratio, ratio_with_interval};

/// Columns of the drawing, in its own units.
const LEFT: f64 = 215.0;
const RIGHT: f64 = 640.0;
const WIDTH: f64 = 880.0;
/// Heights.
const ROW: f64 = 24.0;
const TITLE: f64 = 40.0;
const AXIS: f64 = 26.0;

/// From this ratio of the ends on, a scale is logarithmic.
const LOG_FROM: f64 = 3.0;

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
        label: comparison.cell.kind.to_string(),
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

/// Coordinates to a tenth of a unit.
fn px(value: f64) -> String {
    format!("{value:.1}")
}

/// The horizontal axis of a panel.
struct Scale {
    low: f64,
    high: f64,
    log: bool,
}

impl Scale {
    /// A scale that holds every interval, 1 and the margin. An interval that
    /// reaches more than ten times beyond all figures is cut there.
    fn of(comparisons: &[&Comparison], margin: f64) -> Self {
        let paired = comparisons.iter().filter_map(|c| c.primary()?.paired.as_ref());
        let ratios: Vec<_> = paired.map(|p| p.ratio).collect();
        let band = if margin.is_finite() && margin > 0.0 {
            margin
        } else {
            0.0
        };
        let values = ratios.iter().map(|r| r.value);
        let (mut low, mut high) = ends(values, 1.0 / (1.0 + band), 1.0 + band);
        let bounds = (low / 10.0, high * 10.0);
        let all = ratios.iter().flat_map(|r| [r.low, r.high]);
        (low, high) = ends(all, low, high);
        (low, high) = (low.max(bounds.0), high.min(bounds.1));
        Self::padded(low, high)
    }

    /// The scale with air on both sides.
    fn padded(low: f64, high: f64) -> Self {
        let log = high / low > LOG_FROM;
        let (low, high) = if log {
            let air = (high / low).powf(0.04);
            (low / air, high * air)
        } else {
            let air = (high - low).max(0.01) * 0.06;
            (low - air, high + air)
        };
        Self { low, high, log }
    }

    fn x(&self, value: f64) -> f64 {
        let share = if self.log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        // A logarithm of nought or less lies beyond the left end.
        let share = if share.is_nan() {
            0.0
        } else {
            share.clamp(0.0, 1.0)
        };
        LEFT + share * (RIGHT - LEFT)
    }

    fn note(&self) -> &'static str {
        if self.log { " (log scale)" } else { "" }
    }

    fn ticks(&self) -> Vec<Tick> {
        let values = if self.log {
            log_ticks(self.low, self.high)
        } else {
            linear_ticks(self.low, self.high)
        };
        values
            .into_iter()
            .map(|v| Tick {
                x: px(self.x(v)),
                label: tick_label(v),
            })
            .collect()
    }
}

fn ends(values: impl Iterator<Item = f64>, low: f64, high: f64) -> (f64, f64) {
    values
        .filter(|v| v.is_finite() && *v > 0.0)
        .fold((low, high), |(low, high), v| (low.min(v), high.max(v)))
}

fn tick_label(value: f64) -> String {
    if !(0.001..1000.0).contains(&value) {
        return format!("{value:e}");
    }
    let label = ratio(value);
    label.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Multiples of 1, 2 or 5 times a power of ten, so wide apart that at most
/// seven fit.
fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 6.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or(rough);
    let first = (low / step).ceil();
    (0..8)
        .map(|i| (first + f64::from(i)) * step)
        .filter(|v| *v <= high)
        .collect()
}

/// Powers of ten with 2 and 5 between them, thinned to about eight.
fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = (low.log10().floor(), high.log10().ceil());
    let mut ticks = Vec::new();
    let mut power = decades.0;
    while power <= decades.1 {
        ticks.extend([1.0, 2.0, 5.0].map(|factor| factor * 10f64.powf(power)));
        power += ((decades.1 - decades.0) / 8.0).ceil().max(1.0);
    }
    ticks.retain(|v| low <= *v && *v <= high);
    if ticks.len() > 8 {
        ticks.retain(|v| (v.log10() - v.log10().round()).abs() < 1e-9);
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_within_the_scale() {
        let labels = |values: Vec<f64>| values.into_iter().map(tick_label).collect::<Vec<_>>();
        assert_eq!(
            labels(linear_ticks(0.98, 1.06)),
            ["0.98", "1", "1.02", "1.04", "1.06"]
        );
        assert_eq!(labels(log_ticks(0.9, 35.0)), ["1", "2", "5", "10", "20"]);
        assert!(log_ticks(1e-200, 1e200).len() <= 9);
    }

    #[test]
    fn a_scale_is_logarithmic_where_ratios_lie_far_apart() {
        assert!(!Scale::padded(0.9, 2.6).log);
        let wide = Scale::padded(0.99, 32.0);
        assert!(wide.log);
        assert!(wide.x(1.0) < wide.x(2.0) && wide.x(32.0) <= RIGHT);
    }

    #[test]
    fn whatever_lies_beyond_the_scale_is_drawn_at_its_end() {
        let scale = Scale::padded(0.5, 32.0);
        assert!((scale.x(-1.0) - LEFT).abs() < 1e-9);
        assert!((scale.x(0.0) - LEFT).abs() < 1e-9);
        assert!((scale.x(1e300) - RIGHT).abs() < 1e-9);
    }
}
