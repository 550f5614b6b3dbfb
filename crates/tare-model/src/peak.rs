//! What a server answers at most.

use crate::study::Cell;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tare_wire::load::WithinBound;

/// What the baseline answers at most, of which the rates of open loops are shares.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct PeakRecord {
    /// The cell of the baseline.
    #[serde(flatten)]
    pub cell: Cell,
    /// Requests per second in each slice of a closed loop.
    pub rates: Vec<f64>,
    /// How much of that is left within a bound of latencies, where the load has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<WithinBound>,
}

impl PeakRecord {
    /// The median of the slices; with a bound the greatest rate that keeps it. `None` where that
    /// is no positive number.
    pub fn peak(&self) -> Option<f64> {
        let peak = match &self.within {
            Some(within) => within.peak()?,
            None => self.answered()?,
        };
        (peak.is_finite() && peak > 0.0).then_some(peak)
    }

    /// What is answered whatever the latency: the median of the slices.
    pub fn answered(&self) -> Option<f64> {
        median(self.rates.iter().copied())
    }
}

fn median(figures: impl Iterator<Item = f64>) -> Option<f64> {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_wire::load::{Bound, RateTry};

    fn searched(tries: &[(f64, f64, Option<f64>)]) -> Option<f64> {
        let tries = tries.iter().map(|&(rate, achieved, ms)| RateTry {
            rate,
            achieved,
            latency_seconds: ms.map(|ms| ms / 1e3),
        });
        let found = PeakRecord {
            cell: serde_json::from_str(r#"{"platform":"native","provisioning":"pinned","workload":"w"}"#)
                .unwrap(),
            rates: vec![1000.0, 1200.0, 1100.0],
            within: Some(WithinBound {
                bound: Bound {
                    share: 0.99,
                    seconds: 0.01,
                },
                tries: tries.collect(),
            }),
        };
        assert_eq!(found.answered(), Some(1100.0));
        found.peak()
    }

    #[test]
    fn the_peak_within_a_bound_is_the_greatest_rate_that_keeps_it_in_most_tries() {
        let good = |rate| (rate, 1.0, Some(5.0));
        // A lucky try of a rate that does not keep it, and an unlucky one of a rate that does.
        let lucky = [good(1100.0), (1100.0, 1.0, Some(20.0)), (1100.0, 0.9, Some(5.0))];
        let unlucky = [good(550.0), (550.0, 1.0, Some(90.0)), good(550.0)];
        assert_eq!(searched(&[lucky, unlucky].concat()), Some(550.0));
        // Latencies within the bound of an overload, and latencies that cannot be told.
        assert_eq!(searched(&[(1100.0, 0.98, Some(5.0))]), None);
        assert_eq!(searched(&[(1100.0, 1.0, None)]), None);
        assert_eq!(searched(&[]), None);
    }
}
