//! Which boxes stand side by side: as many as the host's memory holds, the baselines
//! of all others among them. Servers that stay from trial to trial work also while others are measured: boxes with such
//! stand by themselves.

use super::{Cohort, Group};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use tare_model::study::{Against, BoxKind, Cell, Fresh, Study, Workload};
use tare_model::workload::Role;

/// Share of the host's memory that boxes may be granted together: the rest is for the
/// host, its engines and its page cache.
const SHARE: f64 = 0.8;
/// Memory of a box beyond what it is granted: its engine, a machine's own needs.
const BESIDE_BYTES: u64 = 256 << 20;
/// Kinds of box that stand side by side at most: a round of all of them shall be short
/// against the host's drift, which goes over tenths of seconds.
const MOST_KINDS: usize = 12;

/// The memory that there is for boxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    bytes: u64,
}

impl Room {
    /// Room for any number of boxes.
    pub const UNBOUNDED: Self = Self { bytes: u64::MAX };

    /// On a host with so much memory.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of a memory size"
    )]
    pub fn of_host(memory_bytes: u64) -> Self {
        Self {
            bytes: (memory_bytes as f64 * SHARE) as u64,
        }
    }

    /// Memory in bytes that so many boxes may be granted together.
    pub fn granted(self, boxes: usize) -> u64 {
        let beside = u64::try_from(boxes)
            .unwrap_or(u64::MAX)
            .saturating_mul(BESIDE_BYTES);
        self.bytes.saturating_sub(beside)
    }

    /// How many boxes of so much memory stand side by side.
    fn boxes(self, memory_bytes: u64) -> usize {
        usize::try_from(self.bytes / (memory_bytes + BESIDE_BYTES)).unwrap_or(usize::MAX)
    }
}

/// Boxes that exist at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct SideBySide {
    pub boxes: usize,
    /// The memory that they are granted, in bytes.
    pub memory_bytes: u64,
    /// Whether the host has that much to give.
    #[serde(skip)]
    pub fits: bool,
}

impl SideBySide {
    /// One box by itself always fits here: whether the host has its memory is asked elsewhere.
    fn of(study: &Study, kinds: &[BoxKind], room: Room, stays: bool) -> Self {
        let each = |kind: &BoxKind| 1 + beside(study, kind, stays);
        let memory = |kind: &BoxKind| {
            let each_bytes = study.instance_of(kind).map_or(0, |i| i.size.memory_bytes);
            each_bytes * each(kind) as u64
        };
        let memory_bytes = kinds.iter().map(memory).sum();
        let boxes = kinds.iter().map(each).sum();
        Self {
            boxes,
            memory_bytes,
            fits: boxes <= 1 || memory_bytes <= room.granted(boxes),
        }
    }
}

/// The largest set of boxes that stands side by side; `None` where each runs by itself.
pub fn side_by_side(study: &Study, room: Room) -> Option<SideBySide> {
    if study.protocol.slicing.is_off() {
        return None;
    }
    let sets = sets(study, room, |_| {});
    let sets = sets.iter().map(|kinds| SideBySide::of(study, kinds, room, false));
    let alone = by_themselves(study).map(|kind| SideBySide::of(study, &[kind], room, true));
    sets.chain(alone).max_by_key(|set| (!set.fits, set.memory_bytes))
}

/// The boxes of the cell that has the most memory: its own with those of roles that are apart.
pub fn largest_cell(study: &Study, room: Room) -> Option<SideBySide> {
    let of_kind = |kind: BoxKind| {
        [false, true].map(|stays| SideBySide::of(study, std::slice::from_ref(&kind), room, stays))
    };
    let all = study.box_kinds().into_iter().flat_map(of_kind);
    all.max_by_key(|cell| cell.memory_bytes)
}

/// All boxes of a study that keeps them to its end, at work or not; `None` of one that
/// makes new ones.
pub fn kept(study: &Study, room: Room) -> Option<SideBySide> {
    let all = |stays| SideBySide::of(study, &study.box_kinds(), room, stays);
    let most = || {
        [false, true]
            .map(all)
            .into_iter()
            .max_by_key(|set| set.memory_bytes)
    };
    (study.protocol.fresh == Fresh::Study).then(most).flatten()
}

/// In how many sets of a block each kind of box is: baselines are in all of their size.
pub(super) fn of_each_kind(study: &Study, room: Room) -> BTreeMap<BoxKind, u32> {
    let mut cohorts = BTreeMap::new();
    if !study.protocol.slicing.is_off() {
        for kind in sets(study, room, |_| {}).into_iter().flatten() {
            *cohorts.entry(kind).or_default() += 1;
        }
    }
    cohorts
}

