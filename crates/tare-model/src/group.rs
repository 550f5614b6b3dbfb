//! Cells that ran side by side, slice by slice, as they are stored.
//!
//! The slices of all cells of a group stand in one record and not with their
//! trials, since they mean something only together: a cost is the ratio of two
//! slices of one round. A trial that is repeated brings its own group, in which its
//! baselines run once more; these have no trials of their own there.

use crate::metric::Unit;
use crate::study::Cell;
use crate::time::total;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The slices of a group of cells in one block: of one workload, as a rule.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct GroupRecord {
    /// Number of the group within the file, from 0; its trials name it.
    pub group: u32,
    /// Block, from 0.
    pub block: u32,
    /// Aim for a slice, or length of a turn.
    pub slice_ns: u64,
    /// Rounds, without those that only found how much work makes a slice.
    pub rounds: u32,
    /// The cells that were there to the end.
    pub members: Vec<Member>,
}

const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
const fn is_one(processes: &u32) -> bool {
    *processes == 1
}

/// One cell of a group and its slices.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Member {
    #[serde(flatten)]
    pub cell: Cell,
    /// Number of the box.
    pub box_id: u32,
    /// It takes part in every so many-th round, from the first on; more than 1 where
    /// its slices are far longer than those of its baseline.
    pub every: u32,
    /// Timed units of work in each slice.
    pub units: u64,
    /// Units before them that are not timed.
    pub lead: u64,
    /// Place within its round of each slice, from 0.
    pub places: Vec<u32>,
    /// Median time of a slice's way to the box and back: the host's time from
    /// request to reply, less the slice and its lead-in.
    pub gate_ns: u64,
    /// Turns in which its box was let run until the command had ended; 0 of slices that the
    /// process itself ended.
    #[serde(default, skip_serializing_if = "is_none")]
    pub turns: u32,
    /// Whether the box was frozen between its slices.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub frozen: bool,
    /// Processes that took its rounds in turn: a slice is of the process of its place in the
    /// order, modulo so many.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub processes: u32,
    /// The timed parts, by the name of the metric that each is the figure of.
    pub parts: BTreeMap<String, Series>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
const fn is_none(turns: &u32) -> bool {
    *turns == 0
}

/// One timed part of every slice of a member, in the order of the rounds.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Series {
    pub work: WorkDone,
    /// Wall time of each slice by the box's monotonic clock.
    pub wall_ns: Vec<u64>,
    /// CPU time of each slice.
    pub cpu_ns: Vec<u64>,
}

/// Work done in slices.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(untagged)]
pub enum WorkDone {
    /// As much in each.
    Same(f64),
    /// In each by itself.
    Each(Vec<f64>),
}

impl WorkDone {
    /// Work done in slice `i`; 0 where there is no such slice.
    pub fn of(&self, i: usize) -> f64 {
        match self {
            Self::Same(work) => *work,
            Self::Each(works) => works.get(i).copied().unwrap_or(0.0),
        }
    }

    /// In as few words as possible.
    pub fn packed(works: Vec<f64>) -> Self {
        match works.first() {
            Some(first) if works.iter().all(|work| work.to_bits() == first.to_bits()) => Self::Same(*first),
            _ => Self::Each(works),
        }
    }
}

impl Series {
    /// Whether it tells of so many slices.
    fn has(&self, n: usize) -> bool {
        let works = match &self.work {
            WorkDone::Same(_) => n,
            WorkDone::Each(works) => works.len(),
        };
        [self.wall_ns.len(), self.cpu_ns.len(), works] == [n; 3]
    }

    /// Slices.
    pub fn len(&self) -> usize {
        self.wall_ns.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.wall_ns.is_empty()
    }

    /// Wall time per unit of work of each slice, in nanoseconds.
    #[expect(
        clippy::cast_precision_loss,
        reason = "nanoseconds of a slice fit into 53 bits"
    )]
    pub fn costs(&self) -> Vec<f64> {
        let cost = |(i, wall): (usize, &u64)| *wall as f64 / self.work.of(i);
        self.wall_ns.iter().enumerate().map(cost).collect()
    }

    /// Slices whose cost no machine comes to; one that took no time has none.
    pub fn no_figures(&self) -> usize {
        let timed = self
            .wall_ns
            .iter()
            .zip(self.costs())
            .filter(|(wall, _)| **wall > 0);
        timed
            .filter(|(_, cost)| !Unit::Second.is_plausible(cost / 1e9))
            .count()
    }

    /// Work of all slices.
    pub fn total_work(&self) -> f64 {
        (0..self.len()).map(|i| self.work.of(i)).sum()
    }

    /// Wall time of all slices in seconds.
    #[expect(clippy::cast_precision_loss, reason = "nanoseconds of hours fit into 53 bits")]
    pub fn wall_seconds(&self) -> f64 {
        total(self.wall_ns.iter().copied()) as f64 / 1e9
    }

    /// CPU time of all slices in seconds.
    #[expect(clippy::cast_precision_loss, reason = "nanoseconds of hours fit into 53 bits")]
    pub fn cpu_seconds(&self) -> f64 {
        total(self.cpu_ns.iter().copied()) as f64 / 1e9
    }
}

impl GroupRecord {
    /// The member that ran this cell, if it was there to the end.
    pub fn member(&self, cell: &Cell) -> Option<&Member> {
        self.members.iter().find(|member| member.cell == *cell)
    }

    /// What is wrong with it, if its parts do not belong together.
    pub(crate) fn fault(&self) -> Option<String> {
        let twice = |(i, member): (usize, &Member)| {
            let before = &self.members[..i];
            before.iter().any(|other| other.cell == member.cell)
        };
        if self.members.iter().enumerate().any(twice) {
            return Some("a group with the same cell twice".to_owned());
        }
        let whole = |member: &Member| {
            let n = member.places.len();
            let mut parts = member.parts.values();
            member.every > 0 && member.processes > 0 && parts.all(|series| series.has(n))
        };
        (!self.members.iter().all(whole))
            .then(|| "a group whose members have unlike numbers of places, times and work".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{group, member};

    #[test]
    fn work_is_told_once_where_it_is_the_same() {
        let text = |works: &[f64]| serde_json::to_string(&WorkDone::packed(works.to_vec())).unwrap();
        assert_eq!(text(&[2.0, 2.0]), "2.0");
        assert_eq!(text(&[2.0, 3.0]), "[2.0,3.0]");
        assert_eq!(text(&[]), "[]");
        assert_eq!(serde_json::from_str::<WorkDone>("[2.0,3.0]").unwrap().of(1), 3.0);
    }

    #[test]
    fn a_member_that_does_not_tell_its_processes_had_one() {
        let told = serde_json::to_value(of(1)).unwrap();
        assert!(told["members"][0].get("processes").is_none());
        let read: GroupRecord = serde_json::from_value(told).unwrap();
        assert_eq!(read.members[0].processes, 1);
        assert!(of(0).fault().is_some() && of(2).fault().is_none());
    }

    fn of(processes: u32) -> GroupRecord {
        let member = Member {
            processes,
            ..member("native")
        };
        group(vec![member])
    }
}
