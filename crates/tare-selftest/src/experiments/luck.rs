//! What the processes of a cell keep for life, which no number of rounds takes away: the
//! mean of the medians of the two processes beside the median over all rounds.

use super::rounds::{BLOCKS, ROUNDS, differs, group, half_width, judged_by};
use crate::simulate::Experiment;
use crate::slices::{Block, Cell, Host, Order, Slicing};
use crate::sums::{Found, Total, add, count};
use crate::table::{Claim, Row, Scale};
use rand_chacha::ChaCha8Rng;
use tare_stats::{mean_of_medians, median, round_losses};

const WIDTH: &str = "Slices: how many times as wide the interval is by the mean of the processes' medians";
const COVERAGE: &str =
    "Slices: coverage where processes differ by their luck, 4 cells, 10 blocks of 50 rounds";
const MOVED: &str = "Slices: what stalls of one cell add where processes differ by their luck, in percent";
const ERRORS: &str = "Slices: `slower` by these stalls";

/// Cells of a group.
const CELLS: usize = 4;
/// Standard deviations of the luck of a ratio, over that of a round.
const LUCKS: [f64; 4] = [0.0, 0.3, 1.0, 3.0];

/// A host, and how much the loss of a round varies there about its median where no process
/// has any luck: the standard deviation in logs of normal noise with as wide a middle half.
type QuietHost = (Host, f64);

const SLOW: QuietHost = (Host::SLOW, 0.0166);
const BAD: QuietHost = (Host::BAD, 0.0395);
const OFTEN_STOLEN_FROM: QuietHost = (Host::OFTEN_STOLEN_FROM, 0.0168);

/// The cases.
pub fn all() -> Vec<Box<dyn Experiment>> {
    let wide = |site, rounds, times: [f64; 4]| Box::new(Width { site, rounds, times }) as Box<dyn Experiment>;
    let covers = |site, luck| Box::new(Coverage { site, luck }) as Box<dyn Experiment>;
    let stalls = |every, luck, moved, slower| {
        Box::new(Stalls {
            every,
            luck,
            moved,
            slower,
        }) as Box<dyn Experiment>
    };
    vec![
        wide(SLOW, 20, [0.97, 0.98, 0.985, 0.96]),
        wide(SLOW, 40, [0.985, 0.985, 0.99, 0.96]),
        wide(SLOW, 50, [1.01, 0.995, 0.995, 0.955]),
        wide(SLOW, 51, [0.99, 0.995, 0.99, 0.91]),
        wide(BAD, 20, [0.99, 0.98, 0.97, 0.91]),
        wide(BAD, 50, [1.02, 0.995, 0.99, 0.92]),
        wide(OFTEN_STOLEN_FROM, 10, [5.4, 4.4, 3.0, 1.65]),
        wide(OFTEN_STOLEN_FROM, 20, [3.45, 2.95, 1.7, 1.03]),
        wide(OFTEN_STOLEN_FROM, 40, [1.11, 1.06, 0.93, 0.82]),
        wide(OFTEN_STOLEN_FROM, 50, [1.05, 0.995, 0.92, 0.82]),
        covers(SLOW, 0.3),
        covers(SLOW, 1.0),
        covers(SLOW, 3.0),
        covers(OFTEN_STOLEN_FROM, 0.3),
        covers(OFTEN_STOLEN_FROM, 3.0),
        stalls(30, 0.3, [0.07, 0.07], [0.0, 0.0]),
        stalls(30, 3.0, [0.58, 0.1], [0.057, 0.04]),
        stalls(10, 0.3, [0.23, 0.26], [0.016, 0.022]),
        stalls(10, 3.0, [1.0, 0.28], [0.099, 0.05]),
        stalls(4, 0.3, [0.72, 40.4], [0.66, 0.884]),
        stalls(4, 3.0, [1.78, 40.3], [0.186, 0.819]),
    ]
}

/// From a block to its typical cost.
type Estimator = fn(&Block) -> Option<f64>;

