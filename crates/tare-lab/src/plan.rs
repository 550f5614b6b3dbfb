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
    let mut rng = ChaCha8Rng::seed_from_u64(study.protocol.seed);
    // A stream per block: the order of one does not hang on how many came before.
    rng.set_stream(u64::from(block));
    let mut groups: Vec<Vec<Cell>> = match study.protocol.fresh {
        Fresh::Trial => study.cells().into_iter().map(|cell| vec![cell]).collect(),
        Fresh::Block | Fresh::Study => study
            .box_kinds()
            .iter()
            .map(|kind| study.cells_of(kind))
            .collect(),
    };
    groups.shuffle(&mut rng);
    groups.iter_mut().for_each(|cells| cells.shuffle(&mut rng));
    number(block, groups)
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
    /// Blocks: all of them, or about as many as the budget holds.
    pub blocks: u32,
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

/// Estimates what the study takes; an adaptive one at most.
pub fn cost(study: &Study, box_cost: impl Fn(&BoxKind) -> BoxCost) -> Cost {
    let shares: Vec<Share> = study
        .box_kinds()
        .iter()
        .map(|kind| Share::of(study, kind, box_cost(kind)))
        .collect();
    let sum = |of: fn(&Share) -> f64| shares.iter().map(of).sum::<f64>();
    let (once, each) = (sum(|s| s.once_seconds), sum(|s| s.block_seconds));
    // The budget counts from the end of the warm-up; the first block runs all the same.
    let fitting = study.protocol.budget_seconds.map(|budget| (budget - once) / each);
    let blocks = fitting.map_or(study.protocol.blocks, |fitting| {
        study.protocol.blocks.min(count(fitting.max(1.0)))
    });
    let seconds = once + f64::from(blocks) * each;
    let seconds = match study.protocol.budget_seconds {
        Some(budget) if blocks < study.protocol.blocks => budget,
        _ => seconds,
    };
    let trials = trials_per_block(study).saturating_mul(blocks);
    Cost {
        blocks,
        trials,
        boxes: count(sum(|s| s.once_boxes) + f64::from(blocks) * sum(|s| s.block_boxes)),
        seconds: study.protocol.warm_up_seconds + seconds,
        bytes: u64::from(trials) * TRIAL_BYTES,
    }
}

/// What one kind of box takes: in all, and in each block.
struct Share {
    once_seconds: f64,
    once_boxes: f64,
    block_seconds: f64,
    block_boxes: f64,
}

impl Share {
    fn of(study: &Study, kind: &BoxKind, cost: BoxCost) -> Self {
        let cells = f64::from(u32::try_from(study.cells_of(kind).len()).unwrap_or(u32::MAX));
        // Without a cell, no box is made.
        let used = cells.min(1.0);
        let (once_boxes, block_boxes) = match study.protocol.fresh {
            Fresh::Trial => (0.0, cells),
            Fresh::Block => (0.0, used),
            Fresh::Study => (used, 0.0),
        };
        let trial = study.protocol.trial_seconds * cost.stretch
            + TRIAL_OVERHEAD_SECONDS
            + study.protocol.pause_seconds;
        Self {
            once_seconds: used * PROOF_SECONDS + once_boxes * cost.launch_seconds,
            once_boxes,
            block_seconds: block_boxes * cost.launch_seconds + cells * trial,
            block_boxes,
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count: what is too large, or not finite, is cut off"
)]
const fn count(number: f64) -> u32 {
    number as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{ProtocolOptions, Wishes, study};
    use std::collections::BTreeSet;
    use tare_model::host::HostFacts;

    fn example(fresh: Fresh, seed: u64) -> Study {
        let wishes = Wishes {
            platforms: vec!["fake".into(), "fake?cost=2".into(), "fake?cost=3".into()],
            cpus: "1".parse().ok(),
            protocol: ProtocolOptions {
                fresh: Some(fresh),
                seed: Some(seed),
                ..ProtocolOptions::default()
            },
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

    #[test]
    fn a_budget_holds_as_many_blocks_as_fit_and_at_least_one() {
        let mut study = example(Fresh::Block, 7);
        study.protocol.blocks = 1_000_000;
        let box_cost = |_: &BoxKind| BoxCost {
            launch_seconds: 1.0,
            stretch: 1.0,
        };
        study.protocol.budget_seconds = Some(3600.0);
        let cost = super::cost(&study, box_cost);
        // Six kinds: 3 s each for the proof; in each block 1 s and 4 trials of 0.55 s.
        let fitting = (3600.0 - 18.0) / (6.0 * (1.0 + 4.0 * 0.55));
        assert!((f64::from(cost.blocks) - fitting).abs() <= 1.0, "{cost:?}");
        assert_eq!((cost.trials, cost.boxes), (24 * cost.blocks, 6 * cost.blocks));
        study.protocol.budget_seconds = Some(1.0);
        assert_eq!(super::cost(&study, box_cost).blocks, 1);
        study.protocol.budget_seconds = None;
        study.protocol.blocks = 10;
        assert_eq!(super::cost(&study, box_cost).blocks, 10);
    }
}
