//! What a trial leaves behind for the next one. Random order does not remove it:
//! the cell that pollutes follows itself less often than the others, so that its own ratio is biased.

mod rounds;

use super::estimate::Estimate;
use super::trials::CellTrials;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use tare_model::metric::Metric;
use tare_model::study::{BoxKind, Cell};
use tare_stats::{Coefficient, Interval, LEVEL, holm, ranks, regression};

/// Blocks with and without a predecessor that its effect is judged from.
const FEWEST: usize = 3;
/// Share of the margin from which on an effect matters.
const SHARE: f64 = 0.25;
/// Level of the corrected p.
const ALPHA: f64 = 0.01;

/// Whose predecessor it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The cell's.
    Cell,
    /// The baseline's.
    Baseline,
}

/// A predecessor that moves the ratio of a comparison.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct CarryOver {
    /// The cell that ran right before: its trial, or in slices its slice.
    pub after: Cell,
    /// Before which of the two; absent of a third cell in slices, which is judged by what
    /// it does before both.
    pub side: Option<Side>,
    /// Blocks that tell of it.
    pub blocks: usize,
    /// Blocks in all.
    pub of: usize,
    /// By how much the ratio is over that of the other blocks, or rounds, as a share; of
    /// a third cell in slices, by how much the typical cost is over that without it.
    pub effect: Estimate,
    /// p that it is 0, after Holm's correction over the predecessors of the comparison.
    pub p_holm: f64,
    /// What it adds to the mean d: nothing where both sides feel it alike.
    pub bias: f64,
    /// Whether that is over a quarter of the margin, and sure: then there is no verdict.
    pub disqualifies: bool,
}

impl CarryOver {
    /// The name of the finding.
    pub const NAME: &'static str = "carry-over";
}

/// One block of a comparison.
struct Pair<'a> {
    d: f64,
    rank: f64,
    after: [Option<&'a Cell>; 2],
}

/// A predecessor on one side.
struct Cause<'a> {
    after: &'a Cell,
    side: Side,
    blocks: usize,
}

/// The effect of one predecessor on one side.
struct Tested<'a> {
    cause: Cause<'a>,
    effect: Coefficient,
    p: f64,
}

/// The predecessors whose effect on d is over a quarter of the margin, with p under 1 %:
/// those of slices, where the pair ran in them, else those of trials. `margin` is in logs.
pub(super) fn find(
    metric: &Metric,
    cell: &CellTrials,
    baseline: &CellTrials,
    margin: Option<f64>,
) -> Vec<CarryOver> {
    rounds::find(metric, cell, baseline, margin)
        .unwrap_or_else(|| between_trials(metric, cell, baseline, margin))
}

/// d is regressed on all predecessors of both sides at once: one that
/// comes where another does not would else pass for it. Holm's correction is over
/// the predecessors of the comparison: the family is what could have been found in
/// it.
fn between_trials(
    metric: &Metric,
    cell: &CellTrials,
    baseline: &CellTrials,
    margin: Option<f64>,
) -> Vec<CarryOver> {
    let pairs = pairs(metric, cell, baseline);
    let tested = test(&pairs);
    let corrected = holm(&tested.iter().map(|t| Some(t.p)).collect::<Vec<_>>());
    let kinds = [&cell.cell.kind, &baseline.cell.kind];
    let n = pairs.len();
    let found = |(one, p_holm): (&Tested, Option<f64>)| {
        judged(one, p_holm?, bias(&tested, kinds, &one.cause, n), n, margin?)
    };
    tested.iter().zip(corrected).filter_map(found).collect()
}

fn pairs<'a>(metric: &Metric, cell: &CellTrials<'a>, baseline: &CellTrials<'a>) -> Vec<Pair<'a>> {
    let pair = |block: &u32| {
        let (x, y) = (cell.used.get(block)?, baseline.used.get(block)?);
        let d = metric
            .direction
            .loss_in_logs(x.sample(metric)?, y.sample(metric)?)?;
        Some((d, [x.after, y.after]))
    };
    let pairs: Vec<_> = cell.used.keys().filter_map(pair).collect();
    let ranks = ranks(&pairs.iter().map(|(d, _)| *d).collect::<Vec<_>>()).unwrap_or_default();
    pairs
        .into_iter()
        .zip(ranks)
        .map(|((d, after), rank)| Pair { d, rank, after })
        .collect()
}

