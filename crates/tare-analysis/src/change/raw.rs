//! The change of the figures themselves, baseline and all: confounded with
//! whatever else differed between the runs, and so without a verdict.

use super::cells::{Shared, unlike};
use crate::run::trials::{CellTrials, Trials};
use crate::run::{Estimate, FEWEST_PAIRS};
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::metric::{Direction, Metric};
use tare_model::study::{Cell, Study};
use tare_stats::{Looks, Sample, Welch, autocorrelation, mean, welch};

/// One cell's primary metric, before and after.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct RawChange {
    #[serde(flatten)]
    pub cell: Cell,
    pub metric: Metric,
    pub before: Raw,
    pub after: Raw,
    /// Geometric mean after over that before, so turned that over 1 is worse.
    pub change: Option<Estimate>,
    /// p of Welch's t on the logs, uncorrected.
    pub p: Option<f64>,
}

impl RawChange {
    /// Whether both runs have as many samples as a verdict takes.
    pub fn is_judged(&self) -> bool {
        self.change.is_some() && self.before.n.min(self.after.n) >= FEWEST_PAIRS
    }
}

/// The samples of one run.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Raw {
    /// Samples: one per block.
    pub n: usize,
    /// Mean, in the metric's unit.
    pub mean: Option<f64>,
}

/// Every cell that is the same work in both files, in the order of the second.
pub(super) fn all(
    shared: &Shared,
    studies: (&Study, &Study),
    (before, after): (&Trials, &Trials),
    looks: Looks,
) -> Vec<RawChange> {
    let alike = shared.both.iter().filter(|cell| unlike(studies, cell).is_none());
    let changed = |cell: &Cell| change(before.get(cell)?, after.get(cell)?, looks);
    alike.filter_map(changed).collect()
}

fn change(before: &CellTrials, after: &CellTrials, looks: Looks) -> Option<RawChange> {
    let metric = after.metrics.iter().find(|m| m.primary)?;
    let (first, second) = (before.samples(metric), after.samples(metric));
    let welch = difference(metric, &first, &second, looks.level());
    Some(RawChange {
        cell: after.cell.clone(),
        metric: metric.clone(),
        before: Raw {
            n: first.len(),
            mean: mean(&first),
        },
        after: Raw {
            n: second.len(),
            mean: mean(&second),
        },
        change: welch.and_then(|w| Estimate::of_logs(w.difference, w.interval)),
        p: welch
            .and_then(Welch::p_zero)
            .map(|p| (p * looks.p_factor()).min(1.0)),
    })
}

fn difference(metric: &Metric, before: &[f64], after: &[f64], level: f64) -> Option<Welch> {
    let sample = |values: &[f64]| {
        let sign = match metric.direction {
            Direction::Lower => 1.0,
            Direction::Higher => -1.0,
        };
        // A figure of 0 or less has no logarithm, and Sample refuses what is not finite.
        let logs: Vec<f64> = values.iter().map(|v| sign * v.ln()).collect();
        let widening = autocorrelation(&logs).map_or(1.0, |a| a.widening);
        Sample::of(&logs, widening)
    };
    welch(sample(before)?, sample(after)?, level)
}
