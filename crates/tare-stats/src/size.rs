//! Size effects: what a platform costs whatever the size (PTO), what it costs
//! more the smaller the box (PSO), and from which size on the latter is over.
//!
//! ghatrehsamani2020 defines both in words; the formulas are those of
//! `METHODOLOGY.md`. Every function takes blocks: one row per block with the
//! loss in logs of every size, smallest size first.

use crate::hotelling::{complement, hotelling};
use crate::{Interval, TEstimate, autocorrelation, t_estimate};

/// Sizes that a quoted fit needs: with three, one degree of freedom is left and
/// the two estimates are correlated by -0.89.
const FIT_SIZES: usize = 4;
/// Ratio of the largest to the smallest size that a quoted fit needs.
const FIT_SPAN: f64 = 8.0;

/// The series that the headline is estimated from, one value per block.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeSeries {
    /// Loss in logs at the largest size: 1 + PTO is exp of its mean.
    pub largest: Vec<f64>,
    /// For every size but the largest, smallest first: its loss less that of the
    /// largest. The first is that of PSO.
    pub excess: Vec<Vec<f64>>,
}

/// The headline's series. `None` with fewer than two sizes, or where blocks
/// differ in length.
pub fn size_series(blocks: &[Vec<f64>]) -> Option<SizeSeries> {
    let last = blocks.first()?.len().checked_sub(1).filter(|last| *last > 0)?;
    if blocks.iter().any(|b| b.len() != last + 1) {
        return None;
    }
    let column = |size: usize| blocks.iter().map(|b| b[size] - b[last]).collect();
    Some(SizeSeries {
        largest: blocks.iter().map(|b| b[last]).collect(),
        excess: (0..last).map(column).collect(),
    })
}

/// r(c) = 1 + PTO + PSO/c, fitted in each block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeFit {
    /// What is paid whatever the size, as a share of the baseline's cost.
    pub pto: TEstimate,
    /// What is paid beside it in a box of one CPU, as a share.
    pub pso: TEstimate,
    /// p of the hypothesis that the model holds; absent where it cannot be tested:
    /// no more sizes than parameters, or no more blocks than the sizes beyond them.
    pub p_fits: Option<f64>,
}

/// Whether sizes are many and far enough apart for the figures of a fit to be
/// quoted: 4 that span a factor of 8.
pub fn fit_is_quotable(cpus: &[f64]) -> bool {
    let spans = |(first, last): (&f64, &f64)| last / first >= FIT_SPAN;
    cpus.len() >= FIT_SIZES && cpus.first().zip(cpus.last()).is_some_and(spans)
}

/// Fits the model to the ratios exp(d) in every block by least squares; the
/// estimates over blocks are judged by t at `level`, widened by autocorrelation.
/// `cpus` rise. Needs three sizes.
///
/// All sizes weigh the same in every block. Weights by variance would have to be
/// estimated from the same blocks, whose estimates would then hang together: t
/// would no longer be exact, for little gain with a handful of sizes.
pub fn size_fit(cpus: &[f64], blocks: &[Vec<f64>], level: f64) -> Option<SizeFit> {
    let rising = cpus.windows(2).all(|w| w[0] < w[1]) && cpus.first().is_some_and(|c| *c > 0.0);
    if cpus.len() < 3 || !rising || blocks.iter().any(|b| b.len() != cpus.len()) {
        return None;
    }
    let inverse: Vec<f64> = cpus.iter().map(|c| c.recip()).collect();
    let ratios: Vec<Vec<f64>> = blocks
        .iter()
        .map(|b| b.iter().map(|d| d.exp()).collect())
        .collect();
    let (mut pto, mut pso) = (Vec::new(), Vec::new());
    for ratios in &ratios {
        let (intercept, slope) = straight(&inverse, ratios);
        pto.push(intercept - 1.0);
        pso.push(slope);
    }
    Some(SizeFit {
        pto: widened(&pto, level)?,
        pso: widened(&pso, level)?,
        p_fits: p_fits(&inverse, &ratios),
    })
}

/// Intercept and slope by least squares.
fn straight(x: &[f64], y: &[f64]) -> (f64, f64) {
    let n = crate::count(x);
    let (mean_x, mean_y) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let spread: f64 = x.iter().map(|x| (x - mean_x).powi(2)).sum();
    let together: f64 = x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let slope = together / spread;
    (mean_y - slope * mean_x, slope)
}

fn widened(series: &[f64], level: f64) -> Option<TEstimate> {
    t_estimate(series, level, autocorrelation(series).map_or(1.0, |a| a.widening))
}

/// Hotelling's test that the mean residuals are 0, against their covariance over
/// blocks: residuals as coordinates in the space that the model does not reach.
fn p_fits(inverse: &[f64], ratios: &[Vec<f64>]) -> Option<f64> {
    let ones = vec![1.0; inverse.len()];
    let beyond = complement(&[ones, inverse.to_vec()]);
    let project = |ratios: &Vec<f64>| {
        let along = |axis: &Vec<f64>| axis.iter().zip(ratios).map(|(a, r)| a * r).sum();
        beyond.iter().map(along).collect()
    };
    hotelling(&ratios.iter().map(project).collect::<Vec<Vec<f64>>>())
}

/// What was shown of the excess of one size over the largest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Excess {
    /// It lies beyond the margin.
    Beyond,
    /// It lies within the margin.
    Within,
    /// Neither.
    Open,
}