/// The predecessors of both sides that were there in at least 3 blocks and not in
/// at least 3 others; the most frequent, where there are more than a third of the
/// blocks could tell apart.
fn causes<'a>(pairs: &[Pair<'a>]) -> Vec<Cause<'a>> {
    let mut causes = Vec::new();
    for side in [Side::Cell, Side::Baseline] {
        let mut counts: BTreeMap<&Cell, usize> = BTreeMap::new();
        for after in pairs.iter().filter_map(|p| p.after[side as usize]) {
            *counts.entry(after).or_default() += 1;
        }
        let cause = |(after, blocks)| Cause { after, side, blocks };
        causes.extend(counts.into_iter().map(cause));
    }
    causes.retain(|c| c.blocks >= FEWEST && pairs.len() - c.blocks >= FEWEST);
    causes.sort_by_key(|c| std::cmp::Reverse(c.blocks));
    causes.truncate(pairs.len() / 3);
    causes
}

/// d regressed on the predecessors. p is the larger of that of d and that of its
/// ranks: one stall behind a rare predecessor is no carry-over.
fn test<'a>(pairs: &[Pair<'a>]) -> Vec<Tested<'a>> {
    let causes = causes(pairs);
    let there = |cause: &Cause| {
        let there = |p: &Pair| f64::from(u8::from(p.after[cause.side as usize] == Some(cause.after)));
        pairs.iter().map(there).collect()
    };
    let columns: Vec<Vec<f64>> = causes.iter().map(there).collect();
    let regressed = |y: fn(&Pair) -> f64| {
        let y: Vec<f64> = pairs.iter().map(y).collect();
        regression(&columns, &y, LEVEL).unwrap_or_default()
    };
    let effects = regressed(|p| p.d).into_iter().zip(regressed(|p| p.rank));
    let tested = |(cause, (of_d, of_rank)): (Cause<'a>, (Option<Coefficient>, Option<Coefficient>))| {
        let effect = of_d?;
        Some(Tested {
            cause,
            effect,
            p: effect.p.max(of_rank?.p),
        })
    };
    causes.into_iter().zip(effects).filter_map(tested).collect()
}

/// What a predecessor adds to the mean of d by the design: its effects on both
/// sides, times the share of blocks in which it comes on a side. What random order
/// made uneven is left out, since it is within the interval. A predecessor in the
/// side's own box stands against that of the same workload in the other box, one
/// in a third box against itself: where both sides feel it alike it adds nothing.
/// But the cell never comes before itself, and so comes before its baseline alone.
#[expect(clippy::cast_precision_loss, reason = "no study has 2^52 blocks")]
fn bias(tested: &[Tested], kinds: [&BoxKind; 2], of: &Cause, n: usize) -> f64 {
    let own = |c: &Cause| c.after.kind == *kinds[c.side as usize];
    let alike = |t: &&Tested| match (own(of), own(&t.cause)) {
        (true, true) => t.cause.after.workload == of.after.workload,
        (false, false) => t.cause.after == of.after,
        _ => false,
    };
    let one_sided = !own(of) && kinds.contains(&&of.after.kind);
    let sides = if one_sided { 1.0 } else { 2.0 };
    let alike = tested.iter().filter(alike);
    let (effects, blocks) = alike.fold((0.0, 0.0), |(effects, blocks), t| {
        (effects + t.effect.value, blocks + t.cause.blocks as f64)
    });
    effects * blocks / (sides * n as f64)
}

fn judged(tested: &Tested, p_holm: f64, bias: f64, of: usize, margin: f64) -> Option<CarryOver> {
    let Coefficient { value, interval, .. } = tested.effect;
    let found = CarryOver {
        after: tested.cause.after.clone(),
        side: Some(tested.cause.side),
        blocks: tested.cause.blocks,
        of,
        effect: share(value, interval)?,
        p_holm,
        bias,
        disqualifies: over_the_share(bias, margin),
    };
    matters(value, p_holm, margin).then_some(found)
}

/// Whether an effect in logs is both large enough and sure enough.
fn matters(value: f64, p_holm: f64, margin: f64) -> bool {
    over_the_share(value, margin) && p_holm < ALPHA
}

fn over_the_share(value: f64, margin: f64) -> bool {
    value.abs() > SHARE * margin
}

/// An effect in logs as a share.
fn share(value: f64, interval: Interval) -> Option<Estimate> {
    let share = Interval {
        low: interval.low.exp_m1(),
        high: interval.high.exp_m1(),
    };
    Estimate::new(value.exp_m1(), share)
}
