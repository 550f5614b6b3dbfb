//! The order of trials, drawn from the study's seed: randomised complete blocks.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use tare_model::study::{BoxKind, Cell, Fresh, Study};

/// One trial of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedTrial {
    /// Number within the plan, from 0.
    pub trial: u32,
    /// Block, from 0.
    pub block: u32,
    /// What runs where.
    pub cell: Cell,
}

/// Trials that share one box, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// The kind of box.
    pub kind: BoxKind,
    /// Its trials.
    pub trials: Vec<PlannedTrial>,
}

/// The visits of a block in their order: the kinds of box in random order, and
/// in each its workloads in random order. With a new box per trial, the order
/// of all cells is random.
pub fn block(study: &Study, block: u32) -> Vec<Visit> {
    let mut rng = ChaCha8Rng::seed_from_u64(study.seed);
    // A stream per block: the order of one does not hang on how many came before.
    rng.set_stream(u64::from(block));
    let mut groups: Vec<Vec<Cell>> = match study.fresh {
        Fresh::Trial => study.cells().into_iter().map(|cell| vec![cell]).collect(),
        Fresh::Block | Fresh::Study => study
            .box_kinds()
            .iter()
            .map(|kind| cells_of(study, kind))
            .collect(),
    };
    groups.shuffle(&mut rng);
    groups.iter_mut().for_each(|cells| cells.shuffle(&mut rng));
    number(block, groups)
}

fn cells_of(study: &Study, kind: &BoxKind) -> Vec<Cell> {
    let cell = |w: &tare_model::study::Workload| Cell {
        kind: kind.clone(),
        workload: w.name().to_owned(),
    };
    study.workloads.iter().map(cell).collect()
}

fn number(block: u32, groups: Vec<Vec<Cell>>) -> Vec<Visit> {
    let cells: usize = groups.iter().map(Vec::len).sum();
    let mut next = block * u32::try_from(cells).unwrap_or(u32::MAX);
    let mut visit = |cells: Vec<Cell>| {
        let kind = cells[0].kind.clone();
        let planned = |cell| {
            next += 1;
            PlannedTrial {
                trial: next - 1,
                block,
                cell,
            }
        };
        Visit {
            kind,
            trials: cells.into_iter().map(planned).collect(),
        }
    };
    groups
        .into_iter()
        .filter(|cells| !cells.is_empty())
        .map(&mut visit)
        .collect()
}

/// Trials in each block.
pub fn trials_per_block(study: &Study) -> u32 {
    u32::try_from(study.cells().len()).unwrap_or(u32::MAX)
}

/// What a run is expected to take, before anything was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Trials.
    pub trials: u32,
    /// Boxes to be made.
    pub boxes: u32,
    /// Wall time in seconds.
    pub seconds: f64,
    /// Size of the results file in bytes.
    pub bytes: u64,
}

/// What a platform's boxes cost in time, as far as is known beforehand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoxCost {
    /// Seconds to make one, and until the host is quiet again.
    pub launch_seconds: f64,
    /// Length of a trial over its aim.
    pub stretch: f64,
}

/// Seconds to prove the limits of one kind of box.
const PROOF_SECONDS: f64 = 3.0;
/// Seconds per trial beside its aim: process, check, settling.
const TRIAL_OVERHEAD_SECONDS: f64 = 0.05;
/// Bytes per trial in the results file.
const TRIAL_BYTES: u64 = 2500;

/// Estimates what the study takes.
pub fn cost(study: &Study, box_cost: impl Fn(&BoxKind) -> BoxCost) -> Cost {
    let trials = trials_per_block(study).saturating_mul(study.blocks);
    let per_kind = |kind: &BoxKind| {
        let cost = box_cost(kind);
        let workloads = f64::from(u32::try_from(study.workloads.len()).unwrap_or(u32::MAX));
        let launches = match study.fresh {
            Fresh::Trial => f64::from(study.blocks) * workloads,
            Fresh::Block => f64::from(study.blocks),
            Fresh::Study => 1.0,
        };
        let trial = study.trial_seconds * cost.stretch + TRIAL_OVERHEAD_SECONDS;
        (
            launches,
            PROOF_SECONDS + launches * cost.launch_seconds + f64::from(study.blocks) * workloads * trial,
        )
    };
    let kinds: Vec<(f64, f64)> = study.box_kinds().iter().map(per_kind).collect();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    let boxes = kinds.iter().map(|k| k.0).sum::<f64>() as u32;
    let seconds = kinds.iter().map(|k| k.1).sum::<f64>();
    let seconds = study.budget_seconds.map_or(seconds, |budget| seconds.min(budget));
    Cost {
        trials,
        boxes,
        seconds,
        bytes: u64::from(trials) * TRIAL_BYTES,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{Wishes, study};
    use std::collections::BTreeSet;
    use tare_model::host::HostFacts;

    fn example(fresh: Fresh, seed: u64) -> Study {
        let wishes = Wishes {
            platforms: vec!["fake".into(), "fake?cost=2".into(), "fake?cost=3".into()],
            cpus: "1".parse().ok(),
            fresh: Some(fresh),
            seed: Some(seed),
            ..Wishes::default()
        };
        study(
            &wishes,
            &HostFacts {
                memory_bytes: 8 << 30,
                ..HostFacts::default()
            },
        )
        .unwrap()
    }

    #[test]
    fn a_block_holds_every_cell_once_whatever_the_order() {
        for fresh in [Fresh::Trial, Fresh::Block, Fresh::Study] {
            let study = example(fresh, 7);
            let visits = block(&study, 3);
            let cells: BTreeSet<Cell> = visits
                .iter()
                .flat_map(|v| &v.trials)
                .map(|t| t.cell.clone())
                .collect();
            assert_eq!(cells, study.cells().into_iter().collect());
            let numbers: Vec<u32> = visits.iter().flat_map(|v| &v.trials).map(|t| t.trial).collect();
            let first = 3 * trials_per_block(&study);
            assert_eq!(
                numbers,
                (first..first + trials_per_block(&study)).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn the_order_follows_from_the_seed_alone() {
        assert_eq!(
            block(&example(Fresh::Block, 7), 3),
            block(&example(Fresh::Block, 7), 3)
        );
        assert_ne!(
            block(&example(Fresh::Block, 7), 3),
            block(&example(Fresh::Block, 8), 3)
        );
        assert_ne!(
            block(&example(Fresh::Block, 7), 3)[0].trials[0].cell,
            block(&example(Fresh::Block, 7), 5)[0].trials[0].cell
        );
    }
}
