//! The losses that a look goes by, one for each block of a comparison: the same ones
//! as those of the report.

use super::Comparison;
use std::collections::{BTreeMap, BTreeSet};
use tare_model::group::GroupRecord;
use tare_model::metric::Metric;
use tare_model::results::{Outcome, TrialRecord};
use tare_model::study::Cell;
use tare_stats::{error_of_typical, typical};

/// What trials and groups tell of the comparisons, so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Losses {
    series: BTreeMap<Cell, Series>,
    /// Typical loss of a comparison, by its number, in a group, and its squared error by the rounds, if there were enough:
    /// the group's number is unique only beside its block.
    typical: BTreeMap<(usize, Ran), Loss>,
}

/// What a block says of a comparison.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loss {
    pub in_logs: f64,
    /// Its squared error by its rounds; `None` of one that has none or too few.
    pub noise: Option<f64>,
}

impl Comparison {
    /// What the slices of a group say of it.
    pub(crate) fn loss_in(&self, group: &GroupRecord) -> Option<Loss> {
        let rounds = group.rounds(&self.cell, &self.baseline, &self.metric.name)?;
        let (costs, beside) = (&rounds.cell.costs, &rounds.baseline.costs);
        Some(Loss {
            in_logs: typical(costs, beside, &rounds.processes)?,
            noise: error_of_typical(costs, beside, &rounds.processes).map(|error| error.powi(2)),
        })
    }
}

/// A group of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ran {
    block: u32,
    group: u32,
}

/// The trials of one cell, by block.
#[derive(Debug, Clone, Default)]
struct Series {
    tried: BTreeSet<u32>,
    /// The last trial that succeeded: its figure of the primary metric, if it has one,
    /// and the group in which it ran in slices.
    used: BTreeMap<u32, (Option<f64>, Option<u32>)>,
}

impl Losses {
    /// Takes in a trial of a cell that is compared by this metric.
    pub fn note(&mut self, trial: &TrialRecord, metric: &Metric) {
        let series = self.series.entry(trial.cell.clone()).or_default();
        series.tried.insert(trial.block);
        if let Outcome::Ok(success) = &trial.outcome {
            let figure = success.samples.get(&metric.name).copied();
            let figure = figure.filter(|value| metric.unit.is_plausible(*value));
            series.used.insert(trial.block, (figure, trial.group));
        }
    }

    /// Takes in a group: of its slices, only the typical losses are kept.
    pub fn note_group(&mut self, group: &GroupRecord, comparisons: &[Comparison]) {
        let ran = Ran {
            block: group.block,
            group: group.group,
        };
        let told = |(number, compared): (usize, &Comparison)| Some(((number, ran), compared.loss_in(group)?));
        self.typical
            .extend(comparisons.iter().enumerate().filter_map(told));
    }

    /// The loss in logs of every block that has one, of the comparison of this number:
    /// the typical one where the cell's trial ran in slices beside its baseline, that of
    /// the two samples elsewhere.
    pub fn of(&self, number: usize, compared: &Comparison) -> BTreeMap<u32, Loss> {
        let baseline = self.series.get(&compared.baseline);
        let of_samples = |block: u32, figure: Option<f64>| {
            let (beside, _) = *baseline?.used.get(&block)?;
            let in_logs = compared.metric.direction.loss_in_logs(figure?, beside?)?;
            Some(Loss { in_logs, noise: None })
        };
        let of_slices = |block, group: Option<u32>| {
            let ran = Ran { block, group: group? };
            self.typical.get(&(number, ran)).copied()
        };
        let used = self.series.get(&compared.cell).into_iter().flat_map(|s| &s.used);
        used.filter_map(|(block, (figure, group))| {
            let loss = of_slices(*block, *group).or_else(|| of_samples(*block, *figure))?;
            Some((*block, loss))
        })
        .collect()
    }

    /// Blocks in which both cells of a comparison were tried.
    pub fn tried(&self, compared: &Comparison) -> BTreeSet<u32> {
        let tried = |cell| self.series.get(cell).map(|series| &series.tried);
        let both = tried(&compared.cell).zip(tried(&compared.baseline));
        both.map(|(cell, baseline)| cell & baseline).unwrap_or_default()
    }
}
