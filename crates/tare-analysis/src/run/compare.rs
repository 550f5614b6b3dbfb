//! Every cell against its baselines.

use super::comparison::{BlockCost, Comparison};
use super::facts::PlatformFacts;
use super::family::Family;
use super::trials::{CellTrials, Trials};
use super::{carry_over, margin, pairing};
use rayon::prelude::*;
use tare_model::finding::Finding;
use tare_model::study::{Against, Study};

/// Every cell against its baselines, in the order of the study; `native` first. On every CPU: of an analysis
/// these take longest.
pub(crate) fn all(study: &Study, trials: &Trials, platforms: &[PlatformFacts]) -> Vec<Comparison> {
    let against = |against| {
        let compared = move |cell: &CellTrials| compare((study, trials, platforms), cell, against);
        trials.cells.par_iter().filter_map(compared)
    };
    against(Against::Native)
        .chain(against(Against::NativeSet))
        .collect()
}

fn compare(
    (study, trials, platforms): (&Study, &Trials, &[PlatformFacts]),
    cell: &CellTrials,
    against: Against,
) -> Option<Comparison> {
    let baseline = trials.get(&study.baseline_cell(&cell.cell, against)?)?;
    let own = cell.of_own_comparisons();
    let baseline = &*baseline.for_comparisons_of(cell);
    let compared = |metric| pairing::compare(metric, &own, baseline, study);
    let carried = cell
        .primary()
        .map(|metric| carry_over::find(metric, &own, baseline, margin(study)));
    Some(Comparison {
        cell: cell.cell.clone(),
        against,
        family: Family::of(&cell.cell, &baseline.cell, against, platforms),
        baseline: baseline.cell.clone(),
        metrics: cell.metrics.iter().map(compared).collect(),
        carry_over: carried.unwrap_or_default(),
        course: course(&own, baseline),
        after_minute: None,
    })
}

/// What the primary metric cost in every block.
fn course(cell: &CellTrials, baseline: &CellTrials) -> Vec<BlockCost> {
    let losses = cell
        .primary()
        .map(|metric| pairing::losses(metric, cell, baseline));
    let findings = |block: u32| {
        let both = [cell, baseline]
            .into_iter()
            .filter_map(|cell| cell.used.get(&block));
        let mut names: Vec<&'static str> = both.flat_map(|used| used.findings).map(Finding::name).collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    let cost = |(block, loss): (u32, f64)| BlockCost {
        block,
        cost: loss.exp(),
        findings: findings(block),
    };
    losses.into_iter().flatten().map(cost).collect()
}
