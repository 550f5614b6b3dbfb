//! The baselines of a group: a cost is known only beside them, so they run once more with
//! a trial that is repeated, and a group that lost one is put off to the next pass.

use super::arm::Arm;
use super::live::LiveBoxes;
use std::collections::BTreeSet;
use tare_model::study::{Against, BoxKind, Cell, Study};
use tare_study::plan::{Group, PlannedTrial};

/// The cells that a cell is held against.
fn baselines(study: &Study, cell: &Cell) -> impl Iterator<Item = Cell> {
    Against::ALL
        .into_iter()
        .filter_map(|against| study.baseline_cell(cell, against))
}

/// The baselines of these trials whose own trials are done or belong to another group:
/// they run once more.
pub(super) fn shadow_baselines(
    (study, refused): (&Study, &BTreeSet<BoxKind>),
    group: &Group,
    due: &[PlannedTrial],
) -> Vec<Cell> {
    if study.protocol.slicing.is_off() {
        return Vec::new();
    }
    let is_due = |cell: &Cell| due.iter().any(|planned| planned.cell == *cell);
    let needed: BTreeSet<Cell> = due.iter().flat_map(|t| baselines(study, &t.cell)).collect();
    let own = group.trials.iter().map(|planned| &planned.cell);
    let here = own.chain(&group.shadow_baselines);
    here.filter(|cell| needed.contains(cell) && !is_due(cell) && !refused.contains(&cell.kind))
        .cloned()
        .collect()
}

/// Puts off the trials of which a baseline was to run beside them and cannot: what
/// of `wanted` is neither among the trials that are due nor a shadow baseline with a box.
pub(super) fn put_off(
    (study, refused): (&Study, &BTreeSet<BoxKind>),
    due: &mut Vec<PlannedTrial>,
    shadow_baselines: &[Cell],
    wanted: &BTreeSet<Cell>,
    present: &LiveBoxes,
) {
    let own = due.iter().map(|planned| &planned.cell);
    let beside = shadow_baselines
        .iter()
        .filter(|cell| present.contains_key(&cell.kind));
    let here: BTreeSet<Cell> = own.chain(beside).cloned().collect();
    let is_missing =
        |cell: &Cell| wanted.contains(cell) && !here.contains(cell) && !refused.contains(&cell.kind);
    due.retain(|planned| !baselines(study, &planned.cell).any(|baseline| is_missing(&baseline)));
}

/// Whether the group is worth nothing: a cell is lost against which others are held.
/// In the first pass these are put off, to be tried with it again; later they are
/// recorded without it. What cannot run here will not the next time either, and a figure that was not
/// found is not looked for again.
pub(super) fn is_spoiled(study: &Study, arms: &[Arm], pass: u32) -> bool {
    let could_run = |arm: &&Arm| {
        let lost = arm.lost.as_ref();
        lost.is_some_and(|lost| !lost.failure.reason.is_final())
    };
    let lost: BTreeSet<&Cell> = arms
        .iter()
        .filter(could_run)
        .map(|arm| &arm.planned.cell)
        .collect();
    let needs_it = |arm: &Arm| baselines(study, &arm.planned.cell).any(|cell| lost.contains(&cell));
    pass == 0 && !lost.is_empty() && arms.iter().any(|arm| arm.lives() && needs_it(arm))
}