impl Excess {
    /// By the interval of the excess in logs and the margin in logs. Less than
    /// the largest size by more than the margin is no excess that dies out: open.
    pub fn of(interval: Interval, margin: f64) -> Self {
        if interval.low >= margin {
            Self::Beyond
        } else if -margin < interval.low && interval.high < margin {
            Self::Within
        } else {
            Self::Open
        }
    }
}

/// The range of sizes in which the excess dies out, as positions in the list of
/// sizes without the largest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DyingOut {
    /// The largest size whose excess is shown beyond the margin.
    pub beyond: Option<usize>,
    /// The smallest size from which on it is shown within the margin.
    pub within: Option<usize>,
}

/// Where the excess dies out; `sizes` rise and leave out the largest, against
/// which the excess is held.
pub fn dying_out(sizes: &[Excess]) -> DyingOut {
    let n_within = sizes.iter().rev().take_while(|e| **e == Excess::Within).count();
    DyingOut {
        beyond: sizes.iter().rposition(|e| *e == Excess::Beyond),
        within: (n_within > 0).then(|| sizes.len() - n_within),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPUS: [f64; 4] = [1.0, 2.0, 4.0, 8.0];

    /// Blocks in which r(c) is `truth`, with a small pattern that differs from
    /// block to block and from size to size.
    fn blocks(truth: impl Fn(f64) -> f64) -> Vec<Vec<f64>> {
        let noise =
            |block: u32, size: u32| 0.002 * f64::from((block * 7 + size * 11) * (block + 3) % 13) / 13.0;
        let row = |block| {
            let size = |(i, c): (u32, &f64)| truth(*c).ln() + noise(block, i);
            (0..).zip(&CPUS).map(size).collect()
        };
        (0..20).map(row).collect()
    }

    #[test]
    fn the_headline_is_the_largest_size_and_the_smallest_over_it() {
        let series = size_series(&[vec![0.5, 0.3, 0.1], vec![0.6, 0.2, 0.2]]).expect("series");
        assert_eq!(series.largest, [0.1, 0.2]);
        assert_eq!(series.excess, [vec![0.4, 0.6 - 0.2], vec![0.3 - 0.1, 0.0]]);
        assert_eq!(size_series(&[vec![0.5]]), None);
        assert_eq!(size_series(&[vec![0.5, 0.1], vec![0.5]]), None);
        assert_eq!(size_series(&[]), None);
    }

    #[test]
    fn the_fit_finds_what_was_put_in() {
        let fit = size_fit(&CPUS, &blocks(|c| 1.03 + 0.2 / c), 0.95).expect("a fit");
        assert!((fit.pto.mean - 0.03).abs() < 0.003, "{fit:?}");
        assert!((fit.pso.mean - 0.2).abs() < 0.004, "{fit:?}");
    }

    #[test]
    fn a_law_of_another_form_does_not_fit() {
        let fit = size_fit(&CPUS, &blocks(|c| 1.0 + 0.4 / c.sqrt()), 0.95).expect("a fit");
        assert!(fit.p_fits.expect("a test") < 0.001, "{fit:?}");
        // It would have been quoted as a PTO that is not there.
        assert!(fit.pto.mean > 0.1, "{fit:?}");
    }

    #[test]
    fn figures_of_a_fit_need_four_sizes_over_a_factor_of_eight() {
        assert!(fit_is_quotable(&CPUS));
        assert!(!fit_is_quotable(&[1.0, 2.0, 4.0]));
        assert!(!fit_is_quotable(&[1.0, 2.0, 3.0, 4.0]));
        assert!(!fit_is_quotable(&[]));
    }

    #[test]
    fn what_is_no_design_has_no_fit() {
        let two = vec![vec![0.1, 0.2]; 20];
        assert_eq!(size_fit(&[1.0, 2.0], &two, 0.95), None);
        assert_eq!(size_fit(&[2.0, 1.0, 4.0], &vec![vec![0.1; 3]; 20], 0.95), None);
        assert_eq!(size_fit(&[0.0, 1.0, 4.0], &vec![vec![0.1; 3]; 20], 0.95), None);
        assert_eq!(size_fit(&CPUS, &[vec![f64::NAN; 4], vec![0.1; 4]], 0.95), None);
        assert_eq!(size_fit(&CPUS, &two, 0.95), None);
    }

    #[test]
    fn the_range_lies_between_what_is_shown_beyond_and_what_is_shown_within() {
        use Excess::{Beyond, Open, Within};
        let of = |sizes: &[Excess]| {
            let found = dying_out(sizes);
            (found.beyond, found.within)
        };
        assert_eq!(of(&[Beyond, Open, Within]), (Some(0), Some(2)));
        assert_eq!(of(&[Beyond, Within, Open, Within]), (Some(0), Some(3)));
        assert_eq!(of(&[Beyond, Beyond]), (Some(1), None));
        assert_eq!(of(&[Open, Within]), (None, Some(1)));
        assert_eq!(of(&[Open]), (None, None));
        assert_eq!(of(&[]), (None, None));
    }

    #[test]
    fn an_excess_is_shown_by_its_interval() {
        let of = |low: f64, high: f64| Excess::of(Interval { low, high }, 0.01);
        assert_eq!(of(0.01, 0.02), Excess::Beyond);
        assert_eq!(of(-0.009, 0.009), Excess::Within);
        assert_eq!(of(0.005, 0.02), Excess::Open);
        assert_eq!(of(-0.05, -0.02), Excess::Open);
    }
}
