//! A figure with its interval, as every table has it.

use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Ordering;
use tare_stats::{Interval, LEVEL, amount_interval, mean};

/// The upper end of an interval over its lower one from which on it says nothing: neither a third
/// of the cost nor three times as much is ruled out.
const SAYS_NOTHING: f64 = 10.0;

/// A figure with its interval.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Estimate {
    /// The cost of what costs are held against.
    pub(crate) const ONE: Self = Self {
        value: 1.0,
        low: 1.0,
        high: 1.0,
    };

    /// On which side of another it lies; absent where their intervals meet.
    pub(crate) fn beside(self, other: Self) -> Option<Ordering> {
        if self.high < other.low {
            Some(Ordering::Less)
        } else {
            (self.low > other.high).then_some(Ordering::Greater)
        }
    }

    /// The same cost; `None` if its interval says nothing: it contains 1, and its ends are over
    /// [`SAYS_NOTHING`] apart.
    pub(crate) fn if_telling(self) -> Option<Self> {
        let contains_1 = self.low <= 1.0 && 1.0 <= self.high;
        (!contains_1 || self.high <= SAYS_NOTHING * self.low).then_some(self)
    }

    pub(crate) fn new(value: f64, interval: Interval) -> Option<Self> {
        let Interval { low, high } = interval;
        let all_finite = value.is_finite() && low.is_finite() && high.is_finite();
        all_finite.then_some(Self { value, low, high })
    }

    /// The mean of some values with its 95 % interval, which is not below 0 where none of them is.
    pub(crate) fn of_mean(values: &[f64]) -> Option<Self> {
        Self::new(mean(values)?, amount_interval(values, LEVEL)?)
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
