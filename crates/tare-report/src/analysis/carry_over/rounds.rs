//! The same of slices: what a slice leaves behind for the next one of its round. The
//! order within a round is random, so that every cell meets every predecessor in every
//! block, and each block tells the effect of each by itself.

use super::{CarryOver, FEWEST, Side, matters, over_the_share, share};
use crate::analysis::trials::{CellTrials, Used};
use std::collections::{BTreeMap, HashMap};
use tare_model::group::{GroupRecord, Member, Series};
use tare_model::metric::Metric;
use tare_model::study::{BoxKind, Cell};
use tare_stats::{Interval, LEVEL, holm, mean, median, t_estimate};

/// What ran right before, and before which side.
type Cause<'a> = (Side, &'a BoxKind);

/// The effect of one predecessor on d in one block, and the share of the side's slices
/// that it came before.
type Effect = (f64, f64);

/// The effect of one predecessor over all blocks.
struct Tested<'a> {
    cause: Cause<'a>,
    blocks: usize,
    value: f64,
    interval: Interval,
    p: f64,
    share: f64,
}

/// The predecessors within a round whose effect is over a quarter of the margin, with p
/// under 1 % by t over the blocks and Holm's correction over the predecessors of the
/// comparison. `None` where the pair never ran in slices. `margin` is in logs.
pub(super) fn find(
    metric: &Metric,
    cell: &CellTrials,
    baseline: &CellTrials,
    margin: Option<f64>,
) -> Option<Vec<CarryOver>> {
    let groups = groups(metric, [&cell.cell, &baseline.cell], cell);
    let kinds = [&cell.cell.kind, &baseline.cell.kind];
    let tested = test(metric, kinds, &groups);
    let corrected = holm(&tested.iter().map(|t| Some(t.p)).collect::<Vec<_>>());
    let found = |(one, p_holm): (&Tested, Option<f64>)| {
        let (margin, p_holm) = (margin?, p_holm?);
        let bias = bias(&tested, one, kinds);
        let found = CarryOver {
            after: Cell {
                kind: one.cause.1.clone(),
                workload: cell.cell.workload.clone(),
            },
            side: one.cause.0,
            blocks: one.blocks,
            of: groups.len(),
            effect: share(one.value, one.interval)?,
            p_holm,
            bias,
            disqualifies: over_the_share(bias, margin),
        };
        matters(one.value, p_holm, margin).then_some(found)
    };
    (!groups.is_empty()).then(|| tested.iter().zip(corrected).filter_map(found).collect())
}

/// The groups in which both sides ran, in the order of the blocks.
fn groups<'a>(metric: &Metric, sides: [&Cell; 2], cell: &CellTrials<'a>) -> Vec<&'a GroupRecord> {
    let both = |used: &Used<'a>| {
        let group = used.group?;
        group.rounds(sides[0], sides[1], &metric.name).map(|_| group)
    };
    cell.used.values().filter_map(both).collect()
}

/// Every predecessor that came before a side in at least 3 blocks. d rises with the
/// cost of the cell and falls with that of the baseline.
fn test<'a>(metric: &Metric, kinds: [&BoxKind; 2], groups: &[&'a GroupRecord]) -> Vec<Tested<'a>> {
    let mut effects: BTreeMap<Cause<'a>, Vec<Effect>> = BTreeMap::new();
    for group in groups {
        let order = order(group);
        for (side, sign, kind) in [(Side::Cell, 1.0, kinds[0]), (Side::Baseline, -1.0, kinds[1])] {
            let Some(member) = group.members.iter().find(|m| m.cell.kind == *kind) else {
                continue;
            };
            for (before, (effect, share)) in of_member(metric, member, &order) {
                effects
                    .entry((side, before))
                    .or_default()
                    .push((sign * effect, share));
            }
        }
    }
    effects.into_iter().filter_map(tested).collect()
}

/// Whose slice it was, by round and place.
fn order(group: &GroupRecord) -> HashMap<(u64, u32), &BoxKind> {
    let mut order = HashMap::new();
    for member in &group.members {
        let places = rounds(member).zip(member.places.iter().copied());
        order.extend(places.map(|at| (at, &member.cell.kind)));
    }
    order
}

fn rounds(member: &Member) -> impl Iterator<Item = u64> + use<> {
    let every = u64::from(member.every);
    (0..).map(move |i: u64| i.saturating_mul(every))
}

/// How the slices of a member right after each other one differ from what is usual: the
/// median of ln cost after each is a level, as is that of the slices that are first in
/// their round, and the median of the levels is the usual one. Of a level, since a mean
/// would be that of the few slices in which the host did something else; of the levels,
/// since against their mean one that pollutes would make the rest look better than usual.
fn of_member<'a>(
    metric: &Metric,
    member: &Member,
    order: &HashMap<(u64, u32), &'a BoxKind>,
) -> BTreeMap<&'a BoxKind, Effect> {
    let costs = member.parts.get(&metric.name).map(Series::costs);
    let mut after: BTreeMap<Option<&'a BoxKind>, Vec<f64>> = BTreeMap::new();
    for ((round, place), cost) in rounds(member).zip(&member.places).zip(costs.unwrap_or_default()) {
        let log = cost.ln();
        if log.is_finite() {
            let before = place.checked_sub(1).and_then(|place| order.get(&(round, place)));
            after.entry(before.copied()).or_default().push(log);
        }
    }
    let all: usize = after.values().map(Vec::len).sum();
    let levels: BTreeMap<_, f64> = after
        .iter()
        .filter_map(|(before, logs)| Some((*before, median(logs)?)))
        .collect();
    let effect = |(before, logs): (&Option<&'a BoxKind>, &Vec<f64>)| {
        let effect = levels.get(before)? - usual(&levels, before)?;
        Some(((*before)?, (effect, share_of(logs.len(), all))))
    };
    after.iter().filter_map(effect).collect()
}

/// The median of the levels; of two the other one.
fn usual<'a>(levels: &BTreeMap<Option<&'a BoxKind>, f64>, of: &Option<&'a BoxKind>) -> Option<f64> {
    let counts = |before: &Option<&BoxKind>| levels.len() > 2 || before != of;
    let levels: Vec<f64> = levels
        .iter()
        .filter(|(before, _)| counts(before))
        .map(|(_, level)| *level)
        .collect();
    median(&levels)
}

#[expect(clippy::cast_precision_loss, reason = "no block has 2^52 slices")]
fn share_of(slices: usize, all: usize) -> f64 {
    slices as f64 / all as f64
}

fn tested<'a>((cause, effects): (Cause<'a>, Vec<Effect>)) -> Option<Tested<'a>> {
    let (values, shares): (Vec<f64>, Vec<f64>) = effects.into_iter().unzip();
    let estimate = t_estimate(&values, LEVEL, 1.0).filter(|t| t.n >= FEWEST)?;
    Some(Tested {
        cause,
        blocks: estimate.n,
        value: estimate.mean,
        interval: estimate.interval,
        p: estimate.p_zero()?,
        share: mean(&shares)?,
    })
}

/// What a predecessor adds to mean d: its effect on each side times the share of slices
/// in which it comes there. A third cell comes before both sides, and where they feel it
/// alike it adds nothing; nor do the two where each leaves as much behind for the other.
fn bias(tested: &[Tested], of: &Tested, kinds: [&BoxKind; 2]) -> f64 {
    let own = |t: &Tested| kinds.contains(&t.cause.1);
    let counts = |t: &&Tested| t.cause.1 == of.cause.1 || (own(t) && own(of));
    tested.iter().filter(counts).map(|t| t.value * t.share).sum()
}
