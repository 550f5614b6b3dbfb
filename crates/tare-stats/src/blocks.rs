//! How many more blocks a decision would need.

use crate::{PairedInference, t_quantile};

/// Normal quantile of the power 80 % that is aimed at.
const POWER: f64 = 0.84;

/// Blocks to add until a decision on `inference` is likely (80 %), at least 1:
/// the fewer of two numbers ceil(((t + 0.84) s / g)^2) - n, for the two answers.
///
/// - A difference: g = |mean|. Its p must also bear Holm's correction, so t is the
///   quantile at 5 % over `holm_factor`, by which p is multiplied now.
/// - Within the `margin`: g = margin - |mean|, t at the level of the interval. Of a mean
///   that is understated the margin is what it would be shown as.
///
/// s is the widened standard deviation; where the check by bootstrap-t moved the
/// end that stands in the way, s is stretched as that end is.
pub fn more_blocks(inference: &PairedInference, holm_factor: f64, margin: f64) -> Option<u64> {
    let size = inference.mean.abs();
    let (low, high) = inference.stretch();
    let inner = if inference.mean > 0.0 { low } else { high };
    let miss = 1.0 - inference.looks.level();
    let difference = total(inference, inner, miss / holm_factor.max(1.0), size);
    let equality = total(inference, low.max(high), miss, inference.shown(margin) - size);
    let total = difference.into_iter().chain(equality).min()?;
    Some(total.saturating_sub(inference.n as u64).max(1))
}

/// ceil(((t + 0.84) s / distance)^2), t two-sided at 1 - `miss`.
fn total(inference: &PairedInference, stretch: f64, miss: f64, distance: f64) -> Option<u64> {
    let t = t_quantile(1.0 - miss / 2.0, inference.n.checked_sub(1)?)?;
    let total = ((t + POWER) * inference.t.sd * stretch / distance).powi(2).ceil();
    // A number of blocks beyond this is no plan.
    if distance <= 0.0 || !(total.is_finite() && total < 1e9) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1e9")]
    let total = total as u64;
    Some(total)
}
