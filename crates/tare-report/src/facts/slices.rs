//! How trials were given their time.

use super::{Fact, fact, seconds};
use crate::analysis::{Gate, OnePiece, SlicingFacts};
use tare_model::metric::Unit;
use tare_model::size::counted;
use tare_model::study::Slicing;

/// What the study asks for; nothing of one that asks for nothing.
pub(super) fn asked(slicing: Slicing) -> Option<Fact> {
    let value = match slicing {
        Slicing::Off => return None,
        Slicing::Auto { seconds: aim } => {
            format!("{} aimed at, in rounds, where a trial can be cut", seconds(aim))
        }
        Slicing::Turns { seconds: length } => {
            format!("turns of {}, in which commands are let run", seconds(length))
        }
    };
    Some(fact("slices", value))
}

/// What came of it: groups, the harness's own cost, cells that ran in one piece.
pub(super) fn seen(slicing: &SlicingFacts) -> Vec<Fact> {
    let rounds = slicing
        .rounds
        .map_or_else(String::new, |rounds| format!(", {rounds} rounds each (median)"));
    let groups = counted(slicing.groups, "group");
    let mut facts = vec![fact("slices", format!("{groups} of cells{rounds}"))];
    if !slicing.gates.is_empty() {
        let gates: Vec<String> = slicing.gates.iter().map(gate).collect();
        facts.push(fact("a slice's way there and back (median)", gates.join(", ")));
    }
    if !slicing.one_piece.is_empty() {
        let cells: Vec<String> = slicing.one_piece.iter().map(one_piece).collect();
        facts.push(fact("in one piece", cells.join("; ")));
    }
    facts
}

fn gate(gate: &Gate) -> String {
    format!("{} {}", gate.platform, Unit::Second.show(gate.seconds))
}

/// `native vanilla stream (10 of 10 trials, throttled by its quota)`.
fn one_piece(cell: &OnePiece) -> String {
    let of = counted(cell.of, "trial");
    let why = match cell.throttled {
        0 => String::new(),
        all if all == cell.trials => ", throttled by its quota".to_owned(),
        some => format!(", {some} throttled by its quota"),
    };
    format!("{} ({} of {of}{why})", cell.cell, cell.trials)
}
