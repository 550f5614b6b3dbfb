//! The horizontal axis of a panel.

use super::px;
use crate::show::ratio;
use tare_analysis::Estimate;

/// From this ratio of the ends on, a scale is logarithmic.
const LOG_FROM: f64 = 3.0;
/// No scale reaches beyond this ratio or below its inverse: the ratio of its
/// ends, and the air around them, are finite numbers then.
const FARTHEST: f64 = 1e100;

/// A range of ratios, drawn evenly or by their logs.
pub(super) struct Scale {
    low: f64,
    high: f64,
    log: bool,
    /// Where its ends lie.
    ends: (f64, f64),
}

/// A mark on the axis.
#[derive(Debug, Clone)]
pub(crate) struct Tick {
    pub x: String,
    pub label: String,
}

impl Scale {
    /// A scale from `ends.0` to `ends.1` that holds the intervals of these ratios, 1 and the
    /// margin. An interval that reaches more than ten times beyond all figures is cut there.
    pub fn around(ratios: &[Estimate], margin: f64, ends_at: (f64, f64)) -> Self {
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
        Self::padded(low, high, ends_at)
    }

    /// The scale with air on both sides.
    fn padded(low: f64, high: f64, ends: (f64, f64)) -> Self {
        let log = high / low > LOG_FROM;
        let (low, high) = if log {
            let air = (high / low).powf(0.04);
            (low / air, high * air)
        } else {
            let air = (high - low).max(0.01) * 0.06;
            (low - air, high + air)
        };
        Self { low, high, log, ends }
    }

    /// Where a ratio lies.
    pub fn at(&self, value: f64) -> f64 {
        let (from, to) = self.ends;
        from + self.share(value) * (to - from)
    }

    /// Where a ratio lies between the ends, 0 to 1.
    pub fn share(&self, value: f64) -> f64 {
        let share = if self.log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        // A logarithm of nought or less lies beyond the left end.
        if share.is_nan() {
            0.0
        } else {
            share.clamp(0.0, 1.0)
        }
    }

    pub fn note(&self) -> &'static str {
        if self.log { " (log scale)" } else { "" }
    }

    pub fn ticks(&self) -> Vec<Tick> {
        let tick = |(value, label)| Tick {
            x: px(self.at(value)),
            label,
        };
        self.marks().into_iter().map(tick).collect()
    }

    /// As many as have room where a scale is short.
    pub fn few_ticks(&self) -> Vec<Tick> {
        let ticks = self.ticks();
        let each = ticks.len().div_ceil(4).max(1);
        ticks.into_iter().step_by(each).collect()
    }

    /// Round ratios within the scale, with their labels.
    pub fn marks(&self) -> Vec<(f64, String)> {
        let values = if self.log {
            log_ticks(self.low, self.high)
        } else {
            linear_ticks(self.low, self.high)
        };
        values.into_iter().map(|v| (v, tick_label(v))).collect()
    }
}

/// Round figures between two others, evenly spread or by powers of ten.
pub(super) fn round_figures(low: f64, high: f64) -> Vec<f64> {
    if high / low > LOG_FROM {
        log_ticks(low, high)
    } else {
        linear_ticks(low, high)
    }
}

fn ends(values: impl Iterator<Item = f64>, low: f64, high: f64) -> (f64, f64) {
    values
        .filter(|v| v.is_finite() && *v > 0.0)
        .chain([low, high])
        .map(|v| v.clamp(1.0 / FARTHEST, FARTHEST))
        .fold((FARTHEST, 1.0 / FARTHEST), |(low, high), v| {
            (low.min(v), high.max(v))
        })
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

    const LEFT: f64 = 100.0;
    const RIGHT: f64 = 400.0;

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
        assert!(!Scale::padded(0.9, 2.6, (LEFT, RIGHT)).log);
        let wide = Scale::padded(0.99, 32.0, (LEFT, RIGHT));
        assert!(wide.log);
        assert!(wide.at(1.0) < wide.at(2.0) && wide.at(32.0) <= RIGHT);
    }

    #[test]
    fn a_scale_of_any_figures_has_finite_ends() {
        let (low, high) = ends([5e-324, f64::MAX].into_iter(), 0.99, f64::MAX);
        let scale = Scale::padded(low / 10.0, high * 10.0, (LEFT, RIGHT));
        assert!(scale.low > 0.0 && scale.high.is_finite());
        assert!(scale.ticks().len() <= 9);
    }

    #[test]
    fn whatever_lies_beyond_the_scale_is_drawn_at_its_end() {
        let scale = Scale::padded(0.5, 32.0, (LEFT, RIGHT));
        assert!((scale.at(-1.0) - LEFT).abs() < 1e-9);
        assert!((scale.at(0.0) - LEFT).abs() < 1e-9);
        assert!((scale.at(1e300) - RIGHT).abs() < 1e-9);
    }
}
