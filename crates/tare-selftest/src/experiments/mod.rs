//! What is simulated, by subject.

mod adaptive;
mod bca;
mod beside;
mod cells;
mod changes;
mod designs;
mod family;
mod fixed;
mod hosts;
mod luck;
mod means;
mod predecessors;
mod rounds;
mod savings;
mod shares;
mod short;
mod sizes;
mod stalls;
mod steadiness;

use crate::simulate::Experiment;

/// Every experiment of the table, in its order.
pub fn all() -> Vec<Box<dyn Experiment>> {
    let subjects = [
        fixed::all(),
        bca::all(),
        designs::all(),
        adaptive::all(),
        family::all(),
        savings::all(),
        means::all(),
        steadiness::all(),
        sizes::all(),
        rounds::all(),
        stalls::all(),
        predecessors::all(),
        luck::all(),
        hosts::all(),
        changes::all(),
        cells::all(),
        beside::all(),
        short::all(),
        adaptive::ended(),
        shares::all(),
    ];
    subjects.into_iter().flatten().collect()
}

/// The default margin, 1 %, in logs.
fn margin() -> f64 {
    0.01_f64.ln_1p()
}

/// Half the margin: the half-width that is narrow enough at a look.
fn half_width() -> f64 {
    margin() / 2.0
}

/// A share as it is named in a case: `2 %`.
fn percent(share: f64) -> String {
    format!("{} %", (share * 1e5).round() / 1e3)
}
