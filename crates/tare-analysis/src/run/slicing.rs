//! How the trials of a file were given their time, and what the harness took of it.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;
use tare_model::group::{GroupRecord, Series};
use tare_model::platform::PlatformPath;
use tare_model::results::{Outcome, Results, TrialRecord};
use tare_model::study::{Cell, Slicing};
use tare_stats::median;

/// What is known of the slices of a file.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct SlicingFacts {
    /// As the study asked.
    pub slicing: Slicing,
    /// Groups of cells that ran side by side.
    pub groups: usize,
    /// Median number of rounds of those that ran in slices.
    pub rounds: Option<f64>,
    /// Median over them of what a slice was to last, in seconds.
    pub slice_seconds: Option<f64>,
    /// How many processes had the cells of each workload.
    pub processes: Vec<Processes>,
    /// The harness's own cost, by platform.
    pub gates: Vec<Gate>,
    /// Cells with trials that ran in turns.
    pub in_turns: Vec<InTurns>,
    /// Cells with trials that ran in one piece.
    pub one_piece: Vec<OnePiece>,
}

/// Members of groups whose trials had so many processes, which took turns by round.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Processes {
    pub workload: String,
    /// Processes of each trial.
    pub processes: u32,
    /// Members of groups that had so many.
    pub members: usize,
    /// Members of groups with this workload.
    pub of: usize,
}

/// What a slice's way to a box of one platform and back takes.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Gate {
    pub platform: PlatformPath,
    /// Members of groups.
    pub n: usize,
    /// Median over them of their median time, in seconds.
    pub seconds: f64,
}

/// A cell with commands that were let run and stopped in turns.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct InTurns {
    #[serde(flatten)]
    pub cell: Cell,
    /// Members of groups.
    pub n: usize,
    /// Median over them of the number of turns.
    pub turns: f64,
    /// Median over them of the mean length of a turn in seconds, the last one, which the
    /// command's end cut short, among them.
    pub seconds: f64,
}

/// A cell with trials that ran in one piece.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct OnePiece {
    #[serde(flatten)]
    pub cell: Cell,
    /// Trials in one piece, of those that succeeded.
    pub trials: usize,
    /// Trials that succeeded.
    pub of: usize,
    /// Those in one piece whose box was throttled by its quota, which is a reason.
    pub throttled: usize,
}

/// `None` of a file that knows nothing of slices.
pub(crate) fn facts(results: &Results) -> Option<SlicingFacts> {
    let slicing = results.header.study.protocol.slicing;
    let groups = results.groups().count();
    // A group in turns has one round, which is none of slices.
    let of_slices = || {
        results
            .groups()
            .filter(|g| g.members.iter().all(|m| m.turns == 0))
    };
    let rounds: Vec<f64> = of_slices().map(|g| f64::from(g.rounds)).collect();
    let slices: Vec<f64> = of_slices()
        .map(|g| Duration::from_nanos(g.slice_ns).as_secs_f64())
        .collect();
    (!slicing.is_off() || groups > 0).then(|| SlicingFacts {
        slicing,
        groups,
        rounds: median(&rounds),
        slice_seconds: median(&slices),
        processes: processes(results.groups()),
        gates: gates(results.groups()),
        in_turns: in_turns(results.groups()),
        one_piece: one_piece(results),
    })
}

