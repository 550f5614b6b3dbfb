//! Where a series of runs changes: how often one that does not is said to, and how often one that
//! does is found out.

use crate::noise::Noise;
use crate::simulate::Experiment;
use crate::sums::{Total, count};
use crate::table::{Claim, Row, Scale};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use tare_stats::{CHANGE_LEVEL, FEWEST_AROUND_CHANGE, change_points, steps};

const FALSE: &str = "Costs over time: a change in a series without one";
const FOUND: &str = "Costs over time, runs that scatter by 1 %: all changes found, and no other";
const PLACE: &str = "Costs over time: the same, each within one run of its place";

/// A series without a change.
struct Still {
    noise: Noise,
    name: &'static str,
    runs: usize,
    share: f64,
    claim: Claim,
}

/// A series with changes, whose runs scatter by 1 %.
struct Changing {
    /// So many runs at each level, in percent.
    levels: &'static [(usize, f64)],
    name: &'static str,
    share: f64,
    /// How often all changes are found, and how often in their place.
    claims: [Claim; 2],
}

/// The cases. Longer series take the square of the time.
pub fn all() -> Vec<Box<dyn Experiment>> {
    let still = |noise, name, runs, share, claim| {
        Box::new(Still {
            noise,
            name,
            runs,
            share,
            claim,
        }) as Box<dyn Experiment>
    };
    let drifting =
        |r, name, runs, share| still(Noise::Autocorrelated(r), name, runs, 0.1, Claim::told(share));
    let changing = |levels, name, share, found, place| {
        Box::new(Changing {
            levels,
            name,
            share,
            claims: [found, place].map(|share| Claim::about(share, 0.02)),
        }) as Box<dyn Experiment>
    };
    let level = Claim::promise(0.0, CHANGE_LEVEL);
    vec![
        still(Noise::Normal, "normal", 10, 0.5, level),
        still(Noise::Normal, "normal", 20, 0.5, level),
        still(Noise::Normal, "normal", 50, 0.15, level),
        still(Noise::HeavyTailed(3), "heavy tails (t3)", 20, 0.5, level),
        drifting(0.4, "autocorrelated, 0.4", 20, 0.05),
        drifting(0.4, "autocorrelated, 0.4", 30, 0.05),
        drifting(0.9, "autocorrelated, 0.9", 20, 0.18),
        drifting(0.9, "autocorrelated, 0.9", 30, 0.18),
        changing(
            &[(10, 0.0), (10, 3.0)],
            "3 % from the 11th of 20 runs on",
            0.1,
            0.91,
            0.88,
        ),
        changing(
            &[(15, 0.0), (5, 3.0)],
            "3 % from the 16th of 20 runs on",
            0.1,
            0.80,
            0.78,
        ),
        changing(
            &[(10, 0.0), (10, 1.0)],
            "1 % from the 11th of 20 runs on",
            0.1,
            0.08,
            0.05,
        ),
        changing(
            &[(5, 0.0), (5, 20.0)],
            "20 % from the 6th of 10 runs on",
            0.1,
            0.6,
            0.6,
        ),
        changing(
            &[(6, 0.0), (6, 20.0)],
            "20 % from the 7th of 12 runs on",
            0.1,
            0.99,
            0.99,
        ),
        changing(
            &[(20, 0.0), (10, 3.0), (20, 0.0)],
            "3 % for 10 runs amid 50",
            0.02,
            0.99,
            0.92,
        ),
    ]
}

/// Where a series changes, by the rule of `tare trend`.
fn changes(rng: &mut ChaCha8Rng, values: &[f64]) -> Vec<usize> {
    let found = change_points(values, FEWEST_AROUND_CHANGE, CHANGE_LEVEL, rng.next_u64());
    let steps = steps(values, found);
    steps.changes.iter().map(|change| change.at).collect()
}

impl Experiment for Still {
    fn share(&self) -> f64 {
        self.share
    }

    fn sums(&self) -> usize {
        1
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let values = self.noise.series(rng, self.runs);
        count(sums, 0, !changes(rng, &values).is_empty());
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let case = format!("{}, {} runs", self.name, self.runs);
        let found = total.share(0);
        vec![Row::new(
            FALSE,
            case,
            Scale::Share,
            Some(self.claim),
            found,
            total,
        )]
    }
}

impl Experiment for Changing {
    fn share(&self) -> f64 {
        self.share
    }

    fn sums(&self) -> usize {
        2
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let levels = self.levels.iter();
        let levels = levels.flat_map(|(runs, level)| std::iter::repeat_n(level / 100.0, *runs));
        let levels: Vec<f64> = levels.map(f64::ln_1p).collect();
        let noise = Noise::Normal.series(rng, levels.len());
        let values: Vec<f64> = levels
            .iter()
            .zip(noise)
            .map(|(level, noise)| level + 0.01 * noise)
            .collect();
        let found = changes(rng, &values);
        let is_change = |at: &usize| levels[*at] != levels[*at - 1];
        let true_ones: Vec<usize> = (1..levels.len()).filter(is_change).collect();
        let all = found.len() == true_ones.len();
        let near = |(found, right): (&usize, &usize)| found.abs_diff(*right) <= 1;
        count(sums, 0, all);
        count(sums, 1, all && found.iter().zip(&true_ones).all(near));
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let row = |(sum, group)| {
            let claim = Some(self.claims[sum]);
            Row::new(group, self.name, Scale::Share, claim, total.share(sum), total)
        };
        [FOUND, PLACE].into_iter().enumerate().map(row).collect()
    }
}
