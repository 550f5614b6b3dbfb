//! Whether two overhead ratios agree.

use super::{Detectable, Difference, TheirFigure, Verdict};
use tare_analysis::{Estimate, MetricComparison, Paired};
use tare_stats::{LEVEL, t_quantile};

/// Figure in logs with its standard error and degrees of freedom.
#[derive(Debug, Clone, Copy)]
pub(super) struct Logs {
    pub value: f64,
    /// Variance of the value and degrees of freedom, by part; none if unknown.
    pub parts: [Option<(f64, f64)>; 2],
}

/// The widest half-width that confirms anything, as a share. Other hosts, kernels and years move
/// such ratios by some percent, which nobody would call a contradiction; an interval that would
/// hide a tenth says nothing.
const CONFIRMS: f64 = 0.1;

/// The difference of the two in logs, against the half-width of its interval.
pub(super) fn judged(metric: &MetricComparison, theirs: &Logs) -> Option<Verdict> {
    let own = metric.paired.as_ref()?;
    let own_part = own_error(own, metric.n);
    let difference = own.mean_log - theirs.value;
    let half = half_width(std::iter::once(own_part?).chain(theirs.known()))?;
    let with_their_error = theirs.parts.iter().all(Option::is_some);
    if difference.abs() <= half {
        let seen = Detectable {
            share: half.exp_m1(),
            with_their_error,
        };
        // Where the study's cost is larger, an interval that rules out no cost at all does.
        let confirms = half <= CONFIRMS.ln_1p().max(theirs.value.abs());
        return Some(if confirms {
            Verdict::Agrees(seen)
        } else {
            Verdict::CannotTell(seen)
        });
    }
    let [low, high] = [difference - half, difference + half].map(f64::exp);
    let ratio = Estimate {
        value: difference.exp(),
        low,
        high,
    };
    let differs = Difference {
        ratio,
        with_their_error,
    };
    ratio.value.is_finite().then_some(Verdict::Differs(differs))
}

/// Variance of an own figure in logs, and its degrees of freedom: from the
/// interval that is reported, whatever widened it, by its wider side.
fn own_error(own: &Paired, n: usize) -> Option<(f64, f64)> {
    let half = (own.ratio.high.ln() - own.mean_log).max(own.mean_log - own.ratio.low.ln());
    let df = n.checked_sub(1)?;
    let error = half / t_quantile(f64::midpoint(1.0, LEVEL), df)?;
    #[expect(clippy::cast_precision_loss, reason = "no file has 2^52 pairs")]
    let df = df as f64;
    error.is_finite().then_some((error.powi(2), df))
}

/// From so many degrees of freedom on t is the normal distribution to four digits.
const NORMAL: f64 = 100_000.0;

/// Half the 95 % interval of a sum of independent parts, degrees of freedom by
/// Welch and Satterthwaite, rounded down.
fn half_width(parts: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (mut variance, mut weighted) = (0.0, 0.0);
    let mut least = f64::INFINITY;
    for (part, df) in parts {
        variance += part;
        weighted += part.powi(2) / df;
        least = least.min(df);
    }
    if !least.is_finite() {
        return None;
    }
    // Without any spread the formula has no value: the smallest part's it is.
    let df = if weighted > 0.0 {
        variance.powi(2) / weighted
    } else {
        least
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of pairs and runs, and rounding down is meant"
    )]
    let quantile = t_quantile(f64::midpoint(1.0, LEVEL), df.clamp(1.0, NORMAL) as usize)?;
    let half = quantile * variance.sqrt();
    half.is_finite().then_some(half)
}

impl Logs {
    fn known(&self) -> impl Iterator<Item = (f64, f64)> {
        self.parts.into_iter().flatten()
    }

    /// The study's ratio, with its interval where both errors are known.
    pub fn their_figure(&self) -> TheirFigure {
        let both = self.parts.iter().all(Option::is_some);
        let half = half_width(self.known()).filter(|_| both);
        TheirFigure {
            ratio: self.value.exp(),
            interval: half.map(|half| ((self.value - half).exp(), (self.value + half).exp())),
        }
    }
}
