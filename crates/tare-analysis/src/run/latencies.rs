//! How long the requests of a load took, over all trials of a cell: their histograms are added,
//! since a rare latency takes more requests than one trial has.

use super::trials::{CellTrials, Trials};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::load::PERCENTILES;
use tare_model::study::Cell;
use tare_stats::Latencies;

/// The latencies of one cell, in seconds.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct CellLatencies {
    #[serde(flatten)]
    pub cell: Cell,
    /// Trials whose histograms could be read.
    pub trials: usize,
    /// Requests in them.
    pub requests: u64,
    pub mean: Option<f64>,
    /// The latency that 50, 90, 99 and 99.9 % of them did not exceed; absent where fewer than ten
    /// lie beyond it.
    pub percentiles: [Option<f64>; 4],
    /// Connections that were made again, as the server had closed them; absent where no trial tells.
    pub reconnects: Option<u64>,
}

/// Of all cells with a load, those of one workload beside one another, else in the order of the
/// study.
pub(crate) fn all(trials: &Trials<'_>) -> Vec<CellLatencies> {
    let mut all: Vec<CellLatencies> = trials.cells.par_iter().filter_map(of_cell).collect();
    let first = |workload: &str| trials.cells.iter().position(|c| c.cell.workload == workload);
    all.sort_by_cached_key(|of| first(&of.cell.workload));
    all
}

fn of_cell(cell: &CellTrials<'_>) -> Option<CellLatencies> {
    let told = cell.used.values().filter_map(|used| used.latencies);
    // One at a time: each has room for every latency up to the longest, 150 kB.
    let mut read = told.filter_map(Latencies::of_text);
    let mut all = read.next()?;
    let mut trials = 1;
    for more in read {
        all.add(&more);
        trials += 1;
    }
    Some(CellLatencies {
        cell: cell.cell.clone(),
        trials,
        requests: all.count(),
        mean: all.mean(),
        percentiles: PERCENTILES.map(|(_, share)| all.percentile(share)),
        reconnects: cell
            .used
            .values()
            .filter_map(|used| used.reconnects)
            .reduce(u64::saturating_add),
    })
}
