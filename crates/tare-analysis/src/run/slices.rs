//! What slices say of a comparison beside the typical cost, which is its headline:
//! mean cost, CPU cost and stalls, each of one figure per block.

use super::estimate::Estimate;
use super::flag::Flag;
use super::paired::Paired;
use super::trials::{CellTrials, Used};
use super::verdict::Verdict;
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::metric::Metric;
use tare_model::rounds::{Rounds, Slices};
use tare_stats::{CPU_BOUND, PairedInference, Question, infer, infer_beside, least_noise, mean};
use tare_stats::{error_of_typical, stall_share, typical, understated_by, upper_quartile};

/// The figures of one metric's slices. Every interval is over blocks: rounds and
/// slices are never counted as samples.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct SliceFigures {
    /// Blocks in which the pair ran in slices. In others one of the two ran in one
    /// piece, or the baseline was not in the cell's group: there d is that of the samples.
    pub blocks: usize,
    /// Rounds of all these blocks.
    pub rounds: usize,
    /// exp(mean over blocks of d), d of the typical cost: the headline, but for blocks
    /// without slices.
    pub typical: Option<Estimate>,
    /// The same with d = ln(all time / all work of the cell, over that of the baseline).
    pub mean: Option<Estimate>,
    /// The mean cost in CPU time; of the primary metric, where the box tells it.
    pub cpu: Option<CpuCost>,
    /// Time in slices of over twice the usual cost as a share of all, less the baseline's.
    pub stall: Option<Estimate>,
    /// Variance of d by the scatter of rounds alone over that of d: 1 and more where nothing else is seen; what is left is of
    /// processes and boxes. Absent where d is not of slices in every block, or rounds are too few to tell.
    pub of_rounds: Option<f64>,
    /// Of work that never waits by itself and shared the CPU with something else: by how many
    /// times a difference, as a ratio less 1, can be larger than its typical cost shows.
    pub contended: Option<f64>,
    pub by_block: Vec<BlockOfSlices>,
}

impl SliceFigures {
    /// The time of all slices of each block, of the cell and of the baseline.
    pub(super) fn wall_times(&self) -> [Vec<f64>; 2] {
        [0, 1].map(|side| self.by_block.iter().map(|b| b.times[side].wall_ns).collect())
    }

    /// Of these losses, in as many blocks, what they say: beside the noise of rounds, if all are of slices.
    pub(super) fn infer(&mut self, losses: &[f64], question: Question) -> Option<PairedInference> {
        // What blocks in one piece add is not known.
        let of_slices = self.blocks == losses.len();
        let noise = if of_slices { noise(&self.by_block) } else { 0.0 };
        let found = infer_beside(losses, noise, question)?;
        self.of_rounds = Some(noise / found.sd.powi(2)).filter(|share| *share > 0.0 && share.is_finite());
        Some(found)
    }

    /// The reason to read the typical cost with care that follows.
    pub(super) fn contention(&self) -> Option<Flag> {
        let times = self.contended?;
        Some(Flag::Contended {
            share: 1.0 - times.recip(),
            times,
        })
    }
}

/// One block of a pair.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct BlockOfSlices {
    pub block: u32,
    /// Rounds in which both took part.
    pub rounds: usize,
    /// Loss in logs of the typical cost.
    pub typical: f64,
    /// Loss in logs of the mean cost.
    pub mean: f64,
    /// Loss in logs of the CPU cost.
    pub cpu: Option<f64>,
    /// Stall share less that of the baseline.
    pub stall: Option<f64>,
    /// Wall time and CPU time in nanoseconds of cell and baseline.
    #[serde(skip)]
    times: [Times; 2],
    /// Standard error in logs of the typical cost by the scatter of its rounds.
    #[serde(skip)]
    error: Option<f64>,
    /// Upper quartile of wall time over CPU time of the baseline's slices.
    #[serde(skip)]
    stretch: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Times {
    wall_ns: f64,
    cpu_ns: f64,
}

/// CPU time per unit of work over that of the baseline.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct CpuCost {
    /// Blocks.
    pub n: usize,
    /// As the headline; `p_holm` of CPU-bound work only, in a family of its own.
    #[serde(flatten)]
    pub cost: Paired,
    /// CPU time over wall time of the cell and of the baseline, over all blocks.
    pub cpu_shares: [f64; 2],
    /// Whether the work is bound by the CPU: both are at least 0.9; or, of work that never
    /// waits by itself, the cell's is at least 0.9 of the baseline's. Only then there is a
    /// verdict.
    pub bound: bool,
    /// Reasons to read the interval with care.
    pub flags: Vec<Flag>,
    /// The verdict, of CPU-bound work.
    pub verdict: Option<Verdict>,
    /// What the losses in logs say, from which the figure comes.
    #[serde(skip)]
    pub(crate) inference: PairedInference,
}

/// The blocks in which a cell and its baseline ran in slices of one group, in their
/// order.
pub(super) fn blocks(metric: &Metric, cell: &CellTrials, baseline: &CellTrials) -> Vec<BlockOfSlices> {
    let of_slices = |(block, used): (&u32, &Used)| {
        let rounds = used.group?.rounds(&cell.cell, &baseline.cell, &metric.name)?;
        of_rounds(*block, &rounds)
    };
    cell.used.iter().filter_map(of_slices).collect()
}

