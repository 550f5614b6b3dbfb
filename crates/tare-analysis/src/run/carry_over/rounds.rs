//! The same of slices: what a slice leaves behind for the next one of its round. The
//! order within a round is random, so that every cell meets every predecessor in every
//! block, and each block tells the effect of each by itself.
//!
//! The verdict rests on medians over rounds, which what is rare moves far less than a
//! mean. So a bias is not worked out from effects on slices: it is the typical cost of
//! the block less that of the rounds without the predecessor.

mod block;
mod levels;

use super::{CarryOver, FEWEST, Side, matters, share};
use crate::run::trials::{CellTrials, Used};
use block::Block;
use std::collections::BTreeSet;
use tare_model::metric::Metric;
use tare_model::study::{BoxKind, Cell};
use tare_stats::{LEVEL, TEstimate, holm, mean, t_estimate};

/// A predecessor over all blocks.
struct Tested<'a> {
    after: &'a BoxKind,
    side: Option<Side>,
    effect: TEstimate,
    p: f64,
    bias: Bias,
}

/// What it does to the mean d, and how sure that is.
#[derive(Clone, Copy)]
struct Bias {
    value: f64,
    p: f64,
}

/// The predecessors within a round whose effect is over a quarter of the margin, with p
/// under 1 % by t over the blocks and Holm's correction over the predecessors of the
/// comparison, the largest bias first: in the rounds without one predecessor the others
/// come more often, so that part of its effect shows with them, with the other sign.
/// `None` where the pair never ran in slices. `margin` is in logs.
pub(super) fn find(
    metric: &Metric,
    cell: &CellTrials,
    baseline: &CellTrials,
    margin: Option<f64>,
) -> Option<Vec<CarryOver>> {
    let sides = [&cell.cell, &baseline.cell];
    let blocks = blocks(&metric.name, sides, cell);
    let tested: Vec<Tested> = thirds(&blocks).into_iter().chain(pair(&blocks, sides)).collect();
    let mut found = found(&tested, margin, blocks.len(), &cell.cell.workload);
    found.sort_by(|a, b| b.bias.abs().total_cmp(&a.bias.abs()));
    (!blocks.is_empty()).then_some(found)
}

fn found(tested: &[Tested], margin: Option<f64>, of: usize, workload: &str) -> Vec<CarryOver> {
    let corrected = holm(&tested.iter().map(|t| Some(t.p)).collect::<Vec<_>>());
    let found = |(one, p_holm): (&Tested, Option<f64>)| {
        let (margin, p_holm) = (margin?, p_holm?);
        let found = CarryOver {
            after: Cell {
                kind: one.after.clone(),
                workload: workload.to_owned(),
            },
            side: one.side,
            blocks: one.effect.n,
            of,
            effect: share(one.effect.mean, one.effect.interval)?,
            p_holm,
            bias: one.bias.value,
            disqualifies: matters(one.bias.value, one.bias.p, margin),
        };
        matters(one.effect.mean, p_holm, margin).then_some(found)
    };
    tested.iter().zip(corrected).filter_map(found).collect()
}

/// The blocks in which both sides ran in slices.
fn blocks<'a>(metric: &'a str, sides: [&Cell; 2], cell: &CellTrials<'a>) -> Vec<Block<'a>> {
    let block = |used: &Used<'a>| Block::new(used.group?, sides, metric);
    cell.used.values().filter_map(block).collect()
}

/// The cells that are neither of the two. What they do to the typical cost is both their
/// effect and their bias.
fn thirds<'a>(blocks: &[Block<'a>]) -> Vec<Tested<'a>> {
    let kinds: BTreeSet<&BoxKind> = blocks.iter().flat_map(Block::thirds).collect();
    let third = |after| {
        let effect = over_blocks(blocks.iter().filter_map(|block: &Block| block.moved_by(after)))?;
        let p = effect.p_zero()?;
        Some(Tested {
            after,
            side: None,
            effect,
            p,
            bias: Bias {
                value: effect.mean,
                p,
            },
        })
    };
    kinds.into_iter().filter_map(third).collect()
}

/// What each of the two leaves behind for the other, which the slices after it tell.
/// Their bias is that of both: where each leaves as much behind there is none.
fn pair<'a>(blocks: &[Block<'_>], sides: [&'a Cell; 2]) -> Vec<Tested<'a>> {
    let each: Vec<_> = [Side::Cell, Side::Baseline]
        .into_iter()
        .filter_map(|side| one_of_pair(blocks, sides, side))
        .collect();
    let bias = direct(blocks).unwrap_or_else(|| Bias {
        value: each.iter().map(|(one, share)| one.effect.mean * share).sum(),
        p: each.iter().map(|(one, _)| one.p).fold(1.0, f64::min),
    });
    each.into_iter().map(|(one, _)| Tested { bias, ..one }).collect()
}

/// What a slice of the other cell does to d by having run right before one of `side`,
/// and the share of slices in which it did. d falls with the cost of the baseline.
fn one_of_pair<'a>(blocks: &[Block<'_>], sides: [&'a Cell; 2], side: Side) -> Option<(Tested<'a>, f64)> {
    let (sign, after) = match side {
        Side::Cell => (1.0, sides[1]),
        Side::Baseline => (-1.0, sides[0]),
    };
    let left = blocks.iter().filter_map(|block| levels::left_behind(block, side));
    let (effects, shares): (Vec<f64>, Vec<f64>) = left.unzip();
    let effect = over_blocks(effects.into_iter().map(|effect| sign * effect))?;
    let p = effect.p_zero()?;
    let tested = Tested {
        after: &after.kind,
        side: Some(side),
        effect,
        p,
        bias: Bias { value: 0.0, p: 1.0 },
    };
    Some((tested, mean(&shares)?))
}

/// What the pair does to its own typical cost, where enough blocks have rounds that tell.
fn direct(blocks: &[Block<'_>]) -> Option<Bias> {
    let moved = over_blocks(blocks.iter().filter_map(Block::moved_by_pair))?;
    Some(Bias {
        value: moved.mean,
        p: moved.p_zero()?,
    })
}

/// The mean over at least 3 blocks.
fn over_blocks(values: impl Iterator<Item = f64>) -> Option<TEstimate> {
    let values: Vec<f64> = values.collect();
    t_estimate(&values, LEVEL, 1.0).filter(|estimate| estimate.n >= FEWEST)
}
