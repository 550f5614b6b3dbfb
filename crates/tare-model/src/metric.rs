//! Metrics, their units and which direction is better.

use serde::{Deserialize, Serialize};

/// Unit of a metric. Values are stored in these base units, unrounded, and are
/// scaled only when printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Seconds.
    #[serde(rename = "s")]
    Second,
    /// Bytes.
    #[serde(rename = "B")]
    Byte,
    /// Bytes per second.
    #[serde(rename = "B/s")]
    BytePerSecond,
    /// Floating-point operations per second.
    #[serde(rename = "flop/s")]
    FlopPerSecond,
    /// A plain number.
    #[serde(rename = "1")]
    One,
}

impl Unit {
    /// A value of this unit for people, with an SI prefix: `12.3 GB/s`, `104 ns`.
    pub fn show(self, value: f64) -> String {
        let symbol = match self {
            Self::Second => "s",
            Self::Byte => "B",
            Self::BytePerSecond => "B/s",
            Self::FlopPerSecond => "flop/s",
            Self::One => return format!("{value:.4}"),
        };
        if value == 0.0 || !value.is_finite() {
            return format!("{value} {symbol}");
        }
        const PREFIXES: [(f64, &str); 7] = [
            (1e12, "T"),
            (1e9, "G"),
            (1e6, "M"),
            (1e3, "k"),
            (1.0, ""),
            (1e-3, "m"),
            (1e-6, "u"),
        ];
        let magnitude = value.abs();
        let (scale, prefix) = PREFIXES
            .iter()
            .copied()
            .find(|(scale, _)| magnitude >= *scale)
            .unwrap_or((1e-9, "n"));
        let scaled = value / scale;
        let decimals = match scaled.abs() {
            x if x >= 99.95 => 1,
            x if x >= 9.995 => 2,
            _ => 3,
        };
        format!("{scaled:.decimals$} {prefix}{symbol}")
    }
}

/// Which direction of a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// More is better (rates).
    Higher,
    /// Less is better (times).
    Lower,
}

impl Direction {
    /// The loss in logs, d: the log of a figure over its baseline's, with its sign
    /// turned so that positive is worse. Only positive finite figures have one.
    pub fn loss_in_logs(self, figure: f64, baseline: f64) -> Option<f64> {
        // Each by itself: the quotient of two ordinary numbers may overflow.
        let log = |x: f64| (x > 0.0 && x.is_finite()).then(|| x.ln());
        let ratio = log(figure)? - log(baseline)?;
        Some(match self {
            Self::Lower => ratio,
            Self::Higher => -ratio,
        })
    }

    /// The loss: what of the baseline's figure is lost. (M - B) / B for times,
    /// (B - M) / B for rates, so that positive is worse; absent without a
    /// positive baseline.
    pub fn loss(self, figure: f64, baseline: f64) -> Option<f64> {
        let excess = (figure - baseline) / baseline;
        (baseline > 0.0 && excess.is_finite()).then_some(match self {
            Self::Lower => excess,
            Self::Higher => -excess,
        })
    }
}

/// What a workload yields one sample of per trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metric {
    /// The metric's name within its workload, such as `triad`.
    pub name: String,
    /// The unit its values are stored in.
    pub unit: Unit,
    /// Which direction is better.
    pub direction: Direction,
    /// Whether this metric carries the workload's verdict.
    pub primary: bool,
}

impl Metric {
    /// A metric; exactly one of a workload is primary.
    pub fn new(name: &str, unit: Unit, direction: Direction, primary: bool) -> Self {
        Self {
            name: name.to_owned(),
            unit,
            direction,
            primary,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_positive_where_it_is_worse() {
        let loss = |direction: Direction, figure| direction.loss_in_logs(figure, 2.0);
        assert_eq!(loss(Direction::Lower, 4.0), Some(2_f64.ln()));
        assert_eq!(loss(Direction::Higher, 4.0), Some(-(2_f64.ln())));
        assert_eq!(loss(Direction::Lower, 0.0), None);
        assert_eq!(loss(Direction::Lower, f64::INFINITY), None);
    }

    #[test]
    fn a_loss_is_a_share_of_the_baseline() {
        assert_eq!(Direction::Lower.loss(3.0, 2.0), Some(0.5));
        assert_eq!(Direction::Higher.loss(1.0, 2.0), Some(0.5));
        assert_eq!(Direction::Lower.loss(1.0, 0.0), None);
        assert_eq!(Direction::Lower.loss(f64::NAN, 1.0), None);
    }

    #[test]
    fn values_are_scaled_only_for_people() {
        assert_eq!(Unit::BytePerSecond.show(12.345e9), "12.35 GB/s");
        assert_eq!(Unit::Second.show(104.23e-9), "104.2 ns");
        assert_eq!(Unit::Second.show(0.0), "0 s");
        assert_eq!(Unit::FlopPerSecond.show(9.9999e9), "10.00 Gflop/s");
    }
}
