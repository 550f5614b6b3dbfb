//! The typical cost of slices: how often its interval covers, and how wide it is
//! beside what else could have been made of the same rounds, and of one piece.

use super::{margin, percent};
use crate::simulate::Experiment;
use crate::slices::{Block, Cell, Host, Order, Slicing};
use crate::sums::{Found, Total, add, count};
use crate::table::{Claim, Row, Scale};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use tare_stats::{
    LEVEL, Looks, PairedInference, Question, decide, error_of_typical, infer, infer_beside, least_noise,
    log_ratio, mean, median, round_losses, t_estimate, typical, understated_by, upper_quartile,
};

const COVERAGE: &str = "Slices: coverage of the 95 % interval of the typical cost, 10 blocks of 50 rounds";
const CONTENDED: &str =
    "Slices: coverage where something else always wants the CPU too, 10 blocks of 50 rounds of 2 cells";
const ERRORS: &str = "Slices: false `slower` or `faster` by the typical cost, no effect";
const WIDTH: &str = "Slices: half-width of the interval, in percent, 4 cells, 10 blocks of 50 rounds";
const OTHERS: &str = "Slices: how many times as wide the interval is by other estimators";

/// Blocks of a comparison.
pub(super) const BLOCKS: usize = 10;
/// Rounds of a block: half a second of work of each cell.
pub(super) const ROUNDS: usize = 50;

/// The cases.
pub fn all() -> Vec<Box<dyn Experiment>> {
    let covers = |host, cells, effect| Typical::case(LONG, host, cells, effect);
    let wide = |host, figures: [f64; 7]| Box::new(Precision { host, figures }) as Box<dyn Experiment>;
    vec![
        covers(Host::STOLEN_FROM, 4, 0.0),
        covers(Host::OFTEN_STOLEN_FROM, 4, 0.0),
        covers(Host::SLOW, 2, 0.01),
        covers(Host::SLOW, 4, 0.2),
        covers(Host::SLOW, 8, 0.02),
        covers(Host::QUICK, 4, 0.0),
        covers(Host::SHARED, 2, 0.0),
        covers(Host::BAD, 8, 0.0),
        Box::new(Contended {
            effect: 0.0,
            told: [0.957, 0.0],
        }),
        Box::new(Contended {
            effect: 0.02,
            told: [0.107, 0.011],
        }),
        wide(Host::OFTEN_STOLEN_FROM, [0.18, 1.65, 8.6, 30.0, 43.0, 2.3, 43.5]),
        wide(Host::SLOW, [0.195, 0.87, 0.88, 6.5, 11.5, 2.2, 28.0]),
        wide(Host::QUICK, [0.5, 0.87, 0.88, 2.65, 4.5, 1.73, 13.2]),
        wide(Host::SHARED, [0.11, 0.85, 0.87, 7.2, 9.4, 1.8, 88.0]),
        wide(Host::BAD, [0.465, 0.93, 0.9, 5.1, 8.9, 2.03, 27.0]),
    ]
}

/// A baseline, a cell that costs `loss` more in logs, and others like the baseline.
pub(super) fn group(cells: usize, cell: Cell) -> Vec<Cell> {
    let mut group = vec![Cell::default(); cells];
    group[1] = cell;
    group
}

/// So many blocks in rounds of long slices.
pub(super) fn blocks(rng: &mut ChaCha8Rng, host: Host, cells: &[Cell], n: usize) -> Vec<Block> {
    blocks_of(rng, host, cells, Slicing::long(ROUNDS), n)
}

/// So many blocks in rounds that are cut like this.
pub(super) fn blocks_of(
    rng: &mut ChaCha8Rng,
    host: Host,
    cells: &[Cell],
    slicing: Slicing,
    n: usize,
) -> Vec<Block> {
    let block = |_| Block::draw(rng, host, cells, slicing, Order::Rounds);
    (0..n).map(block).collect()
}

/// The typical loss of the second cell against the first.
pub(super) fn typical_loss(block: &Block) -> Option<f64> {
    typical(&block.costs[1], &block.costs[0], &block.processes())
}

/// The same, block by block.
pub(super) fn typical_losses(blocks: &[Block]) -> Vec<f64> {
    blocks.iter().filter_map(typical_loss).collect()
}

/// What is asked of the d of a fixed number of blocks.
pub(super) fn question(rng: &mut ChaCha8Rng) -> Question {
    Question {
        looks: Looks::None,
        margin: None,
        check: Some(rng.next_u64()),
    }
}

/// What a report would say of the d of all blocks, the noise of whose rounds is not known.
pub(super) fn judged(rng: &mut ChaCha8Rng, d: &[f64]) -> Option<PairedInference> {
    infer(d, question(rng))
}

/// The d of a block, and its variance by the scatter of rounds alone where that is known.
pub(super) type Loss = (f64, Option<f64>);

/// What a report says of the losses of all blocks.
pub(super) fn judged_beside(losses: &[Loss], question: Question) -> Option<PairedInference> {
    let (d, noise) = beside(losses);
    infer_beside(&d, noise, question)
}