fn of_rounds(block: u32, rounds: &Rounds) -> Option<BlockOfSlices> {
    let (cell, baseline) = (&rounds.cell, &rounds.baseline);
    let stalls = |slices: &Slices| stall_share(&slices.costs, &slices.times);
    Some(BlockOfSlices {
        block,
        rounds: rounds.len(),
        typical: typical(&cell.costs, &baseline.costs, &rounds.processes)?,
        mean: rounds.mean_loss()?,
        cpu: rounds.cpu_loss(),
        stall: stalls(cell).zip(stalls(baseline)).map(|(x, y)| x - y),
        times: [cell, baseline].map(|slices| Times {
            wall_ns: slices.wall_ns(),
            cpu_ns: slices.cpu_ns(),
        }),
        error: error_of_typical(&cell.costs, &baseline.costs, &rounds.processes),
        stretch: upper_quartile(&stretches(baseline))?,
    })
}

/// Wall time over CPU time of each slice.
fn stretches(slices: &Slices) -> Vec<f64> {
    let both = slices.times.iter().zip(&slices.cpu_times);
    both.map(|(wall, cpu)| wall / cpu).collect()
}

/// The figures of a pair's blocks; `None` if it never ran in slices. `busy` are the CPUs
/// that work uses all the time which never waits by itself.
pub(super) fn figures(
    metric: &Metric,
    by_block: Vec<BlockOfSlices>,
    busy: Option<f64>,
    question: Question,
) -> Option<SliceFigures> {
    if by_block.is_empty() {
        return None;
    }
    let contended = contended(&by_block, busy);
    let typical: Vec<f64> = by_block.iter().map(|b| b.typical).collect();
    let cost = |found: PairedInference| Estimate::of_logs(found.mean, found.interval);
    let share = |found: PairedInference| Estimate::new(found.mean, found.interval);
    let over_blocks = |figure| over_blocks(&by_block, figure, question);
    Some(SliceFigures {
        blocks: by_block.len(),
        rounds: by_block.iter().map(|b| b.rounds).sum(),
        typical: infer_beside(&typical, noise(&by_block), unchecked(question))
            .map(|found| found.understated(contended.unwrap_or(1.0), None))
            .and_then(cost),
        mean: over_blocks(|b| Some(b.mean)).and_then(cost),
        cpu: cpu(&by_block, busy, question).filter(|_| metric.primary),
        stall: over_blocks(|b| b.stall).and_then(share),
        contended,
        of_rounds: None,
        by_block,
    })
}

/// The mean over the blocks of a figure on which no verdict rests, so that the check
/// of its interval would be for nothing. None where a block lacks it.
fn over_blocks(
    by_block: &[BlockOfSlices],
    figure: fn(&BlockOfSlices) -> Option<f64>,
    question: Question,
) -> Option<PairedInference> {
    let series: Option<Vec<f64>> = by_block.iter().map(figure).collect();
    infer(&series?, unchecked(question))
}

fn unchecked(question: Question) -> Question {
    Question {
        check: None,
        ..question
    }
}

fn noise(by_block: &[BlockOfSlices]) -> f64 {
    least_noise(by_block.iter().map(|b| Some(b.error?.powi(2))))
}

/// Only where CPU time is known in every block: else its blocks would be a selection.
fn cpu(by_block: &[BlockOfSlices], busy: Option<f64>, question: Question) -> Option<CpuCost> {
    let losses: Option<Vec<f64>> = by_block.iter().map(|b| b.cpu).collect();
    let inference = infer(&losses?, question)?;
    let cpu_shares = [0, 1].map(|side| cpu_share(by_block, side));
    Some(CpuCost {
        n: inference.n,
        cost: Paired::of(&inference)?,
        bound: is_bound(cpu_shares, busy.is_some()),
        cpu_shares,
        flags: Flag::of_series(&inference).collect(),
        verdict: None,
        inference,
    })
}

/// What never waits by itself is bound by the CPU also where others use that, as long as
/// the box counts all of its CPU time: a sandbox with a kernel of its own may not.
fn is_bound([cell, baseline]: [f64; 2], never_waits: bool) -> bool {
    let both = cell.min(baseline) >= CPU_BOUND;
    both || never_waits && cell >= CPU_BOUND * baseline
}

/// CPU time over wall time of the cell (0) or of the baseline (1), over all blocks.
fn cpu_share(by_block: &[BlockOfSlices], side: usize) -> f64 {
    let sum = |time: fn(&Times) -> f64| by_block.iter().map(|b| time(&b.times[side])).sum::<f64>();
    sum(|t| t.cpu_ns) / sum(|t| t.wall_ns)
}

/// By how many times a difference can be larger than shown, where the CPU was shared. By
/// the baseline alone: what a platform itself does there is its cost.
fn contended(by_block: &[BlockOfSlices], busy: Option<f64>) -> Option<f64> {
    let stretches: Vec<f64> = by_block.iter().map(|b| b.stretch).collect();
    understated_by(mean(&stretches)? * busy?)
}

/// Where what is typical and the mean differ by more than the margin in logs.
pub(super) fn tail(figures: &SliceFigures, margin: Option<f64>) -> Option<Flag> {
    let apart: Vec<f64> = figures.by_block.iter().map(|b| b.mean - b.typical).collect();
    let mean_cost = figures.mean?.value;
    (mean(&apart)?.abs() > margin?).then_some(Flag::TailOfSlices { mean_cost })
}
