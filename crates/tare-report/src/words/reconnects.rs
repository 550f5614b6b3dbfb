//! Servers that do not keep connections, in words.

use super::notices::some_clauses;
use tare_analysis::{Analysis, CellLatencies};
use tare_model::size::counted;

/// A server that closes more than one connection per so many requests does not keep them. Those with
/// a limit close fewer: Apache one per 100 (`MaxKeepAliveRequests`), nginx one per 1,000.
const REQUESTS: u64 = 50;

const MEANING: &str = "the server closed connections that were to be kept, so the figure includes connecting and requests that were sent again: have it answer every request and keep connections, or set keep = \"no\"";

/// In how many cells this is so, and what it means.
pub(crate) fn doubt(analysis: &Analysis) -> Option<(usize, String)> {
    let cells: Vec<String> = analysis
        .latencies
        .iter()
        .filter_map(|of| Some(format!("{}: {}", of.cell, told(of)?)))
        .collect();
    let words = || format!("{MEANING} ({})", some_clauses(&cells));
    (!cells.is_empty()).then(|| (cells.len(), words()))
}

/// The same of the only cell.
pub fn of_one(analysis: &Analysis) -> Option<String> {
    let told = analysis.latencies.iter().find_map(told)?;
    Some(format!("{MEANING} ({told})"))
}

/// `1710 closed in 3420 requests`, if that is often.
fn told(of: &CellLatencies) -> Option<String> {
    let closed = of.reconnects?;
    let is_often = closed.saturating_mul(REQUESTS) > of.requests;
    is_often.then(|| format!("{closed} closed in {}", counted(of.requests, "request")))
}
