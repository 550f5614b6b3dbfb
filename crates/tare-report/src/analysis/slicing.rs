//! How the trials of a file were given their time, and what the harness took of it.

use serde::Serialize;
use std::collections::BTreeMap;
use tare_model::group::GroupRecord;
use tare_model::platform::PlatformPath;
use tare_model::results::{Outcome, Results, TrialRecord};
use tare_model::study::{Cell, Slicing};
use tare_stats::median;

/// What is known of the slices of a file.
#[derive(Debug, Clone, Serialize)]
pub struct SlicingFacts {
    /// As the study asked.
    pub slicing: Slicing,
    /// Groups of cells that ran side by side.
    pub groups: usize,
    /// Median number of their rounds.
    pub rounds: Option<f64>,
    /// How many processes had the cells of each workload.
    pub processes: Vec<Processes>,
    /// The harness's own cost, by platform.
    pub gates: Vec<Gate>,
    /// Cells with trials that ran in one piece.
    pub one_piece: Vec<OnePiece>,
}

/// Members of groups whose trials had so many processes, which took the rounds in turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Processes {
    /// The workload.
    pub workload: String,
    /// Processes of each trial.
    pub processes: u32,
    /// Members of groups that had so many.
    pub members: usize,
    /// Members of groups with this workload.
    pub of: usize,
}

/// What a slice's way to a box of one platform and back takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gate {
    /// The platform.
    pub platform: PlatformPath,
    /// Members of groups.
    pub n: usize,
    /// Median over them of their median time, in seconds.
    pub seconds: f64,
}

/// A cell with trials that ran in one piece.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OnePiece {
    /// The cell.
    #[serde(flatten)]
    pub cell: Cell,
    /// Trials in one piece, of those that ended well.
    pub trials: usize,
    /// Trials that ended well.
    pub of: usize,
    /// Those in one piece whose box was throttled by its quota, which is a reason.
    pub throttled: usize,
}

/// `None` of a file that knows nothing of slices.
pub(crate) fn facts(results: &Results) -> Option<SlicingFacts> {
    let slicing = results.header.study.protocol.slicing;
    let rounds: Vec<f64> = results.groups().map(|g| f64::from(g.rounds)).collect();
    (!slicing.is_off() || !rounds.is_empty()).then(|| SlicingFacts {
        slicing,
        groups: rounds.len(),
        rounds: median(&rounds),
        processes: processes(results.groups()),
        gates: gates(results.groups()),
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
    for member in groups.flat_map(|g| &g.members) {
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
