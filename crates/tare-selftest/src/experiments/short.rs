//! Slices of 2 ms, as kernels have them, where what disturbs them lasts for tens of
//! milliseconds or for a second: how often intervals cover, and how wide they are beside those
//! of long slices in as much time.

use super::rounds::{
    BLOCKS, Cut, Estimator, Typical, blocks_of, half_width, hodges_lehmann, log_width, trimmed,
    typical_losses,
};
use crate::simulate::Experiment;
use crate::slices::{Cell, Host, Slicing};
use crate::sums::{Found, Total, add};
use crate::table::{Claim, Row, Scale};
use rand_chacha::ChaCha8Rng;
use tare_stats::{median, round_losses};

const COVERAGE: &str =
    "Slices of 2 ms: coverage of the 95 % interval of the typical cost, 10 blocks of 250 rounds";
const ERRORS: &str = "Slices of 2 ms: false `slower` or `faster` by the typical cost, no effect";
const WIDTH: &str =
    "Slices of 2 ms: half-width of the interval, in percent, 4 cells, 10 blocks of 250 rounds";
const LENGTHS: &str =
    "Slices of 2 ms: half-width of the interval over that of as much time in slices of 10 ms";
const OTHERS: &str = "Slices of 2 ms: how many times as wide the interval is by other estimators";

/// Cells of a group whose widths are compared.
const CELLS: usize = 4;
/// Half a second of work of each cell, in short and in long slices.
const SHORT: Slicing = Slicing::short(250);
const LONG: Slicing = Slicing::long(50);

/// What else could be made of the same rounds.
const ESTIMATORS: [(&str, Estimator); 3] = [
    ("Hodges and Lehmann", |x, y| hodges_lehmann(&round_losses(x, y)?)),
    ("mean trimmed by 20 %", |x, y| trimmed(round_losses(x, y)?)),
    ("median over all rounds", |x, y| median(&round_losses(x, y)?)),
];

/// The cases.
pub fn all() -> Vec<Box<dyn Experiment>> {
    let cut = Cut {
        slicing: SHORT,
        share: 0.04,
        groups: [COVERAGE, ERRORS],
    };
    let covers = |host, cells, effect| Typical::case(cut, host, cells, effect);
    let wide = |host, figures: [f64; 5]| Box::new(Widths { host, figures }) as Box<dyn Experiment>;
    vec![
        covers(Host::TWO_MODES, 2, 0.0),
        covers(Host::TWO_MODES, 4, 0.02),
        covers(Host::TWO_MODES, 8, 0.0),
        covers(Host::TWO_SLOW_MODES, 2, 0.02),
        covers(Host::TWO_SLOW_MODES, 4, 0.0),
        covers(Host::SHARED_BRIEFLY, 2, 0.0),
        covers(Host::SHARED_BRIEFLY, 4, 0.0),
        covers(Host::SHARED_BRIEFLY, 8, 0.02),
        covers(Host::OFTEN_STOLEN_FROM, 2, 0.02),
        covers(Host::OFTEN_STOLEN_FROM, 4, 0.0),
        wide(Host::QUIET, [0.051, 1.0, 0.815, 0.855, 1.0]),
        wide(Host::TWO_MODES, [0.099, 0.25, 0.94, 0.89, 1.0]),
        wide(Host::TWO_SLOW_MODES, [0.086, 0.74, 0.825, 0.86, 1.0]),
        wide(Host::SHARED_BRIEFLY, [0.091, 0.665, 0.86, 0.87, 0.995]),
        wide(Host::OFTEN_STOLEN_FROM, [0.135, 0.755, 1.28, 2.15, 0.995]),
        wide(Host::BAD, [0.204, 0.44, 0.875, 0.87, 0.99]),
    ]
}

/// Half-widths on equal cells.
struct Widths {
    host: Host,
    /// That of the typical cost in percent, its ratio to that of long slices, and how many
    /// times as wide it is by other estimators.
    figures: [f64; 5],
}

impl Widths {
    /// The log of each figure.
    fn logs(&self, rng: &mut ChaCha8Rng) -> Option<Vec<f64>> {
        let mut blocks = |slicing| blocks_of(rng, self.host, &[Cell::default(); CELLS], slicing, BLOCKS);
        let [short, long] = [SHORT, LONG].map(&mut blocks);
        let typical = half_width(&typical_losses(&short))?.ln();
        let mut logs = vec![typical, typical - half_width(&typical_losses(&long))?.ln()];
        for (_, estimate) in ESTIMATORS {
            logs.push(log_width(&short, estimate)? - typical);
        }
        Some(logs)
    }
}

impl Experiment for Widths {
    fn share(&self) -> f64 {
        0.03
    }

    fn sums(&self) -> usize {
        2 * self.figures.len()
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        for (i, log) in self.logs(rng).into_iter().flatten().enumerate() {
            add(sums, 2 * i, log);
        }
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let row = |i: usize, group, unit: f64, what: &str| {
            let log = total.mean(2 * i);
            let value = unit * log.value.exp();
            let found = Found {
                value,
                error: value * log.error,
            };
            let claim = Some(Claim::about(self.figures[i], 0.1 * self.figures[i]));
            let case = format!("{}{what}", self.host.name);
            Row::new(group, case, Scale::Number, claim, found, total)
        };
        let mut rows = vec![row(0, WIDTH, 100.0, ""), row(1, LENGTHS, 1.0, "")];
        for (i, (name, _)) in (2..).zip(ESTIMATORS) {
            rows.push(row(i, OTHERS, 1.0, &format!(": {name}")));
        }
        rows
    }
}
