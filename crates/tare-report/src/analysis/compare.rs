//! Every cell against its baselines.

use super::comparison::{Against, Comparison};
use super::trials::{CellTrials, Trials};
use super::{margin, pairing};
use tare_model::platform::Provisioning;
use tare_model::study::{BoxKind, Cell, Study};

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
    let baseline = trials.get(&baseline(study, &cell.cell, against)?)?;
    let compared = |metric| pairing::compare(metric, cell, baseline, margin(study));
    Some(Comparison {
        cell: cell.cell.clone(),
        against,
        baseline: baseline.cell.clone(),
        metrics: cell.metrics.iter().map(compared).collect(),
    })
}

/// The cell that `cell` is held against, if it is not itself that cell.
fn baseline(study: &Study, cell: &Cell, against: Against) -> Option<Cell> {
    let kind = match (against, cell.kind.provisioning) {
        (Against::Native, _) => study.baseline_of(&cell.kind),
        (Against::NativeSet, Provisioning::Vanilla) => BoxKind {
            provisioning: Provisioning::Pinned,
            ..study.baseline_of(&cell.kind)
        },
        (Against::NativeSet, Provisioning::Pinned) => return None,
    };
    (kind != cell.kind).then(|| Cell {
        kind,
        workload: cell.workload.clone(),
    })
}