/// What is compared; the method takes the second where a process has rounds enough.
const ESTIMATORS: [(&str, Estimator); 2] = [
    ("median over all rounds", over_all),
    ("mean of the processes' medians", of_processes),
];

/// As which processes' the rounds are judged by each.
const PROCESSES: [fn(&Block) -> Vec<usize>; 2] = [as_one, Block::processes];

fn as_one(block: &Block) -> Vec<usize> {
    vec![0; block.costs[0].len()]
}

fn over_all(block: &Block) -> Option<f64> {
    median(&losses(block)?)
}

fn of_processes(block: &Block) -> Option<f64> {
    mean_of_medians(&losses(block)?, &block.processes())
}

fn losses(block: &Block) -> Option<Vec<f64>> {
    round_losses(&block.costs[1], &block.costs[0])
}

/// Blocks of cells with so much luck, the second of which may stall.
fn blocks(
    rng: &mut ChaCha8Rng,
    (host, round): QuietHost,
    luck: f64,
    stalls: Option<usize>,
    rounds: usize,
) -> Vec<Block> {
    let cell = Cell {
        stalls,
        ..Cell::default()
    };
    let mut cells = group(CELLS, cell);
    // The luck of a ratio is that of two processes.
    let each = luck * round / std::f64::consts::SQRT_2;
    cells.iter_mut().for_each(|cell| cell.luck = each);
    let block = |_| Block::draw(rng, host, &cells, Slicing::long(rounds), Order::Rounds);
    (0..BLOCKS).map(block).collect()
}

/// One figure of each block.
fn figures(blocks: &[Block], estimate: Estimator) -> Vec<f64> {
    blocks.iter().filter_map(estimate).collect()
}

fn case(host: Host, luck: f64, what: &str) -> String {
    format!("{}, luck {luck} times the noise of a round{what}", host.name)
}

/// Half-widths by the two, on equal cells.
struct Width {
    site: QuietHost,
    rounds: usize,
    /// How many times as wide it is told to be, by luck.
    times: [f64; 4],
}

impl Experiment for Width {
    fn share(&self) -> f64 {
        0.05
    }

    fn sums(&self) -> usize {
        2 * LUCKS.len()
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        for (i, luck) in LUCKS.into_iter().enumerate() {
            let blocks = blocks(rng, self.site, luck, None, self.rounds);
            let [over_all, of_processes] =
                ESTIMATORS.map(|(_, estimate)| half_width(&figures(&blocks, estimate)));
            if let Some((over_all, of_processes)) = over_all.zip(of_processes) {
                add(sums, 2 * i, (of_processes / over_all).ln());
            }
        }
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let row = |(i, luck): (usize, f64)| {
            let log = total.mean(2 * i);
            let value = log.value.exp();
            let found = Found {
                value,
                error: value * log.error,
            };
            let case = case(self.site.0, luck, &format!(", {} rounds", self.rounds));
            let told = self.times[i];
            // Widths hang on blocks in which a median falls apart: rare ones, which few draws lack.
            let claim = Some(Claim::about(told, 0.1 * told));
            Row::new(WIDTH, case, Scale::Number, claim, found, total)
        };
        LUCKS.into_iter().enumerate().map(row).collect()
    }
}

/// How often the intervals cover on equal cells.
struct Coverage {
    site: QuietHost,
    luck: f64,
}

impl Experiment for Coverage {
    fn share(&self) -> f64 {
        0.15
    }

    fn sums(&self) -> usize {
        ESTIMATORS.len()
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let blocks = blocks(rng, self.site, self.luck, None, ROUNDS);
        for (sum, processes) in PROCESSES.into_iter().enumerate() {
            if let Some(found) = judged_by(rng, &blocks, processes) {
                count(sums, sum, found.interval.contains(0.0));
            }
        }
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let row = |(sum, claim): (usize, Claim)| {
            let case = case(self.site.0, self.luck, &format!(": {}", ESTIMATORS[sum].0));
            Row::new(COVERAGE, case, Scale::Share, Some(claim), total.share(sum), total)
        };
        let claims = [Claim::told(0.958), Claim::promise(0.94, 0.965)];
        claims.into_iter().enumerate().map(row).collect()
    }
}

