//! How much rounds leave open is known: how often an interval is widened for autocorrelation
//! that is none, and how often it covers where some of the noise depends on its past.

use super::rounds::{BLOCKS, blocks_of, judged_typical, question};
use crate::noise::Noise;
use crate::simulate::Experiment;
use crate::slices::{Cell, Host, Slicing};
use crate::sums::{Total, count};
use crate::table::{Claim, Row, Scale};
use rand_chacha::ChaCha8Rng;
use tare_stats::{PairedInference, infer, infer_beside};

const COVERAGE: &str = "Coverage of the 95 % interval beside the noise of rounds, 10 blocks";
const WIDENED: &str = "Intervals widened for autocorrelation beside the noise of rounds, 10 blocks";

/// The cases.
pub fn all() -> Vec<Box<dyn Experiment>> {
    let case = |of_rounds, correlation, name, claims: [Claim; 4]| {
        Box::new(Beside {
            of_rounds,
            correlation,
            name,
            claims,
        }) as Box<dyn Experiment>
    };
    let (promise, told) = (Claim::promise(0.94, 0.965), Claim::told);
    vec![
        case(
            1.0,
            0.0,
            "noise of rounds alone",
            [promise, told(0.017), promise, told(0.07)],
        ),
        case(
            0.5,
            0.0,
            "half of the variance between blocks",
            [promise, told(0.053), promise, told(0.068)],
        ),
        case(
            0.5,
            0.4,
            "half of the variance autocorrelated by 0.4",
            [told(0.903), told(0.123), told(0.91), told(0.152)],
        ),
        case(
            0.5,
            0.7,
            "half of the variance autocorrelated by 0.7",
            [told(0.802), told(0.162), told(0.816), told(0.21)],
        ),
        Box::new(Quiet(Slicing::long(50), "50 rounds of 10 ms on a quiet host")),
        Box::new(Quiet(Slicing::short(250), "250 rounds of 2 ms on a quiet host")),
    ]
}

/// Blocks whose noise is partly that of their rounds.
struct Beside {
    /// Share of the variance.
    of_rounds: f64,
    /// By how much the rest correlates from block to block.
    correlation: f64,
    name: &'static str,
    /// Coverage and share widened, and both as if nothing was known of rounds.
    claims: [Claim; 4],
}

impl Experiment for Beside {
    fn share(&self) -> f64 {
        0.5
    }

    fn sums(&self) -> usize {
        4
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let of_rounds = Noise::Normal.series(rng, BLOCKS);
        let between = Noise::Autocorrelated(self.correlation).series(rng, BLOCKS);
        let both = of_rounds.iter().zip(&between);
        let d: Vec<f64> = both
            .map(|(x, y)| self.of_rounds.sqrt() * x + (1.0 - self.of_rounds).sqrt() * y)
            .collect();
        let question = question(rng);
        noted(infer_beside(&d, self.of_rounds, question), &mut sums[..2]);
        noted(infer(&d, question), &mut sums[2..]);
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let row = |sum: usize| {
            let group = [COVERAGE, WIDENED][sum % 2];
            let what = ["", ", as if nothing was known of rounds"][sum / 2];
            let case = format!("{}{what}", self.name);
            Row::new(
                group,
                case,
                Scale::Share,
                Some(self.claims[sum]),
                total.share(sum),
                total,
            )
        };
        (0..4).map(row).collect()
    }
}

/// Adds whether an interval covers 0, and whether it was widened.
fn noted(found: Option<PairedInference>, sums: &mut [f64]) {
    count(sums, 0, found.is_some_and(|found| found.interval.contains(0.0)));
    count(sums, 1, found.is_some_and(|found| found.widening > 1.0));
}

/// Equal cells where nothing but slices differs from block to block.
struct Quiet(Slicing, &'static str);

impl Experiment for Quiet {
    fn share(&self) -> f64 {
        0.05
    }

    fn sums(&self) -> usize {
        2
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let blocks = blocks_of(rng, Host::QUIET, &[Cell::default(); 2], self.0, BLOCKS);
        noted(judged_typical(rng, &blocks), sums);
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let row =
            |group, claim, sum| Row::new(group, self.1, Scale::Share, Some(claim), total.share(sum), total);
        vec![
            row(COVERAGE, Claim::promise(0.94, 0.965), 0),
            row(WIDENED, Claim::told(0.022), 1),
        ]
    }
}
