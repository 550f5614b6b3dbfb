//! Adaptive stopping: when a comparison has enough blocks.
//!
//! Looking at an interval again and again until it pleases makes it cover less
//! than it says. Here the looks are fixed beforehand, the rules do not ask for
//! which side the interval lies on, and the interval that is reported is that of
//! a higher level, chosen by simulation so that it covers about 95 % in the end
//! (`docs/selftest.md`).

use crate::infer::{LEVEL, Shape};
use crate::{Interval, mean, t_estimate};

/// Numbers of blocks after which a comparison is looked at, and at no other.
pub const LOOKS: [u32; 8] = [10, 15, 20, 25, 30, 40, 50, 60];
/// Level of the interval that is looked at, and reported in the end as "95 %
/// (allowing for looks)".
pub const LOOK_LEVEL: f64 = 0.96;
/// Level of the interval that may settle a comparison by lying within the
/// margin or beyond it, however wide it is.
pub const LOOK_PRECISE: f64 = 0.998;
/// What p of the last look is multiplied by, for having looked before.
pub const LOOK_P_FACTOR: f64 = 1.25;
/// Narrow enough is a half-width of this share of the mean, too.
const SHARE_OF_MEAN: f64 = 0.1;
/// Blocks before which a series that seems autocorrelated settles nothing.
const CORRELATED_UNTIL: usize = 20;
/// Blocks before which a series that seems skewed settles nothing.
const SKEWED_UNTIL: usize = 30;

/// The next look after so many blocks; `None` after the last.
pub fn next_look(blocks: u32) -> Option<u32> {
    LOOKS.into_iter().find(|look| *look > blocks)
}

/// What one look at a comparison found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Number of pairs.
    pub n: usize,
    /// Mean of d.
    pub mean: f64,
    /// The interval at [`LOOK_LEVEL`], widened where d is autocorrelated.
    pub interval: Interval,
    /// The interval at [`LOOK_PRECISE`], widened likewise.
    pub precise: Interval,
    /// Whether the autocorrelation flag is up.
    pub autocorrelated: bool,
    /// Whether the skewness flag is up.
    pub skewed: bool,
    /// What follows.
    pub judgement: Judgement,
}

/// What follows from a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// Settled: the interval at [`LOOK_LEVEL`] is narrow enough.
    Narrow,
    /// Settled: the interval at [`LOOK_PRECISE`] lies within the margin.
    Within,
    /// Settled: the interval at [`LOOK_PRECISE`] lies beyond the margin, on one side.
    Beyond,
    /// Open: more blocks are needed.
    TooWide,
    /// Open: it would be settled, but seems autocorrelated and has under 20 pairs.
    Autocorrelated,
    /// Open: it would be settled, but seems skewed and has under 30 pairs.
    Skewed,
}

impl Judgement {
    /// Whether no more blocks are needed.
    pub const fn is_settled(self) -> bool {
        matches!(self, Self::Narrow | Self::Within | Self::Beyond)
    }
}

/// What is enough of a comparison, in logs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aim {
    /// The half-width of an interval that is narrow enough.
    pub half_width: f64,
    /// The bound of the band of equivalence: an interval clearly within it or beyond it is enough, and a large cost may be
    /// told less precisely. `None`: only a narrow interval is enough.
    pub margin: Option<f64>,
}

impl Aim {
    /// How far an interval may reach to either side of such a mean to be narrow enough.
    pub fn narrow(&self, mean: f64) -> f64 {
        match self.margin {
            Some(_) => self.half_width.max(SHARE_OF_MEAN * mean.abs()),
            None => self.half_width,
        }
    }

    /// The error of a block by its rounds that is small enough for the first look to settle a comparison with these losses
    /// in the blocks before: 1.4 times the half-width that would, as t(9) / sqrt(10) is the inverse of that. A cost counts
    /// as the least that its 95 % interval leaves.
    pub fn error_of_block(&self, d: &[f64]) -> f64 {
        let least = t_estimate(d, LEVEL, 1.0).map_or(0.0, |t| t.interval.low.max(-t.interval.high).max(0.0));
        // The interval at LOOK_PRECISE, which tells what lies beyond the margin, is twice as wide.
        let beyond = self.margin.map_or(0.0, |margin| (least - margin) / 2.0);
        1.4 * self.narrow(least).max(beyond)
    }
}

/// Looks at `d`, the losses in logs of a comparison over the blocks so far, each of which has independent noise of at
/// least this variance: that of its rounds.
///
/// `None` where no interval is defined. Whether this is a time to look is for the caller to know: see [`LOOKS`].
pub fn look(d: &[f64], noise: f64, aim: Aim) -> Option<Look> {
    let shape = Shape::of(d).beside(noise);
    let widening = shape.widening();
    let mut look = Look {
        n: d.len(),
        mean: mean(d)?,
        interval: t_estimate(d, LOOK_LEVEL, widening)?.interval,
        precise: t_estimate(d, LOOK_PRECISE, widening)?.interval,
        autocorrelated: shape.autocorrelation.is_some(),
        skewed: shape.skewed,
        judgement: Judgement::TooWide,
    };
    look.judgement = look.judge(aim);
    Some(look)
}