/// The losses, and the noise of rounds that they have at least.
pub(super) fn beside(losses: &[Loss]) -> (Vec<f64>, f64) {
    let (d, noise): (Vec<f64>, Vec<Option<f64>>) = losses.iter().copied().unzip();
    (d, least_noise(noise))
}

/// The typical loss of the second cell against the first, had these processes done the rounds.
pub(super) fn loss_by(block: &Block, processes: &[usize]) -> Option<Loss> {
    let [baseline, cell] = [&block.costs[0], &block.costs[1]];
    let error = error_of_typical(cell, baseline, processes);
    Some((typical(cell, baseline, processes)?, error.map(|e| e.powi(2))))
}

/// What a report says of the typical cost, had these processes done the rounds of each block.
pub(super) fn judged_by(
    rng: &mut ChaCha8Rng,
    blocks: &[Block],
    processes: fn(&Block) -> Vec<usize>,
) -> Option<PairedInference> {
    let losses = blocks
        .iter()
        .filter_map(|block| loss_by(block, &processes(block)));
    judged_beside(&losses.collect::<Vec<_>>(), question(rng))
}

/// What a report says of the typical cost.
pub(super) fn judged_typical(rng: &mut ChaCha8Rng, blocks: &[Block]) -> Option<PairedInference> {
    judged_by(rng, blocks, Block::processes)
}

/// Whether it is called slower or faster; one comparison is a family of its own.
pub(super) fn differs(found: &PairedInference) -> bool {
    let row = decide(found.interval, found.p_t.unwrap_or(1.0), margin());
    (2..=4).contains(&row.number())
}

/// How slices are cut, and what that says of the experiments.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    pub slicing: Slicing,
    /// Share of the draws.
    pub share: f64,
    /// Under which headings the coverage and the false verdicts stand.
    pub groups: [&'static str; 2],
}

const LONG: Cut = Cut {
    slicing: Slicing::long(ROUNDS),
    share: 0.15,
    groups: [COVERAGE, ERRORS],
};

/// A cell of a group against its baseline.
pub(super) struct Typical {
    pub cut: Cut,
    pub host: Host,
    pub cells: usize,
    pub effect: f64,
}

impl Typical {
    /// A case of its own.
    pub(super) fn case(cut: Cut, host: Host, cells: usize, effect: f64) -> Box<dyn Experiment> {
        Box::new(Self {
            cut,
            host,
            cells,
            effect,
        })
    }
}

impl Experiment for Typical {
    fn share(&self) -> f64 {
        self.cut.share
    }

    fn sums(&self) -> usize {
        2
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let loss = self.effect.ln_1p();
        let cells = group(self.cells, Cell::dearer(loss));
        let blocks = blocks_of(rng, self.host, &cells, self.cut.slicing, BLOCKS);
        let Some(found) = judged_typical(rng, &blocks) else {
            return;
        };
        count(sums, 0, found.interval.contains(loss));
        count(sums, 1, differs(&found));
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let row = |group, what: &str, claim, sum| {
            let case = format!("{}, {} cells{what}", self.host.name, self.cells);
            Row::new(group, case, Scale::Share, Some(claim), total.share(sum), total)
        };
        let effect = format!(", effect {}", percent(self.effect));
        let [coverage, errors] = self.cut.groups;
        let mut rows = vec![row(coverage, &effect, Claim::promise(0.94, 0.965), 0)];
        if self.effect == 0.0 {
            rows.push(row(errors, "", Claim::promise(0.0, 0.04), 1));
        }
        rows
    }
}

/// A cell against its baseline, where something else uses the CPU of both.
struct Contended {
    effect: f64,
    /// How often the interval would cover that knows nothing of it, and the mean of d.
    told: [f64; 2],
}

impl Experiment for Contended {
    fn share(&self) -> f64 {
        0.15
    }

    fn sums(&self) -> usize {
        4
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let loss = self.effect.ln_1p();
        let blocks = blocks(rng, Host::CONTENDED, &group(2, Cell::dearer(loss)), BLOCKS);
        let stretches: Vec<f64> = blocks.iter().flat_map(|b| b.stretches[0].clone()).collect();
        let Some(plain) = judged_typical(rng, &blocks) else {
            return;
        };
        let times = upper_quartile(&stretches).and_then(understated_by);
        let found = plain.understated(times.unwrap_or(1.0), None);
        count(sums, 0, found.interval.contains(loss));
        count(sums, 1, plain.interval.contains(loss));
        add(sums, 2, plain.mean);
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let row = |what: &str, claim, found| {
            let case = format!("effect {}{what}", percent(self.effect));
            Row::new(CONTENDED, case, Scale::Share, Some(claim), found, total)
        };
        vec![
            row("", Claim::promise(0.94, 1.0), total.share(0)),
            row(
                ", as if the CPU was not shared",
                Claim::told(self.told[0]),
                total.share(1),
            ),
            row(
                ", mean of the typical loss",
                Claim::about(self.told[1], 0.001),
                total.mean(2),
            ),
        ]
    }
}