/// The cohorts of a block of a study that is run in slices.
pub(super) fn sliced(study: &Study, room: Room, rng: &mut ChaCha8Rng) -> Vec<Cohort> {
    let mut sets = sets(study, room, |others| others.shuffle(rng));
    sets.shuffle(rng);
    let mut planned = BTreeSet::new();
    let mut cohorts = Vec::new();
    for mut kinds in sets {
        kinds.shuffle(rng);
        let mut groups = groups(study, &kinds, &mut planned);
        groups.shuffle(rng);
        groups.iter_mut().for_each(|group| group.trials.shuffle(rng));
        match study.protocol.fresh {
            Fresh::Trial => cohorts.extend(groups.into_iter().map(|group| Cohort {
                kinds: kinds.clone(),
                groups: vec![group],
            })),
            Fresh::Block | Fresh::Study => cohorts.push(Cohort { kinds, groups }),
        }
    }
    let alone: Vec<Cohort> = by_themselves(study)
        .map(|kind| staying(study, kind, rng))
        .collect();
    if !alone.is_empty() {
        cohorts.extend(alone);
        cohorts.shuffle(rng);
    }
    cohorts
}

/// The cells of a kind of box whose servers stay, one after another.
fn staying(study: &Study, kind: BoxKind, rng: &mut ChaCha8Rng) -> Cohort {
    let mut cells = study.cells_of(&kind);
    cells.retain(|cell| stays(study, cell));
    cells.shuffle(rng);
    let shuffled = cells.clone();
    // Those with the same servers follow one another.
    cells.sort_by_cached_key(|cell| {
        let servers = standing(study, cell);
        shuffled
            .iter()
            .position(|other| standing(study, other) == servers)
    });
    let groups = cells.into_iter().map(|cell| Group::of(vec![cell], Vec::new()));
    Cohort {
        groups: groups.collect(),
        kinds: vec![kind],
    }
}

/// Whether servers of a cell stay from trial to trial.
pub(super) fn stays(study: &Study, cell: &Cell) -> bool {
    !standing(study, cell).is_empty()
}

/// A cell of each set of servers that stay together.
pub(super) fn one_of_each(study: &Study, cells: &[Cell]) -> Vec<Cell> {
    let is_first = |(at, cell): &(usize, &Cell)| {
        let mut before = cells[..*at].iter();
        !before.any(|other| standing(study, other) == standing(study, cell))
    };
    let firsts = cells.iter().enumerate().filter(is_first);
    firsts.map(|(_, cell)| cell.clone()).collect()
}

fn standing<'a>(study: &'a Study, cell: &Cell) -> Vec<&'a Role> {
    let workload = study
        .workloads
        .iter()
        .find(|workload| workload.name() == cell.workload);
    workload.into_iter().flat_map(Workload::standing).collect()
}

/// The kinds of box with such cells.
fn by_themselves(study: &Study) -> impl Iterator<Item = BoxKind> {
    let kinds = study.box_kinds().into_iter();
    kinds.filter(|kind| study.cells_of(kind).iter().any(|cell| stays(study, cell)))
}

/// The kinds of box of each size, in sets that the host's memory holds; the baselines
/// are in every set, the others in the order that `arrange` gives them.
fn sets(study: &Study, room: Room, mut arrange: impl FnMut(&mut Vec<BoxKind>)) -> Vec<Vec<BoxKind>> {
    let mut sets = Vec::new();
    for instance in &study.instances {
        let mut kinds = study.box_kinds();
        kinds.retain(|kind| {
            let mut cells = study.cells_of(kind).into_iter();
            kind.instance == instance.name && cells.any(|cell| !stays(study, &cell))
        });
        let apart = kinds.iter().map(|kind| beside(study, kind, false)).max();
        let most = room.boxes(instance.size.memory_bytes) / (1 + apart.unwrap_or(0));
        let most = most.min(MOST_KINDS);
        let (baselines, mut others): (Vec<_>, Vec<_>) = kinds
            .into_iter()
            .partition(|kind| kind.platform == study.baseline);
        arrange(&mut others);
        let beside = most.saturating_sub(baselines.len()).max(1);
        let n_sets = others.len().div_ceil(beside);
        if n_sets == 0 && !baselines.is_empty() {
            sets.push(baselines);
            continue;
        }
        // As even as can be: a set of one beside a full one would be measured otherwise.
        for number in 0..n_sets {
            let own = others.iter().skip(number).step_by(n_sets).cloned();
            sets.push(baselines.iter().cloned().chain(own).collect());
        }
    }
    sets
}

