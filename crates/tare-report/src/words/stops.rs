//! Why cells stopped.

use tare_analysis::Stop;

/// Why a cell left, or why it did not.
pub(crate) fn why(stop: &Stop) -> String {
    let judgement = stop.at.judgement;
    match (stop.settled, judgement.is_settled()) {
        (true, _) => judgement.to_string(),
        (false, true) => {
            format!("open: {judgement}, but another comparison of the cell, or its other size, is not")
        }
        (false, false) => format!("open: {judgement}"),
    }
}
