//! What a study is expected to take, before anything was measured.

use super::{Room, cohorts, trials_per_block};
use crate::looks::FEWEST;
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::study::{BoxKind, Cell, Fresh, Protocol, Slicing, Study, Workload};

/// What a run is expected to take, before anything was measured.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct Cost {
    /// Blocks: all of them, or about as many as the budget holds.
    pub blocks: u32,
    pub trials: u32,
    /// Boxes to be made.
    pub boxes: u32,
    /// Wall time in seconds.
    pub seconds: f64,
    /// Of that, what is done once, whatever the number of blocks: limit checks, kept boxes.
    #[serde(skip)]
    pub once_seconds: f64,
    /// And what each block takes.
    #[serde(skip)]
    pub block_seconds: f64,
    /// What it takes at least, if its trials are shortened to fit into a budget.
    #[serde(skip)]
    pub least_block_seconds: f64,
    /// Size of the results file in bytes.
    pub bytes: u64,
}

impl Cost {
    /// What so many blocks take, in seconds, without a warm-up.
    pub fn of(&self, blocks: u32) -> f64 {
        self.once_seconds + f64::from(blocks) * self.block_seconds
    }

    /// What they take at least.
    pub fn least_of(&self, blocks: u32) -> f64 {
        self.once_seconds + f64::from(blocks) * self.least_block_seconds
    }
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
/// Seconds per trial beside its aim, and per process of it: set-up, check, settling.
const TRIAL_OVERHEAD_SECONDS: f64 = 0.05;
/// Seconds until the host was quiet, before a trial in one piece.
const SETTLING_SECONDS: f64 = 1.0;
/// Part of an open loop's trial that the slices before it take: twice the one of a tenth up to
/// which they grow, for those that lead up to it.
const WORKING_UP: f64 = 0.2;
/// Seconds to start a server, fill it and find its peak, once for each kind of box.
const PEAK_SECONDS: f64 = 3.0;
/// Seconds to search a peak within a bound of latencies: some 30 tries, each with a server of its own.
const BOUNDED_PEAK_SECONDS: f64 = 60.0;
/// Fewest rounds that two processes of a kernel share.
pub const ROUNDS_FOR_TWO: u32 = 20;
/// Bytes per trial in the results file: the default study has 9000.
const TRIAL_BYTES: u64 = 9000;

/// Estimates what the study takes; an adaptive one at most.
pub fn cost(study: &Study, room: Room, box_cost: impl Fn(&BoxKind) -> BoxCost) -> Cost {
    let cohorts = cohorts::of_each_kind(study, room);
    let share = |kind: &BoxKind| {
        let cohorts = cohorts.get(kind).copied().unwrap_or(1);
        Share::of(study, kind, box_cost(kind), cohorts)
    };
    let shares: Vec<Share> = study.box_kinds().iter().map(share).collect();
    let sum = |of: fn(&Share) -> f64| shares.iter().map(of).sum::<f64>();
    let (once, each) = (sum(|s| s.once_seconds), sum(|s| s.block_seconds));
    let shortened = sum(|s| s.least_block_seconds);
    let blocks = study
        .protocol
        .budget_seconds
        .map_or(study.protocol.blocks, |budget| {
            // The budget counts from the end of the warm-up; the first block runs all the same. Trials are shortened for as many
            // blocks as the first look needs.
            let fitting = |each: f64| count((budget - once) / each);
            let before_look = if study.protocol.stopping.is_fixed() {
                0
            } else {
                fitting(shortened).min(FEWEST)
            };
            let least = study.protocol.blocks_before_budget.max(before_look).max(1);
            study.protocol.blocks.min(fitting(each).max(least))
        });
    let seconds = once + f64::from(blocks) * each;
    let seconds = match study.protocol.budget_seconds {
        Some(budget) if blocks < study.protocol.blocks => {
            let least = once + f64::from(study.protocol.blocks_before_budget) * each;
            budget.max(least)
        }
        _ => seconds,
    };
    let trials = trials_per_block(study).saturating_mul(blocks);
    Cost {
        blocks,
        trials,
        boxes: count(sum(|s| s.once_boxes) + f64::from(blocks) * sum(|s| s.block_boxes)),
        seconds: study.protocol.warm_up_seconds + seconds,
        once_seconds: once,
        block_seconds: each,
        least_block_seconds: if study.protocol.stopping.is_fixed() {
            each
        } else {
            shortened
        },
        bytes: u64::from(trials) * TRIAL_BYTES,
    }
}

/// What one kind of box takes: in all, and in each block.
struct Share {
    once_seconds: f64,
    once_boxes: f64,
    block_seconds: f64,
    least_block_seconds: f64,
    block_boxes: f64,
}

impl Share {
    /// Of a kind that is in so many cohorts of a block, and in one more with the cells whose servers stay.
    fn of(study: &Study, kind: &BoxKind, cost: BoxCost, cohorts: u32) -> Self {
        let of_kind = study.cells_of(kind);
        let number = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        let (staying, others): (Vec<Cell>, Vec<Cell>) = of_kind
            .iter()
            .cloned()
            .partition(|cell| cohorts::stays(study, cell));
        let twice = of_kind.iter().filter(|cell| has_two_processes(study, cell));
        let second = number(twice.count()) * TRIAL_OVERHEAD_SECONDS;
        let cohorts = f64::from(cohorts);
        // With those of roles that are apart. Without a cell, no box is made.
        let boxes = |cells: &[Cell], stays, cohorts: f64| {
            let cells = number(cells.len());
            let boxes = if study.protocol.fresh == Fresh::Trial {
                cells
            } else {
                cells.min(1.0)
            };
            cohorts * boxes * number(1 + cohorts::beside(study, kind, stays))
        };
        let all = |cohorts| boxes(&others, false, cohorts) + boxes(&staying, true, 1.0);
        let (once_boxes, block_boxes) = match study.protocol.fresh {
            Fresh::Trial | Fresh::Block => (0.0, all(cohorts)),
            Fresh::Study => (boxes(&others, false, 1.0).max(boxes(&staying, true, 1.0)), 0.0),
        };
        let used = number(of_kind.len()).min(1.0);
        let work_of = |seconds_of: fn(&Study, &Cell) -> f64, cells: &[Cell]| -> f64 {
            let each = cells.iter().map(|cell| seconds_of(study, cell));
            each.sum()
        };
        let around = TRIAL_OVERHEAD_SECONDS + study.protocol.pause_seconds;
        let peaks: f64 = of_kind.iter().map(|cell| peak_seconds(study, cell)).sum();
        let launches = block_boxes * cost.launch_seconds;
        let trials = |seconds_of, cells: &[Cell]| {
            work_of(seconds_of, cells) * cost.stretch + number(cells.len()) * around
        };
        // Servers that stay serve one run before the first trial.
        let warm_ups = cohorts::one_of_each(study, &staying);
        let of_block = |seconds_of| {
            launches
                + cohorts * (trials(seconds_of, &others) + second)
                + trials(seconds_of, &staying)
                + trials(seconds_of, &warm_ups)
        };
        Self {
            once_seconds: used * PROOF_SECONDS + once_boxes * cost.launch_seconds + peaks,
            once_boxes,
            block_seconds: of_block(seconds_of),
            least_block_seconds: of_block(least_seconds_of),
            block_boxes,
        }
    }
}

/// How long a trial of a cell works: as long as is aimed for, and one in one piece as long as its file says, once the
/// host is quiet.
fn seconds_of(study: &Study, cell: &Cell) -> f64 {
    let aim = study.protocol.trial_seconds;
    let Some(workload) = study.workload(cell) else {
        return aim;
    };
    let is_timed = workload.load().is_none() || workload.is_open_loop();
    let seconds = workload.seconds.filter(|_| is_timed).unwrap_or(aim);
    let working_up = if workload.is_open_loop() { WORKING_UP } else { 0.0 };
    let settles = workload.is_whole() && study.protocol.settle;
    seconds * (1.0 + working_up) + if settles { SETTLING_SECONDS } else { 0.0 }
}

/// The same, if it is shortened to fit into a budget.
fn least_seconds_of(study: &Study, cell: &Cell) -> f64 {
    let in_slices = study.workload(cell).is_none_or(|workload| !workload.is_whole());
    let is_shortened = in_slices && study.protocol.slicing.are_found();
    seconds_of(study, cell) * if is_shortened { Protocol::SHARES[0] } else { 1.0 }
}

/// What it takes to find the peak of which the rate of a cell's load is a share, if this is the
/// baseline that has it.
fn peak_seconds(study: &Study, cell: &Cell) -> f64 {
    let workload = study.workload(cell);
    let load = workload.as_ref().and_then(Workload::load);
    match load.filter(|_| cell.kind.platform == study.baseline) {
        Some(load) if load.of_peak.is_some() => match load.bound {
            Some(_) => BOUNDED_PEAK_SECONDS,
            None => PEAK_SECONDS,
        },
        _ => 0.0,
    }
}

/// Whether a trial of a cell has two processes, as far as is known beforehand.
fn has_two_processes(study: &Study, cell: &Cell) -> bool {
    let protocol = &study.protocol;
    let shortest = f64::from(ROUNDS_FOR_TWO) * protocol.slicing.slice_seconds();
    let in_rounds = protocol.slicing != Slicing::Off && protocol.trial_seconds >= shortest;
    let is_kernel = |workload: Workload| workload.kernel().is_some();
    in_rounds && study.workload(cell).is_some_and(is_kernel)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count: what is too large, or not finite, is cut off"
)]
const fn count(number: f64) -> u32 {
    number as u32
}
