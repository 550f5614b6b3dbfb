//! The order of trials, drawn from the study's seed: randomised complete blocks.
//!
//! A block is a row of *cohorts*: boxes that stand side by side, and the groups of
//! trials that run in them. In slices, a group is all cells of one workload; in one
//! piece, it is one trial, and a cohort is one box.

mod cohorts;
mod cost;

pub use cohorts::{Room, SideBySide, kept, largest_cell, side_by_side};
pub use cost::{BoxCost, Cost, ROUNDS_FOR_TWO, cost};

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

/// Trials that run at the same time, slice by slice, or one trial by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub trials: Vec<PlannedTrial>,
    /// Cells that run beside them as their baselines, while their own trials are
    /// those of another group of the block.
    pub shadow_baselines: Vec<Cell>,
}

/// Boxes that stand side by side, and what runs in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cohort {
    /// The kinds of box, in the order in which boxes are made.
    pub kinds: Vec<BoxKind>,
    /// What runs, in its order.
    pub groups: Vec<Group>,
}

impl Cohort {
    /// The trials of all groups.
    pub fn trials(&self) -> impl Iterator<Item = &PlannedTrial> {
        self.groups.iter().flat_map(|group| &group.trials)
    }
}

/// The cohorts of a block in their order. In slices: the sets of kinds of box that the
/// host's memory holds at a time, and in each the workloads in random order. Else the
/// kinds in random order, and in each its workloads in random order; with a new box
/// per trial, the order of all cells is random.
pub fn block(study: &Study, room: Room, block: u32) -> Vec<Cohort> {
    let mut rng = ChaCha8Rng::seed_from_u64(study.protocol.seed);
    // A stream per block: the order of one does not hang on how many came before.
    rng.set_stream(u64::from(block));
    let mut cohorts = if study.protocol.slicing.is_off() {
        one_by_one(study, &mut rng)
    } else {
        cohorts::sliced(study, room, &mut rng)
    };
    number(block, trials_per_block(study), &mut cohorts);
    cohorts
}

/// A block in which all cells of a study run side by side in one group, whatever their
/// workloads: boxes are made, and trials begun, in random order.
pub fn together(study: &Study, block: u32) -> Vec<Cohort> {
    let mut rng = ChaCha8Rng::seed_from_u64(study.protocol.seed);
    rng.set_stream(u64::from(block));
    let mut cells = study.cells();
    cells.shuffle(&mut rng);
    let mut kinds: Vec<BoxKind> = study.box_kinds();
    kinds.retain(|kind| cells.iter().any(|cell| cell.kind == *kind));
    kinds.shuffle(&mut rng);
    let mut cohorts = vec![Cohort {
        kinds,
        groups: vec![Group::of(cells, Vec::new())],
    }];
    number(block, trials_per_block(study), &mut cohorts);
    cohorts
}

fn one_by_one(study: &Study, rng: &mut ChaCha8Rng) -> Vec<Cohort> {
    let mut rows: Vec<Vec<Cell>> = match study.protocol.fresh {
        Fresh::Trial => study.cells().into_iter().map(|cell| vec![cell]).collect(),
        Fresh::Block | Fresh::Study => study
            .box_kinds()
            .iter()
            .map(|kind| study.cells_of(kind))
            .filter(|cells| !cells.is_empty())
            .collect(),
    };
    rows.shuffle(rng);
    rows.iter_mut().for_each(|cells| cells.shuffle(rng));
    let cohort = |cells: Vec<Cell>| Cohort {
        kinds: vec![cells[0].kind.clone()],
        groups: cells
            .into_iter()
            .map(|cell| Group::of(vec![cell], Vec::new()))
            .collect(),
    };
    rows.into_iter().map(cohort).collect()
}

impl Group {
    /// Trials that are not numbered yet.
    fn of(cells: Vec<Cell>, shadow_baselines: Vec<Cell>) -> Self {
        let planned = |cell| PlannedTrial {
            trial: 0,
            block: 0,
            cell,
        };
        Self {
            trials: cells.into_iter().map(planned).collect(),
            shadow_baselines,
        }
    }
}

/// Numbers the trials of a block in their order.
fn number(block: u32, per_block: u32, cohorts: &mut [Cohort]) {
    let groups = cohorts.iter_mut().flat_map(|cohort| &mut cohort.groups);
    let trials = groups.flat_map(|group| &mut group.trials);
    for (trial, number) in trials.zip(block * per_block..) {
        (trial.trial, trial.block) = (number, block);
    }
}

