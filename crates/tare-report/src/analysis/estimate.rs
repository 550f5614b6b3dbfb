//! A figure with its interval, as every table has it.

use serde::Serialize;
use tare_stats::Interval;

/// A figure with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Estimate {
    pub(crate) fn new(value: f64, interval: Interval) -> Option<Self> {
        let Interval { low, high } = interval;
        let all_finite = value.is_finite() && low.is_finite() && high.is_finite();
        all_finite.then_some(Self { value, low, high })
    }

    /// A ratio from its logarithm and the interval of that.
    pub(crate) fn of_logs(value: f64, interval: Interval) -> Option<Self> {
        let interval = Interval {
            low: interval.low.exp(),
            high: interval.high.exp(),
        };
        Self::new(value.exp(), interval)
    }
}
