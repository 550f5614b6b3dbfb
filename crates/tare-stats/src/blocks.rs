//! How many more blocks a decision would need.

use crate::{TEstimate, t_quantile};

/// Normal quantile of the power 80 % that is aimed at.
const POWER: f64 = 0.84;

/// Blocks to add until a decision on `estimate` is likely (80 %):
/// ceil(((t + 0.84) s / g)^2) - n with g = max(m - |mean|, |mean|), the distance
/// to the nearer of the two answers, "within the margin" and "not 0"; t is the
/// two-sided quantile at `level`, m is `margin`. At least 1.
pub fn more_blocks(estimate: &TEstimate, level: f64, margin: f64) -> Option<u64> {
    let distance = (margin - estimate.mean.abs()).max(estimate.mean.abs());
    let t = t_quantile(f64::midpoint(1.0, level), estimate.n.checked_sub(1)?)?;
    let total = ((t + POWER) * estimate.sd / distance).powi(2).ceil();
    // A number of blocks beyond this is no plan.
    if distance <= 0.0 || !(total.is_finite() && total < 1e9) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1e9")]
    let total = total as u64;
    Some(total.saturating_sub(estimate.n as u64).max(1))
}
