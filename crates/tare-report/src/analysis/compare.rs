//! Every cell against its baselines.

use super::comparison::Comparison;
use super::trials::{CellTrials, Trials};
use super::{carry_over, margin, pairing};
use tare_model::study::{Against, Study};

/// Every cell against its baselines, in the order of the study; `native` first.
pub(crate) fn all(study: &Study, trials: &Trials) -> Vec<Comparison> {
    let against = |against| {
        let compared = move |cell: &CellTrials| compare(study, trials, cell, against);
        trials.cells.iter().filter_map(compared)
    };
    against(Against::Native)
        .chain(against(Against::NativeSet))
        .collect()
}

fn compare(study: &Study, trials: &Trials, cell: &CellTrials, against: Against) -> Option<Comparison> {
    let baseline = trials.get(&study.baseline_cell(&cell.cell, against)?)?;
    let own = cell.of_own_comparisons();
    let baseline = &*baseline.for_comparisons_of(cell);
    let compared = |metric| pairing::compare(metric, &own, baseline, study);
    let primary = cell.metrics.iter().find(|m| m.primary);
    let carried = primary.map(|metric| carry_over::find(metric, &own, baseline, margin(study)));
    Some(Comparison {
        cell: cell.cell.clone(),
        against,
        baseline: baseline.cell.clone(),
        metrics: cell.metrics.iter().map(compared).collect(),
        carry_over: carried.unwrap_or_default(),
    })
}
