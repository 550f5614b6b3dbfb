//! What the host counted of the trials of each cell, whatever counters the file has.

use super::trials::{CellTrials, Trials};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use tare_model::conditions::Counter;
use tare_model::metric::Unit;
use tare_model::study::Cell;
use tare_stats::median;

/// One counter of one cell, over its trials.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct CellCounter {
    #[serde(flatten)]
    pub cell: Cell,
    /// The counter's name.
    pub counter: String,
    pub unit: Unit,
    /// Trials that have it.
    pub trials: usize,
    /// The least of them.
    pub least: f64,
    pub median: f64,
    pub most: f64,
}

/// All counters, those of one name beside one another, the cells in the order of the study.
pub(crate) fn all(trials: &Trials<'_>) -> Vec<CellCounter> {
    let mut all: Vec<CellCounter> = trials.cells.iter().flat_map(of_cell).collect();
    all.sort_by(|a, b| a.counter.cmp(&b.counter));
    all
}

fn of_cell(cell: &CellTrials<'_>) -> Vec<CellCounter> {
    let mut by_name: BTreeMap<&str, (&Counter, Vec<f64>)> = BTreeMap::new();
    let hosts = cell.used.values().filter_map(|used| used.host);
    for (name, counter) in hosts.flat_map(|host| &host.counters) {
        let (_, values) = by_name.entry(name).or_insert_with(|| (counter, Vec::new()));
        values.push(counter.value);
    }
    let told = by_name.into_iter().filter_map(|(name, (counter, values))| {
        Some(CellCounter {
            cell: cell.cell.clone(),
            counter: name.to_owned(),
            unit: counter.unit.clone(),
            trials: values.len(),
            least: values.iter().copied().reduce(f64::min)?,
            median: median(&values)?,
            most: values.iter().copied().reduce(f64::max)?,
        })
    });
    told.collect()
}
