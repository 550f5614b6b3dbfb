//! Why each cell of an adaptive study stopped, from the looks that were stored.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use tare_model::looks::{LookRecord, LookedAt};
use tare_model::results::Results;
use tare_model::study::{Against, Cell};

/// The looks of an adaptive study.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Stops {
    /// Numbers of blocks after which looks were taken.
    pub taken: Vec<u32>,
    /// Every comparison at its last look, in the order of the comparisons.
    pub comparisons: Vec<Stop>,
}

impl Stops {
    /// Blocks after which the first cell was settled.
    pub fn first_settled(&self) -> Option<u32> {
        let settled = self.comparisons.iter().filter(|stop| stop.settled);
        settled.map(|stop| stop.blocks).min()
    }
}

/// One comparison at its last look.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Stop {
    /// Blocks that were done.
    pub blocks: u32,
    /// Whether its cell was settled by this look, and left.
    pub settled: bool,
    /// What was seen.
    #[serde(flatten)]
    pub at: LookedAt,
}

impl Stop {
    /// Half-width of the interval that was looked at, in logs.
    pub fn half_width(&self) -> Option<f64> {
        let [low, high] = self.at.figures?.interval;
        let half = (high - low) / 2.0;
        half.is_finite().then_some(half)
    }
}

/// What the looks of a file say; `None` if its study is not adaptive.
pub(crate) fn all(results: &Results) -> Option<Stops> {
    if results.header.study.protocol.stopping.is_fixed() {
        return None;
    }
    let mut last: BTreeMap<(&Cell, Against), Stop> = BTreeMap::new();
    for look in results.looks() {
        let stops = look.comparisons.iter().map(|at| stop(look, at));
        last.extend(stops.map(|(at, stop)| ((&at.cell, at.against), stop)));
    }
    let cells = results.header.study.cells();
    let of = |against| {
        let last = &last;
        cells
            .iter()
            .filter_map(move |cell| last.get(&(cell, against)).cloned())
    };
    Some(Stops {
        taken: results.looks().map(|l| l.blocks).collect(),
        comparisons: Against::ALL.into_iter().flat_map(of).collect(),
    })
}

fn stop<'a>(look: &LookRecord, at: &'a LookedAt) -> (&'a LookedAt, Stop) {
    let stop = Stop {
        blocks: look.blocks,
        settled: look.settled.contains(&at.cell),
        at: at.clone(),
    };
    (at, stop)
}

/// Blocks after which cells were settled. What a settled cell measured later, as
/// the baseline of others, is not for its own comparisons: nobody would have
/// asked for it.
pub(crate) fn settled(results: &Results) -> BTreeMap<&Cell, u32> {
    if results.header.study.protocol.stopping.is_fixed() {
        return BTreeMap::new();
    }
    results
        .looks()
        .flat_map(|look| look.settled.iter().map(|cell| (cell, look.blocks)))
        .collect()
}
