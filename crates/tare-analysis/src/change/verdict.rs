//! The decision table on a change. There is no number of blocks still needed:
//! the run before the upgrade cannot be prolonged.

use crate::run::verdict::of_row;
use crate::run::{Basis, Verdict};
use tare_stats::{Welch, decide};

/// Rows 1 to 5, for a positive margin `m` in logs and Holm's `p`.
pub(super) fn decided(welch: &Welch, p: f64, m: f64) -> Verdict {
    Verdict {
        basis: Some(Basis::of_logs(welch.difference, welch.interval, m, p)),
        ..of_row(decide(welch.interval, p, m))
    }
}
