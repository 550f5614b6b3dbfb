//! How trials were given their time.

use super::{Fact, fact, seconds};
use crate::words::notices::some_clauses;
use tare_analysis::{Gate, InTurns, OnePiece, Processes, SlicingFacts};
use tare_model::metric::Unit;
use tare_model::size::counted;

/// What came of it: groups, their processes, the harness's own cost, cells that ran in one piece.
pub(super) fn seen(slicing: &SlicingFacts) -> Vec<Fact> {
    let rounds = slicing.rounds.zip(slicing.slice_seconds);
    let rounds = rounds.map_or_else(String::new, |(rounds, slice)| {
        format!(", {rounds} rounds each of slices of {} (medians)", seconds(slice))
    });
    let mut facts = vec![fact("groups of cells", format!("{}{rounds}", slicing.groups))];
    facts.extend(processes(&slicing.processes).map(|value| fact("processes of a trial", value)));
    if !slicing.gates.is_empty() {
        let gates: Vec<String> = slicing.gates.iter().map(gate).collect();
        facts.push(fact("round trip of a slice (median)", gates.join(", ")));
    }
    if !slicing.in_turns.is_empty() {
        let cells: Vec<String> = slicing.in_turns.iter().map(in_turns).collect();
        facts.push(fact("in turns (medians)", cells.join("; ")));
    }
    if !slicing.one_piece.is_empty() {
        let cells: Vec<String> = slicing.one_piece.iter().map(one_piece).collect();
        facts.push(fact("in one piece", some_clauses(&cells)));
    }
    facts
}

/// `2, which took turns by round`, or of which workloads, where some had one as ever;
/// nothing where all had.
fn processes(all: &[Processes]) -> Option<String> {
    let several: Vec<&Processes> = all.iter().filter(|p| p.processes > 1).collect();
    let first = several.first()?;
    let alike = all.iter().all(|p| p.processes == first.processes);
    let of_workloads: Vec<String> = several.iter().map(|p| of_workload(p)).collect();
    let what = if alike {
        first.processes.to_string()
    } else {
        of_workloads.join(", ")
    };
    Some(format!("{what}, which took turns by round"))
}

/// `2 of syscall`, or `2 of linpack (9 times of 10)`.
fn of_workload(of: &Processes) -> String {
    let times = if of.members == of.of {
        String::new()
    } else {
        format!(" ({} times of {})", of.members, of.of)
    };
    format!("{} of {}{times}", of.processes, of.workload)
}

fn gate(gate: &Gate) -> String {
    format!("{} {}", gate.platform, Unit::Second.show(gate.seconds))
}

/// `native pinned gzip (10 times 43 turns of 20 ms)`.
fn in_turns(cell: &InTurns) -> String {
    let length = Unit::Second.show(cell.seconds);
    format!(
        "{} ({} times {} turns of {length})",
        cell.cell, cell.n, cell.turns
    )
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