/// From the costs of a cell and of its baseline, round by round, to one figure.
pub(super) type Estimator = fn(&[f64], &[f64]) -> Option<f64>;

/// What else could be made of the same rounds.
const ESTIMATORS: [(&str, Estimator); 5] = [
    ("Hodges and Lehmann", |x, y| hodges_lehmann(&round_losses(x, y)?)),
    ("mean trimmed by 20 %", |x, y| trimmed(round_losses(x, y)?)),
    ("mean of logs", |x, y| mean(&round_losses(x, y)?)),
    ("ratio of means", ratio_of_means),
    ("ratio of medians", |x, y| log_ratio(median(x)?, median(y)?)),
];

fn ratio_of_means(x: &[f64], y: &[f64]) -> Option<f64> {
    log_ratio(mean(x)?, mean(y)?)
}

/// The median of the means of all pairs of values, each with itself as well
/// (Hodges and Lehmann 1963).
pub(super) fn hodges_lehmann(values: &[f64]) -> Option<f64> {
    let mut means = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
    for (i, a) in values.iter().enumerate() {
        means.extend(values[i..].iter().map(|b| f64::midpoint(*a, *b)));
    }
    median(&means)
}

/// The mean without a fifth of the values on either side.
pub(super) fn trimmed(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let fifth = values.len() / 5;
    mean(&values[fifth..values.len() - fifth])
}

/// Half-widths by every estimator, on equal cells.
struct Precision {
    host: Host,
    /// What is told: the half-width of the typical cost in percent, then how many
    /// times as wide the others are; one piece for each cell last.
    figures: [f64; 7],
}

/// Half-width of the t interval over blocks.
pub(super) fn half_width(d: &[f64]) -> Option<f64> {
    let interval = t_estimate(d, LEVEL, 1.0)?.interval;
    Some((interval.high - interval.low) / 2.0)
}

/// Its log, by an estimator.
pub(super) fn log_width(blocks: &[Block], estimate: Estimator) -> Option<f64> {
    let d = blocks
        .iter()
        .map(|block| estimate(&block.costs[1], &block.costs[0]));
    half_width(&d.collect::<Option<Vec<f64>>>()?).map(f64::ln)
}

impl Precision {
    const CELLS: usize = 4;

    /// So many blocks, as costs of the cell and of the baseline.
    fn blocks(&self, rng: &mut ChaCha8Rng, order: Order) -> Vec<Block> {
        let cells = [Cell::default(); Self::CELLS];
        let mut block = || Block::draw(rng, self.host, &cells, Slicing::long(ROUNDS), order);
        (0..BLOCKS).map(|_| block()).collect()
    }

    /// The logs of all half-widths, in the order in which they are told.
    fn half_widths(&self, rng: &mut ChaCha8Rng) -> Option<Vec<f64>> {
        let rounds = self.blocks(rng, Order::Rounds);
        let pieces = self.blocks(rng, Order::Pieces);
        let mut all = vec![half_width(&typical_losses(&rounds))?.ln()];
        for (_, estimate) in ESTIMATORS {
            all.push(log_width(&rounds, estimate)?);
        }
        all.push(log_width(&pieces, ratio_of_means)?);
        Some(all)
    }
}

impl Experiment for Precision {
    fn share(&self) -> f64 {
        0.05
    }

    fn sums(&self) -> usize {
        2 * self.figures.len()
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let Some(all) = self.half_widths(rng) else { return };
        add(sums, 0, all[0]);
        for (i, other) in all.iter().enumerate().skip(1) {
            add(sums, 2 * i, other - all[0]);
        }
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let row = |group, what: &str, figure: f64, found| {
            let case = format!("{}{what}", self.host.name);
            let claim = Some(Claim::about(figure, 0.1 * figure));
            Row::new(group, case, Scale::Number, claim, found, total)
        };
        let of = |i: usize, unit: f64| {
            let log = total.mean(2 * i);
            let value = unit * log.value.exp();
            Found {
                value,
                error: value * log.error,
            }
        };
        let mut rows = vec![row(WIDTH, "", self.figures[0], of(0, 100.0))];
        let names = ESTIMATORS
            .iter()
            .map(|(name, _)| *name)
            .chain(["one piece of each"]);
        for (i, name) in (1..).zip(names) {
            rows.push(row(OTHERS, &format!(": {name}"), self.figures[i], of(i, 1.0)));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_estimators_are_what_they_are_called() {
        // Means of pairs: 0, 0.5, 1, 1, 1.5, 2, 4.5, 5, 5.5, 9 of 0, 1, 2, 9.
        assert_eq!(hodges_lehmann(&[0.0, 1.0, 2.0, 9.0]), Some(1.75));
        assert_eq!(trimmed(vec![9.0, 1.0, 2.0, -7.0, 3.0]), Some(2.0));
        assert_eq!(trimmed(vec![]), None);
    }
}
