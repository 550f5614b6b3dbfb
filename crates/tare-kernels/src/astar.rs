//! `astar`: the cheapest way across a map by A* (Hart, Nilsson and Raphael 1968): a free
//! stand-in for 473.astar of SPEC CPU 2006, which finds ways on maps as well.
//!
//! A heap and look-ups in tables of some tens of KiB, with branches that depend on them.

use crate::error::KernelError;
use crate::gate::{Sliced, timed_alone};
use crate::isa::{Granted, per_isa};
use crate::random::Random;
use crate::report;
use crate::size;
use std::hint::black_box;
use tare_wire::gate::Part;
use tare_wire::kernel::{Check, KernelSpec};

/// Of a field that nothing passes.
const WALL: u32 = 0;
/// One field in so many is a wall.
const FIELDS_PER_WALL: u32 = 4;
/// Largest cost of entering a field; the smallest is 1.
const MOST_COST: u32 = 4;
const UNREACHED: u32 = u32::MAX;

/// The kernel, of which a unit is a search from the first field to the last.
pub struct Slices {
    isa: Granted,
    map: Map,
    memory: Memory,
    right: u32,
    wrong: u64,
}

impl Slices {
    /// # Errors
    /// [`KernelError::Size`] for a map too small or too large.
    pub fn new(spec: &KernelSpec, isa: Granted) -> Result<Self, KernelError> {
        let side = size::count(spec)?;
        let mut random = Random::new(1);
        // Now and then walls cut the map in two: the next one is taken then.
        let (map, right) = loop {
            let map = Map::new(side, &mut random);
            if let Some(cost) = by_rounds(&map) {
                break (map, cost);
            }
        };
        Ok(Self {
            isa,
            memory: Memory::new(map.costs.len()),
            map,
            right,
            wrong: 0,
        })
    }
}

impl Sliced for Slices {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        self.wrong += timed_alone(parts, units as f64, || {
            let wrong = |_: &u64| search(self.isa, black_box(&self.map), &mut self.memory) != self.right;
            (0..units).filter(wrong).count() as u64
        });
        Ok(())
    }

    fn check(&mut self) -> Check {
        report::check("paths that are not the cheapest", self.wrong as f64, 0.0)
    }
}

/// A square of fields with a rim of walls, so that every field has four neighbours.
struct Map {
    /// Fields in a row, the rim among them.
    width: usize,
    /// Cost of entering each field.
    costs: Vec<u32>,
}

impl Map {
    fn new(side: usize, random: &mut Random) -> Self {
        let width = side + 2;
        let mut costs = vec![WALL; width * width];
        for row in costs.chunks_exact_mut(width).skip(1).take(side) {
            for cost in &mut row[1..=side] {
                let draw = random.below(FIELDS_PER_WALL * MOST_COST);
                *cost = if draw < MOST_COST {
                    WALL
                } else {
                    1 + draw % MOST_COST
                };
            }
        }
        let mut map = Self { width, costs };
        let (first, last) = (map.first(), map.last());
        (map.costs[first], map.costs[last]) = (1, 1);
        map
    }

    fn first(&self) -> usize {
        self.width + 1
    }

    fn last(&self) -> usize {
        self.costs.len() - self.width - 2
    }

    /// The least that the way from a field to the last one can cost: its steps.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a map has less than 2^32 fields")]
    fn at_least(&self, field: usize) -> u32 {
        let goal = self.width - 2;
        ((goal - field % self.width) + (goal - field / self.width)) as u32
    }
}

/// What a search writes to: the same pages each time.
struct Memory {
    /// Cost of the cheapest way to each field that was found so far.
    costs: Vec<u32>,
    /// Fields to go on from.
    heap: Vec<Entry>,
}

impl Memory {
    fn new(fields: usize) -> Self {
        Self {
            costs: vec![UNREACHED; fields],
            // A field is pushed once for each neighbour that makes it cheaper.
            heap: Vec::with_capacity(4 * fields),
        }
    }
}

/// A field to go on from: above, the least that a way through it costs, so that the order
/// of numbers is that of costs; below, the field.
type Entry = u64;

per_isa!(fn search(map: &Map, memory: &mut Memory) -> u32 = search_body);

