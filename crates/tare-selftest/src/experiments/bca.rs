//! What the usual bootstrap would have covered: why the headline is Student's t.

use crate::noise::{Noise, as_float};
use crate::simulate::Experiment;
use crate::sums::{Total, count};
use crate::table::{Claim, Row, Scale};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal};
use tare_stats::mean;

const GROUP: &str = "Beside it: the BCa bootstrap of the mean (2,000 resamples)";
const RESAMPLES: usize = 2000;

/// The BCa interval of the mean of so many values.
struct Bca {
    noise: Noise,
    name: &'static str,
    n: usize,
    claim: Claim,
}

/// The cases.
pub fn all() -> Vec<Box<dyn Experiment>> {
    let case = |noise, name, n, share| {
        Box::new(Bca {
            noise,
            name,
            n,
            claim: Claim::told(share),
        }) as Box<dyn Experiment>
    };
    vec![
        case(Noise::Normal, "normal", 10, 0.898),
        case(Noise::Normal, "normal", 30, 0.932),
        case(Noise::HeavyTailed(3), "heavy tails (t3)", 10, 0.867),
        case(Noise::HeavyTailed(3), "heavy tails (t3)", 30, 0.905),
    ]
}

impl Experiment for Bca {
    fn share(&self) -> f64 {
        0.25
    }

    fn sums(&self) -> usize {
        1
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let values = self.noise.series(rng, self.n);
        count(sums, 0, covers_nought(&values, rng).unwrap_or(false));
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let case = format!("{}, {} blocks", self.name, self.n);
        let found = total.share(0);
        vec![Row::new(
            GROUP,
            case,
            Scale::Share,
            Some(self.claim),
            found,
            total,
        )]
    }
}

/// Whether the 95 % BCa interval of the mean holds 0: Efron and Tibshirani 1993,
/// chapter 14, with the acceleration of the jackknife, g1 / (6 sqrt(n)) for a mean.
///
/// 0 lies within where its share among the resamples does, so that no resample
/// needs sorting.
fn covers_nought(values: &[f64], rng: &mut ChaCha8Rng) -> Option<bool> {
    let centre = mean(values)?;
    let (mut below_centre, mut below_nought) = (0, 0);
    for _ in 0..RESAMPLES {
        let sum: f64 = values
            .iter()
            .map(|_| values[rng.random_range(0..values.len())])
            .sum();
        below_centre += usize::from(sum < centre * as_float(values.len()));
        below_nought += usize::from(sum < 0.0);
    }
    let share = |count: usize| as_float(count) / as_float(RESAMPLES);
    let normal = Normal::standard();
    let bias = normal.inverse_cdf(share(below_centre));
    let acceleration = tare_stats::skewness(values)? / (6.0 * as_float(values.len()).sqrt());
    let end = |z: f64| {
        let moved = bias + z;
        normal.cdf(bias + moved / (1.0 - acceleration * moved))
    };
    Some((end(-1.959_964)..=end(1.959_964)).contains(&share(below_nought)))
}
