//! How much noisier one cell is than another, without the slow drift of the host.

use crate::student::two_sided;
use crate::{Interval, count, finite, sd, t_quantile};

/// Fewest pairs from which on the interval covers what it says.
pub const STEADINESS_PAIRS: usize = 30;

/// Neighbouring blocks that are left out together.
const GROUP: usize = 3;

/// The ratio of the noise of two cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steadiness {
    /// Number of pairs.
    pub n: usize,
    /// D of the cell over D of its baseline; over 1 is less steady.
    pub ratio: f64,
    /// Its interval with the p value; from 30 pairs on.
    pub spread: Option<SteadinessSpread>,
}

/// How sure a steadiness ratio is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadinessSpread {
    /// Interval of the ratio.
    pub interval: Interval,
    /// Two-sided p value of the ratio being 1.
    pub p: f64,
}

/// D_x / D_y of pairs (`x[i]`, `y[i]`) in the order of the blocks, all positive.
///
/// D^2 is half the mean squared difference of ln x between successive blocks (von
/// Neumann 1941): the noise without slow drift and, on logs, a coefficient of
/// variation. Interval: jackknife of ln(D_x / D_y), leaving out groups of 3
/// neighbouring blocks with every difference that one of them takes part in, t with
/// G - 1 degrees of freedom for G groups.
pub fn steadiness(x: &[f64], y: &[f64], level: f64) -> Option<Steadiness> {
    if x.len() != y.len() {
        return None;
    }
    let squares = squares(x)?.into_iter().zip(squares(y)?);
    let squares: Vec<(f64, f64)> = squares.collect();
    let log = log_ratio(squares.iter().fold((0.0, 0.0), plus))?;
    Some(Steadiness {
        n: x.len(),
        ratio: finite(log.exp())?,
        spread: jackknife(&squares, x.len(), log, level),
    })
}

/// Squared differences of the logs of neighbours.
fn squares(values: &[f64]) -> Option<Vec<f64>> {
    let log = |v: &f64| if *v > 0.0 { finite(v.ln()) } else { None };
    let logs: Vec<f64> = values.iter().map(log).collect::<Option<_>>()?;
    Some(logs.windows(2).map(|w| (w[1] - w[0]).powi(2)).collect())
}

fn plus(sum: (f64, f64), square: &(f64, f64)) -> (f64, f64) {
    (sum.0 + square.0, sum.1 + square.1)
}

/// ln(D_x / D_y) of two sums of squares; the number of differences and the half cancel.
fn log_ratio((x, y): (f64, f64)) -> Option<f64> {
    finite((x.ln() - y.ln()) / 2.0)
}

fn jackknife(squares: &[(f64, f64)], n: usize, log: f64, level: f64) -> Option<SteadinessSpread> {
    if n < STEADINESS_PAIRS {
        return None;
    }
    let groups = n / GROUP;
    let sums = Sums::of(squares);
    let without: Vec<f64> = (0..groups)
        .map(|g| log_ratio(sums.without(g * n / groups, (g + 1) * n / groups)))
        .collect::<Option<_>>()?;
    // The pseudo-values G log - (G - 1) log_(-g) spread G - 1 times as much as these.
    let freedom = count(&without) - 1.0;
    let error = freedom * sd(&without)? / count(&without).sqrt();
    let half = t_quantile(f64::midpoint(1.0, level), groups - 1)? * error;
    Some(SteadinessSpread {
        interval: Interval {
            low: finite((log - half).exp())?,
            high: finite((log + half).exp())?,
        },
        p: two_sided(log, error, groups - 1)?,
    })
}

/// Sums of squares from either end, so that leaving a group out takes one addition
/// and not all of them. Nothing is subtracted: what a stall in the group left out
/// outweighs would be lost by rounding.
struct Sums {
    /// Before each difference, and after the last.
    before: Vec<(f64, f64)>,
    /// From each difference on, and after the last.
    from: Vec<(f64, f64)>,
}

impl Sums {
    fn of(squares: &[(f64, f64)]) -> Self {
        let sums = |squares: &mut dyn Iterator<Item = &(f64, f64)>| {
            let mut sums = vec![(0.0, 0.0)];
            for square in squares {
                let last = sums.last().copied().unwrap_or_default();
                sums.push(plus(last, square));
            }
            sums
        };
        let mut from = sums(&mut squares.iter().rev());
        from.reverse();
        Self {
            before: sums(&mut squares.iter()),
            from,
        }
    }

    /// Without the blocks `from` to `to`. The difference at i is that of the blocks
    /// i and i + 1.
    fn without(&self, from: usize, to: usize) -> (f64, f64) {
        let before = self.before[from.saturating_sub(1)];
        let after = self.from.get(to).copied().unwrap_or_default();
        plus(before, &after)
    }
}