/// The cost of the cheapest way, or [`UNREACHED`].
#[inline(always)]
fn search_body<const LANES: usize>(map: &Map, memory: &mut Memory) -> u32 {
    let Memory { costs, heap } = memory;
    costs.fill(UNREACHED);
    heap.clear();
    let (first, last) = (map.first(), map.last());
    costs[first] = 0;
    push(heap, entry(map.at_least(first), first));
    while let Some(next) = pop(heap) {
        let field = field_of(next);
        let cost = costs[field];
        if field == last {
            return cost;
        }
        if next >> 32 > u64::from(cost + map.at_least(field)) {
            // A cheaper way here was found since.
            continue;
        }
        for neighbour in [field - 1, field + 1, field - map.width, field + map.width] {
            let step = map.costs[neighbour];
            let through = cost + step;
            if step != WALL && through < costs[neighbour] {
                costs[neighbour] = through;
                push(heap, entry(through + map.at_least(neighbour), neighbour));
            }
        }
    }
    UNREACHED
}

#[inline(always)]
fn entry(cost: u32, field: usize) -> Entry {
    u64::from(cost) << 32 | field as u64
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the lower half is the field")]
fn field_of(entry: Entry) -> usize {
    entry as u32 as usize
}

/// Adds to a heap of which each entry is at most as large as the two below it.
#[inline(always)]
fn push(heap: &mut Vec<Entry>, entry: Entry) {
    heap.push(entry);
    let mut at = heap.len() - 1;
    while at > 0 {
        let above = (at - 1) / 2;
        if heap[above] <= entry {
            break;
        }
        heap[at] = heap[above];
        at = above;
    }
    heap[at] = entry;
}

/// Takes the least one away.
#[inline(always)]
fn pop(heap: &mut Vec<Entry>) -> Option<Entry> {
    let last = heap.pop()?;
    let Some(least) = heap.first().copied() else {
        return Some(last);
    };
    let mut at = 0;
    loop {
        let mut below = 2 * at + 1;
        if below >= heap.len() {
            break;
        }
        if below + 1 < heap.len() && heap[below + 1] < heap[below] {
            below += 1;
        }
        if last <= heap[below] {
            break;
        }
        heap[at] = heap[below];
        at = below;
    }
    heap[at] = last;
    Some(least)
}

/// The known answer, by an algorithm that has nothing in common with the search but the
/// map (Bellman 1958, Ford 1956): round after round over all fields until none gets cheaper.
fn by_rounds(map: &Map) -> Option<u32> {
    let mut costs = vec![UNREACHED; map.costs.len()];
    costs[map.first()] = 0;
    loop {
        let mut changed = false;
        for field in map.first()..=map.last() {
            if map.costs[field] == WALL {
                continue;
            }
            let around = [field - 1, field + 1, field - map.width, field + map.width];
            let nearest = around.map(|neighbour| costs[neighbour]).into_iter().min();
            let through = nearest.unwrap_or(UNREACHED).saturating_add(map.costs[field]);
            if through < costs[field] {
                (costs[field], changed) = (through, true);
            }
        }
        if !changed {
            return Some(costs[map.last()]).filter(|cost| *cost != UNREACHED);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;
    use tare_wire::kernel::{Isa, Kernel};

    fn by_dijkstra(map: &Map) -> u32 {
        let mut costs = vec![UNREACHED; map.costs.len()];
        let mut queue = BinaryHeap::from([Reverse((0, map.first()))]);
        while let Some(Reverse((cost, field))) = queue.pop() {
            if cost >= costs[field] {
                continue;
            }
            costs[field] = cost;
            for neighbour in [field - 1, field + 1, field - map.width, field + map.width] {
                if map.costs[neighbour] != WALL {
                    queue.push(Reverse((cost + map.costs[neighbour], neighbour)));
                }
            }
        }
        costs[map.last()]
    }

    #[test]
    fn every_level_finds_the_way_of_dijkstra_or_none() {
        let mut random = Random::new(7);
        for isa in isa::granted() {
            for side in [8, 9, 16, 31, 64, 100] {
                let map = Map::new(side, &mut random);
                let right = by_dijkstra(&map);
                let mut memory = Memory::new(map.costs.len());
                for _ in 0..2 {
                    assert_eq!(search(isa, &map, &mut memory), right, "{side}");
                }
                assert_eq!(by_rounds(&map), Some(right).filter(|cost| *cost != UNREACHED));
            }
        }
    }

    #[test]
    fn another_map_is_noticed() {
        let spec = KernelSpec {
            kernel: Kernel::Astar,
            isa: Isa::Baseline,
            threads: 1,
            size: 32,
            seconds: 0.05,
        };
        let mut slices = Slices::new(&spec, isa::granted()[0]).unwrap();
        let mut parts = [Part::from((0.0, 0, 0))];
        slices.work(5, &mut parts).unwrap();
        assert_eq!((parts[0].work, slices.check().found), (5.0, 0.0));
        let last = slices.map.last();
        slices.map.costs[last] += 1;
        slices.work(2, &mut parts).unwrap();
        assert_eq!(slices.check().found, 2.0);
    }
}