fn processes<'a>(groups: impl Iterator<Item = &'a GroupRecord>) -> Vec<Processes> {
    let mut workloads: BTreeMap<&str, BTreeMap<u32, usize>> = BTreeMap::new();
    for member in groups.flat_map(|g| &g.members) {
        let numbers = workloads.entry(&member.cell.workload).or_default();
        *numbers.entry(member.processes).or_default() += 1;
    }
    let of_workload = |(workload, numbers): (&str, BTreeMap<u32, usize>)| {
        let of = numbers.values().sum();
        let told = |(processes, members)| Processes {
            workload: workload.to_owned(),
            processes,
            members,
            of,
        };
        numbers.into_iter().map(told).collect::<Vec<_>>()
    };
    workloads.into_iter().flat_map(of_workload).collect()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "nanoseconds of a slice fit into 53 bits"
)]
fn gates<'a>(groups: impl Iterator<Item = &'a GroupRecord>) -> Vec<Gate> {
    let mut times: BTreeMap<&PlatformPath, Vec<f64>> = BTreeMap::new();
    // A turn's way is part of its time.
    let of_slices = groups.flat_map(|g| &g.members).filter(|m| m.turns == 0);
    for member in of_slices {
        let seconds = member.gate_ns as f64 / 1e9;
        times.entry(&member.cell.kind.platform).or_default().push(seconds);
    }
    let gate = |(platform, seconds): (&PlatformPath, Vec<f64>)| {
        Some(Gate {
            platform: platform.clone(),
            n: seconds.len(),
            seconds: median(&seconds)?,
        })
    };
    times.into_iter().filter_map(gate).collect()
}

fn in_turns<'a>(groups: impl Iterator<Item = &'a GroupRecord>) -> Vec<InTurns> {
    let mut cells: BTreeMap<&Cell, Vec<(f64, f64)>> = BTreeMap::new();
    for member in groups.flat_map(|g| &g.members).filter(|m| m.turns > 0) {
        let turns = f64::from(member.turns);
        let ran: f64 = member.parts.values().map(Series::wall_seconds).sum();
        cells.entry(&member.cell).or_default().push((turns, ran / turns));
    }
    let of_cell = |(cell, all): (&Cell, Vec<(f64, f64)>)| {
        let (turns, seconds): (Vec<f64>, Vec<f64>) = all.into_iter().unzip();
        Some(InTurns {
            cell: cell.clone(),
            n: turns.len(),
            turns: median(&turns)?,
            seconds: median(&seconds)?,
        })
    };
    cells.into_iter().filter_map(of_cell).collect()
}

fn one_piece(results: &Results) -> Vec<OnePiece> {
    let mut cells: BTreeMap<&Cell, OnePiece> = BTreeMap::new();
    let ended_well = results.trials().filter(|t| matches!(t.outcome, Outcome::Ok(_)));
    for trial in ended_well {
        let cell = cells.entry(&trial.cell).or_insert_with(|| OnePiece {
            cell: trial.cell.clone(),
            trials: 0,
            of: 0,
            throttled: 0,
        });
        let whole = trial.group.is_none();
        cell.of += 1;
        cell.trials += usize::from(whole);
        cell.throttled += usize::from(whole && throttled(trial));
    }
    cells.into_values().filter(|c| c.trials > 0).collect()
}

fn throttled(trial: &TrialRecord) -> bool {
    let periods = trial.host.as_ref().and_then(|host| host.throttled_periods);
    periods.is_some_and(|periods| periods > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_model::group::Member;

    fn in_group(turns: u32, wall_ns: u64) -> GroupRecord {
        let member = serde_json::json!({
            "platform": "native", "provisioning": "pinned", "workload": "gzip", "box_id": 0, "every": 1,
            "units": 1, "lead": 0, "places": [0], "gate_ns": 0, "turns": turns,
            "parts": {"wall": {"work": 1.0, "wall_ns": [wall_ns], "cpu_ns": [wall_ns]}},
        });
        let member: Member = serde_json::from_value(member).unwrap();
        GroupRecord {
            group: 0,
            block: 0,
            slice_ns: 20_000_000,
            rounds: 1,
            members: vec![member],
        }
    }

    #[test]
    fn turns_are_told_by_their_number_and_length() {
        let groups = [
            in_group(3, 60_000_000),
            in_group(5, 105_000_000),
            in_group(4, 80_000_000),
        ];
        let told = in_turns(groups.iter());
        assert_eq!(told.len(), 1);
        assert_eq!((told[0].n, told[0].turns), (3, 4.0));
        assert!((told[0].seconds - 0.02).abs() < 1e-9, "{told:?}");
        assert!(in_turns([in_group(0, 1)].iter()).is_empty(), "of slices");
    }
}
