//! Which cells two files share, and whether they are the same work.

use super::NothingInCommon;
use crate::run::Refusal;
use tare_model::study::{Cell, Study, Workload};

/// The cells of two studies.
pub(super) struct Shared {
    /// Cells of both, in the order of the second.
    pub both: Vec<Cell>,
    /// Cells of the first alone.
    pub only_before: Vec<Cell>,
    /// Cells of the second alone.
    pub only_after: Vec<Cell>,
}

impl Shared {
    pub(super) fn of(before: &Study, after: &Study) -> Result<Self, NothingInCommon> {
        let (first, second) = (before.cells(), after.cells());
        let (both, only_after): (Vec<Cell>, Vec<Cell>) =
            second.iter().cloned().partition(|cell| first.contains(cell));
        if both.is_empty() {
            return Err(NothingInCommon {
                before: names(&first),
                after: names(&second),
            });
        }
        let only_before = first.into_iter().filter(|cell| !second.contains(cell));
        Ok(Self {
            only_before: only_before.collect(),
            both,
            only_after,
        })
    }
}

/// The first few names: enough to see what was taken for what.
fn names(cells: &[Cell]) -> String {
    const SHOWN: usize = 6;
    let mut names: Vec<String> = cells.iter().take(SHOWN).map(ToString::to_string).collect();
    if cells.len() > SHOWN {
        names.push(format!("{} more", cells.len() - SHOWN));
    }
    if names.is_empty() {
        "no cell".to_owned()
    } else {
        names.join(", ")
    }
}

/// Why a cell of this name is not the same thing in both studies.
pub(crate) fn unlike((before, after): (&Study, &Study), cell: &Cell) -> Option<Refusal> {
    let size = |study: &Study| study.instance_of(&cell.kind).map(|i| i.size);
    if size(before) != size(after) {
        return Some(Refusal::OtherSize);
    }
    // The length of a trial is listed among the differences.
    let work = |study: &Study| study.workload(cell).map(Workload::work);
    (work(before) != work(after)).then_some(Refusal::OtherWork)
}