impl Look {
    fn judge(&self, aim: Aim) -> Judgement {
        let Some(settled) = self.settled(aim) else {
            return Judgement::TooWide;
        };
        if self.skewed && self.n < SKEWED_UNTIL {
            Judgement::Skewed
        } else if self.autocorrelated && self.n < CORRELATED_UNTIL {
            Judgement::Autocorrelated
        } else {
            settled
        }
    }

    /// The rule that would settle it, were no flag up.
    fn settled(&self, aim: Aim) -> Option<Judgement> {
        if (self.interval.high - self.interval.low) / 2.0 <= aim.narrow(self.mean) {
            return Some(Judgement::Narrow);
        }
        let margin = aim.margin?;
        let Interval { low, high } = self.precise;
        if -margin < low && high < margin {
            Some(Judgement::Within)
        } else if low >= margin || high <= -margin {
            Some(Judgement::Beyond)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// n values that alternate about `mean` by `spread`: no trend, no skewness.
    fn alternating(n: usize, mean: f64, spread: f64) -> Vec<f64> {
        (0..n)
            .map(|i| if i % 2 == 0 { mean + spread } else { mean - spread })
            .collect()
    }

    const AIM: Aim = Aim {
        half_width: 0.005,
        margin: Some(0.01),
    };

    fn judgement(d: &[f64]) -> Judgement {
        look(d, 0.0, AIM).expect("a look").judgement
    }

    #[test]
    fn looks_are_taken_at_fixed_numbers_of_blocks() {
        let taken: Vec<u32> = std::iter::successors(next_look(0), |look| next_look(*look)).collect();
        assert_eq!(taken, LOOKS);
        assert_eq!(next_look(29), Some(30));
    }

    #[test]
    fn each_rule_settles_and_is_named() {
        assert_eq!(judgement(&alternating(10, 0.0, 0.001)), Judgement::Narrow);
        // A tenth of the mean is narrow enough, too.
        assert_eq!(judgement(&alternating(10, 0.2, 0.02)), Judgement::Narrow);
        assert_eq!(judgement(&alternating(10, 0.06, 0.02)), Judgement::Beyond);
        assert_eq!(judgement(&alternating(10, -0.06, 0.02)), Judgement::Beyond);
        assert_eq!(judgement(&alternating(10, 0.0, 0.02)), Judgement::TooWide);
        let narrower = Aim {
            half_width: 0.001,
            ..AIM
        };
        let wide = look(&alternating(30, 0.0, 0.013), 0.0, narrower).expect("a look");
        assert_eq!(wide.judgement, Judgement::Within);
    }

    #[test]
    fn where_precision_is_asked_for_nothing_but_a_narrow_interval_is_enough() {
        let precise = Aim { margin: None, ..AIM };
        let judged = |d: &[f64]| look(d, 0.0, precise).expect("a look").judgement;
        assert_eq!(judged(&alternating(10, 0.0, 0.001)), Judgement::Narrow);
        assert_eq!(judged(&alternating(10, 0.2, 0.02)), Judgement::TooWide);
        assert_eq!(judged(&alternating(10, 0.06, 0.02)), Judgement::TooWide);
    }

    #[test]
    fn a_clear_cost_may_be_told_by_noisier_blocks() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        near(AIM.error_of_block(&[]), 1.4 * 0.005);
        // Two blocks tell little, and what lies about the margin needs the least noise.
        near(AIM.error_of_block(&[0.1, 0.12]), 1.4 * 0.005);
        near(AIM.error_of_block(&alternating(10, 0.01, 1e-5)), 1.4 * 0.005);
        for sign in [1.0, -1.0] {
            let clear = alternating(10, sign * 0.05, 1e-5);
            assert!((AIM.error_of_block(&clear) / 1.4 - 0.02).abs() < 1e-5);
            let precise = Aim { margin: None, ..AIM };
            near(precise.error_of_block(&clear), 1.4 * 0.005);
        }
    }

    #[test]
    fn flags_delay_what_would_be_settled() {
        let rising = |n: u32| -> Vec<f64> { (0..n).map(|i| f64::from(i) * 1e-6).collect() };
        assert_eq!(judgement(&rising(15)), Judgement::Autocorrelated);
        assert_eq!(judgement(&rising(20)), Judgement::Narrow);
        // No more than rounds explain is chance.
        let beside = look(&rising(15), 1.0, AIM).expect("a look");
        assert_eq!(beside.judgement, Judgement::Narrow);
        let skewed = |n: usize| {
            let mut d = alternating(n, 0.0, 1e-4);
            d[n / 2] += 3e-3;
            d
        };
        assert_eq!(judgement(&skewed(25)), Judgement::Skewed);
        assert_eq!(judgement(&skewed(30)), Judgement::Narrow);
    }

    /// Scripted costs differ by the rounding of their logarithms alone.
    #[test]
    fn the_rounding_of_a_constant_delays_nothing() {
        let mut d = vec![1.19_f64.ln(); 10];
        d[4] += 2e-16;
        assert_eq!(judgement(&d), Judgement::Narrow);
    }

    #[test]
    fn where_no_interval_is_defined_there_is_no_look() {
        assert_eq!(look(&[0.1], 0.0, AIM), None);
        assert_eq!(look(&[0.1, f64::NAN, 0.2], 0.0, AIM), None);
    }
}
