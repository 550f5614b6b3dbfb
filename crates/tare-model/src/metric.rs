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
    fn values_are_scaled_only_for_people() {
        assert_eq!(Unit::BytePerSecond.show(12.345e9), "12.35 GB/s");
        assert_eq!(Unit::Second.show(104.23e-9), "104.2 ns");
        assert_eq!(Unit::Second.show(0.0), "0 s");
        assert_eq!(Unit::FlopPerSecond.show(9.9999e9), "10.00 Gflop/s");
    }
}
