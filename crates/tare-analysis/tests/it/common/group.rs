//! Results whose cells ran in slices.

use super::Random;
use std::collections::BTreeMap;
use tare_model::group::{GroupRecord, Member, Series, WorkDone};
use tare_model::results::*;
use tare_model::study::{Cell, Slicing};

/// Work of a slice.
const UNITS: u64 = 1000;
/// Wall time of a slice that costs 1.
const SLICE_NS: f64 = 1e7;
/// CPU time over wall time.
pub const CPU_SHARE: f64 = 0.98;

/// A slice that is to be given a cost.
pub struct Slot<'a> {
    pub cell: &'a Cell,
    pub block: u32,
    pub round: u32,
    /// Whose slice came right before it.
    pub before: Option<&'a Cell>,
}

impl Slot<'_> {
    pub fn is(&self, platform: &str) -> bool {
        self.cell.kind.platform.to_string() == platform
    }

    pub fn after(&self, platform: &str) -> bool {
        self.before
            .is_some_and(|cell| cell.kind.platform.to_string() == platform)
    }
}

/// Lets all trials run in slices: a group for each workload of each block, its rounds in
/// random order. A slice costs what `cost` says, and samples are the means of that.
pub fn slice(results: &mut Results, rounds: u32, mut cost: impl FnMut(&Slot) -> f64) {
    results.header.study.protocol.slicing = Slicing::Auto {
        seconds: 0.01,
        found: false,
    };
    let mut random = Random::seeded(77);
    let mut groups: Vec<GroupRecord> = Vec::new();
    let cells = results.trials().map(|t| (t.block, t.cell.workload.clone()));
    let keys: std::collections::BTreeSet<(u32, String)> = cells.collect();
    for (block, workload) in keys {
        let of_group = |t: &&TrialRecord| t.block == block && t.cell.workload == workload;
        let cells: Vec<Cell> = results
            .trials()
            .filter(of_group)
            .map(|t| t.cell.clone())
            .collect();
        let number = groups.len() as u32;
        groups.push(group(number, block, &cells, rounds, &mut random, &mut cost));
    }
    for record in &mut results.records {
        if let Record::Trial(trial) = record {
            let group = groups.iter().find(|g| {
                g.block == trial.block && g.members.iter().any(|m| m.cell.workload == trial.cell.workload)
            });
            set_group(trial, group.unwrap());
        }
    }
    let end = results.records.len() - 1;
    results
        .records
        .splice(end..end, groups.into_iter().map(Record::Group));
    name_metrics(results);
}

/// A group of these cells.
pub fn group(
    number: u32,
    block: u32,
    cells: &[Cell],
    rounds: u32,
    random: &mut Random,
    cost: &mut impl FnMut(&Slot) -> f64,
) -> GroupRecord {
    let mut costs = vec![Vec::new(); cells.len()];
    let mut before = None;
    let mut places = vec![Vec::new(); cells.len()];
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..cells.len()).collect();
        order.sort_by_cached_key(|_| random.uniform().to_bits());
        for (place, &at) in (0..).zip(&order) {
            let cell = &cells[at];
            let slot = Slot {
                cell,
                block,
                round,
                before,
            };
            // No clock tells the same of every block; what costs are over one another is the same.
            costs[at].push(cost(&slot) * (1.0 + f64::from(block) * 1e-4));
            places[at].push(place);
            before = Some(cell);
        }
    }
    let member = |((cell, costs), places): ((&Cell, Vec<f64>), Vec<u32>)| member(cell, &costs, places);
    GroupRecord {
        group: number,
        block,
        slice_ns: SLICE_NS as u64,
        rounds,
        members: cells.iter().zip(costs).zip(places).map(member).collect(),
    }
}

fn member(cell: &Cell, costs: &[f64], places: Vec<u32>) -> Member {
    let wall_ns: Vec<u64> = costs.iter().map(|c| (c * SLICE_NS).round() as u64).collect();
    let cpu = |wall: &u64| (*wall as f64 * CPU_SHARE) as u64;
    let series = Series {
        work: WorkDone::Same(UNITS as f64),
        cpu_ns: wall_ns.iter().map(cpu).collect(),
        wall_ns,
    };
    Member {
        cell: cell.clone(),
        box_id: 0,
        every: 1,
        units: UNITS,
        lead: UNITS / 10,
        places,
        gate_ns: 20_000,
        turns: 0,
        frozen: false,
        processes: 1,
        // Named after every metric below, once its workload is known.
        parts: BTreeMap::from([(String::new(), series)]),
    }
}

/// Gives each part the names of the metrics of its workload.
pub fn name_metrics(results: &mut Results) {
    let study = results.header.study.clone();
    for group in groups(results) {
        for member in &mut group.members {
            let Some(series) = member.parts.remove("") else {
                continue;
            };
            let metrics = study.workload(&member.cell).unwrap().metrics();
            member.parts = metrics.into_iter().map(|m| (m.name, series.clone())).collect();
        }
    }
}

/// Names the group of a trial that succeeded, and takes its samples from it.
pub fn set_group(trial: &mut TrialRecord, group: &GroupRecord) {
    trial.group = Some(group.group);
    let member = group.member(&trial.cell).unwrap();
    let series = member.parts.values().next().unwrap();
    let mean = series.wall_seconds() * 1e9 / SLICE_NS / series.len() as f64;
    if let Outcome::Ok(success) = &mut trial.outcome {
        for (name, sample) in &mut success.samples {
            let is_rate = ["rate", "triad", "copy", "scale", "add"].contains(&name.as_str());
            *sample = if is_rate { 1.2e10 / mean } else { 1e-3 * mean };
        }
    }
}

/// The groups of a file.
pub fn groups(results: &mut Results) -> impl Iterator<Item = &mut GroupRecord> {
    results
        .records
        .iter_mut()
        .filter_map(|r| if let Record::Group(g) = r { Some(g) } else { None })
}

/// The members of a file's groups that ran on `platform`.
pub fn members<'a>(results: &'a mut Results, platform: &'a str) -> impl Iterator<Item = &'a mut Member> {
    let of = move |m: &&mut Member| m.cell.kind.platform.to_string() == platform;
    groups(results).flat_map(|g| g.members.iter_mut()).filter(of)
}
