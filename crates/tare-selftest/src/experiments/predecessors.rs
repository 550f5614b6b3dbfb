//! What a slice leaves behind for the next one: whether it is found.

use super::percent;
use super::rounds::{BLOCKS, ROUNDS};
use crate::simulate::Experiment;
use crate::slices::{Block, Cell, Host, Order, Slicing};
use crate::sums::{Found, Total, add, count};
use crate::table::{Claim, Row, Scale};
use rand_chacha::ChaCha8Rng;
use tare_stats::{LEVEL, TEstimate, after, mean, round_losses, t_estimate};

const GROUP: &str = "Slices: what ran right before, 4 cells, 10 blocks of 50 rounds";

/// The cell whose loss is told, over cell 0, and the one that leaves something.
const CELL: usize = 1;
const LEAVES: usize = 3;

/// A cell that leaves so much to whoever comes next.
struct Predecessor {
    host: Host,
    leaves: f64,
    /// How many times as wide the interval of a difference of means is.
    means: f64,
}

/// The cases.
pub fn all() -> Vec<Box<dyn Experiment>> {
    let case = |host, leaves, means| Box::new(Predecessor { host, leaves, means }) as Box<dyn Experiment>;
    vec![
        case(Host::STOLEN_FROM, 0.0, 23.0),
        case(Host::SLOW, 0.0, 6.5),
        case(Host::STOLEN_FROM, 0.01, 23.0),
        case(Host::SLOW, 0.01, 6.5),
    ]
}

/// The difference of the means of rounds with it before and without.
fn difference(losses: &[f64], before: &[Option<usize>]) -> Option<f64> {
    let of = |with: bool| {
        let rounds = losses.iter().zip(before);
        let rounds = rounds.filter(|(_, before)| (**before == Some(LEAVES)) == with);
        mean(&rounds.map(|(loss, _)| *loss).collect::<Vec<f64>>())
    };
    Some(of(true)? - of(false)?)
}

impl Predecessor {
    /// Over blocks: the shift, and the difference of means.
    fn found(&self, rng: &mut ChaCha8Rng) -> Option<[TEstimate; 2]> {
        let mut cells = [Cell::default(); 4];
        cells[LEAVES].leaves = self.leaves.ln_1p();
        let (mut shifts, mut differences) = (Vec::new(), Vec::new());
        for _ in 0..BLOCKS {
            let block = Block::draw(rng, self.host, &cells, Slicing::long(ROUNDS), Order::Rounds);
            let losses = round_losses(&block.costs[CELL], &block.costs[0])?;
            let before = &block.before[CELL];
            shifts.extend(after(&losses, before, &Some(LEAVES)));
            differences.extend(difference(&losses, before));
        }
        Some([
            t_estimate(&shifts, LEVEL, 1.0)?,
            t_estimate(&differences, LEVEL, 1.0)?,
        ])
    }
}

impl Experiment for Predecessor {
    fn share(&self) -> f64 {
        0.05
    }

    fn sums(&self) -> usize {
        5
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let Some([shift, difference]) = self.found(rng) else {
            return;
        };
        add(sums, 0, shift.mean);
        count(sums, 2, shift.p_zero().is_some_and(|p| p < 0.05));
        let half = |t: TEstimate| t.interval.high - t.mean;
        add(sums, 3, (half(difference) / half(shift)).ln());
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let row = |what: &str, scale, claim, found| {
            let case = format!("{}, {} left: {what}", self.host.name, percent(self.leaves));
            Row::new(GROUP, case, scale, Some(claim), found, total)
        };
        if self.leaves == 0.0 {
            return vec![row(
                "p under 0.05",
                Scale::Share,
                Claim::told(0.05),
                total.share(2),
            )];
        }
        let log = total.mean(3);
        let means = Found {
            value: log.value.exp(),
            error: log.value.exp() * log.error,
        };
        vec![
            row("effect", Scale::Share, Claim::about(0.0126, 0.001), total.mean(0)),
            row(
                "p under 0.05",
                Scale::Share,
                Claim::promise(0.95, 1.0),
                total.share(2),
            ),
            row(
                "width by means",
                Scale::Number,
                Claim::about(self.means, 0.1 * self.means),
                means,
            ),
        ]
    }
}