/// A cell that costs what its baseline does but for its stalls. Where one slice in an even
/// number stalls, all that do are of one process.
struct Stalls {
    every: usize,
    luck: f64,
    /// What the stalls are told to add, in percent.
    moved: [f64; 2],
    /// How often the cell is told to be called slower, or faster.
    slower: [f64; 2],
}

impl Experiment for Stalls {
    fn share(&self) -> f64 {
        0.1
    }

    fn sums(&self) -> usize {
        3 * ESTIMATORS.len()
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let blocks = blocks(rng, SLOW, self.luck, Some(self.every), ROUNDS);
        for (i, processes) in PROCESSES.into_iter().enumerate() {
            if let Some(found) = judged_by(rng, &blocks, processes) {
                add(sums, 3 * i, 100.0 * found.mean);
                count(sums, 3 * i + 2, differs(&found));
            }
        }
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let row = |group, (i, scale, claim, found)| {
            let (name, _): (&str, Estimator) = ESTIMATORS[i];
            let what = format!(", 1 slice in {} stalls: {name}", self.every);
            Row::new(
                group,
                case(SLOW.0, self.luck, &what),
                scale,
                Some(claim),
                found,
                total,
            )
        };
        let moved = |i: usize| {
            let claim = Claim::about(self.moved[i], 0.03 * self.moved[i].max(1.0));
            row(MOVED, (i, Scale::Number, claim, total.mean(3 * i)))
        };
        let slower = |i: usize| {
            let claim = Claim::told(self.slower[i]);
            row(ERRORS, (i, Scale::Share, claim, total.share(3 * i + 2)))
        };
        (0..ESTIMATORS.len())
            .flat_map(|i| [moved(i), slower(i)])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::rounds::typical_loss;
    use super::*;
    use rand::SeedableRng;

    /// A block in which the cell costs these over a baseline of 1.
    fn block(costs: &[f64]) -> Block {
        Block {
            costs: vec![vec![1.0; costs.len()], costs.to_vec()],
            before: Vec::new(),
            stretches: Vec::new(),
        }
    }

    #[test]
    fn a_process_counts_for_half_in_one_of_the_two() {
        let costs = [1.0, 4.0, 1.0, 4.0, 1.0];
        let found = of_processes(&block(&costs)).expect("a figure");
        assert!((found - 2.0_f64.ln()).abs() < 1e-12, "{found}");
        assert_eq!(over_all(&block(&costs)), Some(0.0));
    }

    #[test]
    fn the_method_goes_by_the_mean_of_the_processes_where_rounds_are_enough() {
        let costs = |rounds: usize| {
            [1.0, 1.5, 4.0]
                .into_iter()
                .cycle()
                .take(rounds)
                .collect::<Vec<_>>()
        };
        let (many, few) = (block(&costs(ROUNDS)), block(&costs(20)));
        assert_eq!(typical_loss(&many), of_processes(&many));
        assert_eq!(typical_loss(&few), over_all(&few));
    }

    #[test]
    fn a_round_varies_as_much_as_it_is_said_to() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for site in [SLOW, BAD, OFTEN_STOLEN_FROM] {
            let many = (0..50).flat_map(|_| blocks(&mut rng, site, 0.0, None, ROUNDS));
            let losses = many.filter_map(|block| round_losses(&block.costs[1], &block.costs[0]));
            let away: Vec<f64> = losses.flatten().map(f64::abs).collect();
            // Half of all normal numbers lie within 0.6745 standard deviations.
            let found = median(&away).expect("a figure") / 0.6745;
            assert!((found / site.1 - 1.0).abs() < 0.03, "{found}, not {}", site.1);
        }
    }
}