/// How many boxes stand beside one of this kind at most, for roles that are apart, of workloads whose servers stay or
/// do not. They stay from one workload to the next.
pub(super) fn beside(study: &Study, kind: &BoxKind, stays: bool) -> usize {
    let cells = study.cells_of(kind);
    let runs = |workload: &&Workload| cells.iter().any(|cell| cell.workload == workload.name());
    let workloads = study
        .workloads
        .iter()
        .filter(|workload| workload.stays() == stays)
        .filter(runs);
    let apart = workloads.flat_map(|workload| workload.apart());
    let names: BTreeSet<&str> = apart.map(|role| role.name.as_str()).collect();
    names.len()
}

/// One group for each workload; what was planned in another set is a shadow baseline here.
fn groups(study: &Study, kinds: &[BoxKind], planned: &mut BTreeSet<Cell>) -> Vec<Group> {
    let mut groups = Vec::new();
    for workload in study.workloads.iter().filter(|workload| !workload.stays()) {
        let cells = kinds.iter().flat_map(|kind| study.cells_of(kind));
        let cells: Vec<Cell> = cells.filter(|cell| cell.workload == workload.name()).collect();
        let (own, others): (Vec<Cell>, Vec<Cell>) =
            cells.into_iter().partition(|cell| !planned.contains(cell));
        planned.extend(own.iter().cloned());
        if own.is_empty() {
            continue;
        }
        let needed = |shadow: &Cell| {
            own.iter().any(|cell| {
                let against = Against::ALL.map(|against| study.baseline_cell(cell, against));
                against.into_iter().flatten().any(|baseline| baseline == *shadow)
            })
        };
        let shadow_baselines = others.iter().filter(|cell| needed(cell)).cloned().collect();
        groups.push(Group::of(own, shadow_baselines));
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{ProtocolOptions, StudyRequest, study};
    use crate::plan;
    use tare_model::host::HostFacts;
    use tare_model::measuring::Slicing;
    use tare_model::workload::{Place, Ready};

    fn example(platforms: usize) -> Study {
        let wishes = StudyRequest {
            platforms: (1..=platforms).map(|cost| format!("fake?cost={cost}")).collect(),
            cpus: "1".parse().ok(),
            protocol: ProtocolOptions {
                seed: Some(7),
                slicing: Some(Slicing::AUTO),
                ..ProtocolOptions::default()
            },
            ..StudyRequest::default()
        };
        let facts = HostFacts {
            memory_bytes: 64 << 30,
            ..HostFacts::default()
        };
        study(&wishes, &facts).unwrap()
    }

    #[test]
    fn every_cell_is_planned_once_and_beside_its_baselines() {
        let study = example(9);
        for memory in [1_u64 << 30, 8 << 30, 64 << 30] {
            let cohorts = plan::block(&study, Room::of_host(memory), 3);
            let mut cells: Vec<Cell> = cohorts
                .iter()
                .flat_map(Cohort::trials)
                .map(|t| t.cell.clone())
                .collect();
            cells.sort();
            let mut all = study.cells();
            all.sort();
            assert_eq!(cells, all);
            for group in cohorts.iter().flat_map(|cohort| &cohort.groups) {
                let here: Vec<&Cell> = group
                    .trials
                    .iter()
                    .map(|t| &t.cell)
                    .chain(&group.shadow_baselines)
                    .collect();
                for trial in &group.trials {
                    let baseline = study.baseline_cell(&trial.cell, Against::Native);
                    assert!(baseline.is_none_or(|b| here.contains(&&b)));
                }
            }
        }
    }

    #[test]
    fn no_more_boxes_stand_side_by_side_than_memory_holds() {
        let study = example(9);
        let each = study.instances[0].size.memory_bytes + BESIDE_BYTES;
        for n in [4, 6, 11, 18] {
            let room = Room { bytes: n * each };
            for cohort in plan::block(&study, room, 0) {
                assert!(cohort.kinds.len() as u64 <= n, "{} of {n}", cohort.kinds.len());
            }
            assert!(side_by_side(&study, room).unwrap().fits);
        }
        assert!(!side_by_side(&study, Room { bytes: each }).unwrap().fits);
    }

    #[test]
    fn the_baselines_boxes_are_counted_in_every_set_that_they_are_in() {
        let mut study = example(4);
        study.protocol.blocks = 10;
        let each = study.instances[0].size.memory_bytes + BESIDE_BYTES;
        let boxes = |study: &Study, room| {
            let any = |_: &BoxKind| plan::BoxCost {
                launch_seconds: 1.0,
                stretch: 1.0,
            };
            plan::cost(study, room, any).boxes
        };
        // Two baselines and six others, in three sets of four.
        let tight = Room { bytes: 4 * each };
        assert_eq!(plan::block(&study, tight, 0).len(), 3);
        assert_eq!(boxes(&study, tight), 10 * 12);
        assert_eq!(boxes(&study, Room::UNBOUNDED), 10 * 8);
        study.protocol.fresh = Fresh::Study;
        assert_eq!(boxes(&study, tight), 8);
        study.protocol.fresh = Fresh::Trial;
        let groups = u32::try_from(study.workloads.len()).unwrap();
        assert_eq!(boxes(&study, tight), 10 * 12 * groups);
    }

    #[test]
    fn boxes_whose_servers_stay_stand_by_themselves() {
        let mut study = example(3);
        // Two workloads have the same two workers, one has another.
        let role = study.workloads[0].roles[0].clone();
        let worker = |name: &str| Role {
            name: name.to_owned(),
            place: Place::Apart,
            ready: Some(Ready::Line("ready".to_owned())),
            stands: true,
            ..role.clone()
        };
        for (number, workers) in [
            &["worker-1", "worker-2"][..],
            &["other"],
            &["worker-1", "worker-2"],
        ]
        .into_iter()
        .enumerate()
        {
            study.workloads[number]
                .roles
                .extend(workers.iter().map(|name| worker(name)));
        }
        let (all, kinds) = (study.cells().len(), study.box_kinds().len());
        let cohorts = plan::block(&study, Room::of_host(64 << 30), 1);
        assert_eq!(cohorts.iter().flat_map(Cohort::trials).count(), all);
        let stays = |cohort: &&Cohort| cohort.trials().any(|trial| stays(&study, &trial.cell));
        let (alone, others): (Vec<&Cohort>, Vec<&Cohort>) = cohorts.iter().partition(stays);
        assert_eq!((alone.len(), others.len()), (kinds, 1));
        for cohort in alone {
            assert_eq!((cohort.kinds.len(), cohort.groups.len()), (1, 3));
            let servers: Vec<usize> = cohort
                .trials()
                .map(|trial| standing(&study, &trial.cell).len())
                .collect();
            assert!(
                [[2, 2, 1], [1, 2, 2]].contains(&[servers[0], servers[1], servers[2]]),
                "{servers:?}"
            );
        }
        let any = |_: &BoxKind| plan::BoxCost {
            launch_seconds: 1.0,
            stretch: 1.0,
        };
        let each = u32::try_from(kinds * (1 + 4)).unwrap();
        let cost = plan::cost(&study, Room::UNBOUNDED, any);
        assert_eq!(cost.boxes, each * cost.blocks);
    }

    #[test]
    fn boxes_apart_are_counted_where_their_workload_runs() {
        let mut study = example(2);
        let role = Role {
            name: "worker".to_owned(),
            place: Place::Apart,
            ..study.workloads[0].roles[0].clone()
        };
        study.workloads[0].roles.push(role);
        let (with, without) = (study.workloads[0].name.clone(), study.workloads[1].name.clone());
        let mut instances = ["small", "large"].map(|name| {
            let mut instance = study.instances[0].clone();
            instance.name = Some(name.to_owned());
            instance
        });
        instances[1].size.memory_bytes *= 4;
        study.instances = instances.into();
        study.listed = study.cells().into_iter().collect();
        study.listed.retain(|cell| {
            let workload = if cell.kind.instance.as_deref() == Some("small") {
                &with
            } else {
                &without
            };
            cell.workload == *workload
        });
        let largest = largest_cell(&study, Room::UNBOUNDED).unwrap();
        assert_eq!(
            (largest.boxes, largest.memory_bytes),
            (1, study.instances[1].size.memory_bytes)
        );
    }

    #[test]
    fn all_trials_of_one_workload_are_of_one_group_where_memory_allows() {
        let study = example(3);
        let cohorts = plan::block(&study, Room::of_host(64 << 30), 1);
        assert_eq!(cohorts.len(), 1);
        assert_eq!(cohorts[0].kinds.len(), 6);
        assert!(
            cohorts[0]
                .groups
                .iter()
                .all(|group| group.trials.len() == 6 && group.shadow_baselines.is_empty())
        );
    }
}