/// Trials in each block.
pub fn trials_per_block(study: &Study) -> u32 {
    u32::try_from(study.cells().len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{ProtocolOptions, StudyRequest, study};
    use std::collections::BTreeSet;
    use tare_model::host::HostFacts;

    const ROOM: Room = Room::UNBOUNDED;

    fn example(fresh: Fresh, seed: u64) -> Study {
        let wishes = StudyRequest {
            platforms: vec!["fake".into(), "fake?cost=2".into(), "fake?cost=3".into()],
            cpus: "1".parse().ok(),
            protocol: ProtocolOptions {
                fresh: Some(fresh),
                seed: Some(seed),
                ..ProtocolOptions::default()
            },
            ..StudyRequest::default()
        };
        study(
            &wishes,
            &HostFacts {
                memory_bytes: 16 << 30,
                ..HostFacts::default()
            },
        )
        .unwrap()
    }

    #[test]
    fn a_block_holds_every_cell_once_whatever_the_order() {
        for fresh in [Fresh::Trial, Fresh::Block, Fresh::Study] {
            let study = example(fresh, 7);
            let cohorts = block(&study, ROOM, 3);
            let trials = || cohorts.iter().flat_map(Cohort::trials);
            let cells: BTreeSet<Cell> = trials().map(|t| t.cell.clone()).collect();
            assert_eq!(cells, study.cells().into_iter().collect());
            let numbers: Vec<u32> = trials().map(|t| t.trial).collect();
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
            block(&example(Fresh::Block, 7), ROOM, 3),
            block(&example(Fresh::Block, 7), ROOM, 3)
        );
        assert_ne!(
            block(&example(Fresh::Block, 7), ROOM, 3),
            block(&example(Fresh::Block, 8), ROOM, 3)
        );
        assert_ne!(
            block(&example(Fresh::Block, 7), ROOM, 3)[0].groups[0].trials[0].cell,
            block(&example(Fresh::Block, 7), ROOM, 5)[0].groups[0].trials[0].cell
        );
    }

    #[test]
    fn together_all_cells_are_of_one_group_in_an_order_of_the_seed() {
        let study = example(Fresh::Block, 7);
        let order = |block| together(&study, block)[0].groups[0].trials.clone();
        let numbers: Vec<u32> = order(3).iter().map(|t| t.trial).collect();
        let first = 3 * trials_per_block(&study);
        assert_eq!(
            numbers,
            (first..first + trials_per_block(&study)).collect::<Vec<_>>()
        );
        assert_eq!(together(&study, 3), together(&study, 3));
        assert_ne!(order(3)[0].cell, order(4)[0].cell);
        assert_ne!(together(&study, 3)[0].kinds, together(&study, 4)[0].kinds);
    }

    #[test]
    fn a_budget_holds_as_many_blocks_as_fit_and_at_least_one() {
        let mut study = example(Fresh::Block, 7);
        study.protocol.blocks = 1_000_000;
        study.protocol.blocks_before_budget = 0;
        let box_cost = |_: &BoxKind| BoxCost {
            launch_seconds: 1.0,
            stretch: 1.0,
        };
        study.protocol.budget_seconds = Some(3600.0);
        let cost = super::cost(&study, ROOM, box_cost);
        // Six kinds: 3 s each for the proof; in each block 1 s and 4 trials of 0.6 s, each with
        // two processes.
        let fitting = (3600.0 - 18.0) / (6.0 * (1.0 + 4.0 * 0.6));
        assert!((f64::from(cost.blocks) - fitting).abs() <= 1.0, "{cost:?}");
        assert_eq!((cost.trials, cost.boxes), (24 * cost.blocks, 6 * cost.blocks));
        study.protocol.budget_seconds = Some(1.0);
        assert_eq!(super::cost(&study, ROOM, box_cost).blocks, 1);
        // Those that a budget does not cut off run, however long they take.
        study.protocol.blocks_before_budget = 10;
        let cost = super::cost(&study, ROOM, box_cost);
        assert!(cost.blocks == 10 && cost.seconds > 200.0, "{cost:?}");
        study.protocol.budget_seconds = None;
        study.protocol.blocks = 10;
        assert_eq!(super::cost(&study, ROOM, box_cost).blocks, 10);
    }
}
