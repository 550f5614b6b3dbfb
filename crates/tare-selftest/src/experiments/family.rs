//! Seven cells on one baseline: any false verdict, with Holm's correction and without.

use super::adaptive::{looked_at, until_settled};
use super::{margin, percent};
use crate::noise::normal;
use crate::simulate::Experiment;
use crate::sums::{Total, count};
use crate::table::{Claim, Row, Scale};
use rand_chacha::ChaCha8Rng;
use tare_stats::{decide, holm, infer};

const GROUP: &str = "Any false verdict among 7 cells that equal their baseline, after looks";
pub(super) const CELLS: usize = 7;
pub(super) const MOST_BLOCKS: usize = 60;

/// d of every cell over the blocks, of these effects and standard deviations.
/// All share the noise of their baseline, which is half the variance of the
/// quietest.
pub(super) fn cells(rng: &mut ChaCha8Rng, cells: &[(f64, f64); CELLS]) -> Vec<Vec<f64>> {
    let quietest = cells
        .iter()
        .map(|(_, spread)| *spread)
        .fold(f64::INFINITY, f64::min);
    let shared = quietest / 2.0_f64.sqrt();
    let baseline: Vec<f64> = (0..MOST_BLOCKS).map(|_| shared * normal(rng)).collect();
    let mut cell = |(effect, spread): &(f64, f64)| {
        let own = (spread * spread - shared * shared).sqrt();
        baseline
            .iter()
            .map(|b| effect.ln_1p() + own * normal(rng) - b)
            .collect()
    };
    cells.iter().map(&mut cell).collect()
}

struct Family {
    spread: f64,
}

/// The cases.
pub fn all() -> Vec<Box<dyn Experiment>> {
    [0.003, 0.01, 0.02, 0.06]
        .into_iter()
        .map(|spread| Box::new(Family { spread }) as Box<dyn Experiment>)
        .collect()
}

impl Experiment for Family {
    fn sums(&self) -> usize {
        2
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let found: Vec<_> = cells(rng, &[(0.0, self.spread); CELLS])
            .iter()
            .filter_map(|d| infer(until_settled(d), looked_at()))
            .collect();
        let plain: Vec<Option<f64>> = found.iter().map(|f| f.p_t).collect();
        let corrected = holm(&plain);
        let any_false = |p_values: &[Option<f64>]| {
            found.iter().zip(p_values).any(|(found, p)| {
                let row = decide(found.interval, p.unwrap_or(1.0), margin());
                (2..=4).contains(&row.number())
            })
        };
        count(sums, 0, any_false(&corrected));
        count(sums, 1, any_false(&plain));
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let row = |what: &str, claim, sum| {
            let case = format!("sd {}{what}", percent(self.spread));
            Row::new(GROUP, case, Scale::Share, claim, total.share(sum), total)
        };
        vec![
            row("", Some(Claim::promise(0.0, 0.042)), 0),
            row(": without Holm", None, 1),
        ]
    }
}
