//! What ran before and moved a figure.

use crate::show::{p_value, percent_with_interval, ratio_with_interval};
use tare_analysis::{CarryOver, Estimate, Side};

/// What it moved, and by how much.
pub fn words(of: &CarryOver) -> String {
    let (name, after, p) = (CarryOver::NAME, &of.after, p_value(of.p_holm));
    let Estimate { value, low, high } = of.effect;
    let Some(side) = of.side else {
        let moved = percent_with_interval(value, low, high);
        return format!("{name}: {after} right before a slice changes the typical cost by {moved} (p {p})");
    };
    let side = match side {
        Side::Cell => "it",
        Side::Baseline => "the baseline",
    };
    let ratio = ratio_with_interval(1.0 + value, 1.0 + low, 1.0 + high);
    format!("{name}: with {after} right before {side} the ratio is {ratio} of the others (p {p})")
}
