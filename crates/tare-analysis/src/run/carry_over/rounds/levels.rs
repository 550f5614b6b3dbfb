//! How the slices of a cell right after those of the other differ from what is usual.

use super::Side;
use super::block::Block;
use std::collections::BTreeMap;
use tare_model::study::BoxKind;
use tare_stats::median;

/// The median of ln cost by who ran right before.
type Levels<'a> = BTreeMap<&'a BoxKind, f64>;

/// What the other of the two does to the slices of `side` right after it, in logs of
/// their cost, and the share of slices that it came before.
///
/// The median of ln cost after each predecessor is a level, itself among them, and the
/// median of the levels is the usual one. Of a level, since a mean would be that of the few
/// slices in which the host did something else; of the levels, since against their mean one
/// that pollutes would make the rest look better than usual.
pub(super) fn left_behind(block: &Block, side: Side) -> Option<(f64, f64)> {
    let side = side as usize;
    let other = block.kind(1 - side);
    let mut after: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for slice in block.slices(side) {
        let log = slice.cost.ln();
        if let Some(before) = slice.after.filter(|_| log.is_finite()) {
            after.entry(before).or_default().push(log);
        }
    }
    let all: usize = after.values().map(Vec::len).sum();
    let levels: Levels = after
        .iter()
        .filter_map(|(before, logs)| Some((*before, median(logs)?)))
        .collect();
    let effect = levels.get(other)? - usual(&levels, other)?;
    Some((effect, share_of(after.get(other)?.len(), all)))
}

/// The median of the levels; of two the other one.
fn usual(levels: &Levels, of: &BoxKind) -> Option<f64> {
    let counts = |before: &&BoxKind| levels.len() > 2 || *before != of;
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
