//! Wilcoxon's signed-rank test.

use crate::count;
use statrs::function::erf::erfc;

/// Most pairs for which the distribution is counted out.
const EXACT: usize = 25;

/// Two-sided p value of Wilcoxon's signed-rank test (Wilcoxon 1945) that `values`
/// lie symmetrically about 0.
///
/// Zeros are left out. Up to 25 values without ties: exact. Else the normal
/// approximation with the corrections for ties and for continuity, as in R's
/// `wilcox.test` and SciPy's `wilcoxon` with `correction=True`. `None` where no
/// value differs from 0, or one is not finite.
pub fn wilcoxon(values: &[f64]) -> Option<f64> {
    if !values.iter().all(|v| v.is_finite()) {
        return None;
    }
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| *v != 0.0).collect();
    sorted.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
    let (positive, ties) = rank_sum(&sorted);
    let zeros = values.len() - sorted.len();
    match sorted.len() {
        0 => None,
        n if n <= EXACT && ties == 0.0 && zeros == 0 => Some(exact(n, positive)),
        _ => approximate(count(&sorted), positive, ties),
    }
}

/// The sum of the ranks of positive values, and the sum of t^3 - t over groups
/// of t equal sizes. `sorted` by size without sign; equal ones share a rank.
fn rank_sum(sorted: &[f64]) -> (f64, f64) {
    let (mut positive, mut ties, mut before) = (0.0, 0.0, 0.0);
    #[expect(clippy::float_cmp, reason = "a tie is equality")]
    for group in sorted.chunk_by(|a, b| a.abs() == b.abs()) {
        let size = count(group);
        let rank = before + (size + 1.0) / 2.0;
        let above: Vec<&f64> = group.iter().filter(|v| **v > 0.0).collect();
        positive += rank * count(&above);
        ties += size.powi(3) - size;
        before += size;
    }
    (positive, ties)
}

/// Twice the smaller tail. `ways[s]` counts the sets of ranks 1 to n with sum s;
/// there are 2^n, which a float holds exactly.
fn exact(n: usize, positive: f64) -> f64 {
    let most = n * (n + 1) / 2;
    let mut ways = vec![0.0; most + 1];
    ways[0] = 1.0;
    for rank in 1..=n {
        for sum in (rank..=most).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    let all: f64 = ways.iter().sum();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 325")]
    let positive = positive as usize;
    // The distribution is symmetrical about most / 2.
    let tail = positive.min(most - positive);
    (2.0 * ways[..=tail].iter().sum::<f64>() / all).min(1.0)
}

fn approximate(n: f64, positive: f64, ties: f64) -> Option<f64> {
    let mean = n * (n + 1.0) / 4.0;
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
    let distance = ((positive - mean).abs() - 0.5).max(0.0);
    let z = crate::finite(distance / variance.sqrt())?;
    Some(erfc(z / std::f64::consts::SQRT_2))
}
