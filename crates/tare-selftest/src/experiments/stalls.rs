//! Where the typical and the mean cost of slices part: stalls of one cell, and
//! noise that is skewed in one cell alone.

use super::rounds::{
    BLOCKS, blocks, differs, group, hodges_lehmann, judged, judged_typical, trimmed, typical_loss,
};
use crate::noise::as_float;
use crate::simulate::Experiment;
use crate::slices::{Block, Cell, Host};
use crate::sums::{Found, Total, add, count};
use crate::table::{Claim, Row, Scale};
use rand_chacha::ChaCha8Rng;
use tare_stats::{log_ratio, mean, round_losses, stall_share};

const STALLS: &str = "Slices: 1 in 30 of one cell five times as long, 10 blocks of 50 rounds";
const MOVED: &str = "Slices: what these stalls add to the typical cost, in percent";
const SHARES: &str = "Slices: time in stalls, less the baseline's";
const SKEWED: &str = "Slices: one-sided noise of 3 % in one cell, its mean above its median by 0.9 %";

/// One slice in so many stalls, and takes five times as long.
const EVERY: usize = 30;
/// Cells of a group.
const CELLS: usize = 4;

/// The cases.
pub fn all() -> Vec<Box<dyn Experiment>> {
    let stalls = |host, covered, others| {
        Box::new(Stalls {
            host,
            covered,
            others,
        }) as Box<dyn Experiment>
    };
    let share = |host, stalls, told| Box::new(Share { host, stalls, told }) as Box<dyn Experiment>;
    let skewed = |host, told| Box::new(Skewed { host, told }) as Box<dyn Experiment>;
    vec![
        stalls(Host::SLOW, 0.96, [0.1, 0.08]),
        stalls(Host::QUICK, 0.97, [0.27, 0.2]),
        stalls(Host::BAD, 0.96, [0.27, 0.2]),
        share(Host::SLOW, Some(EVERY), 0.143),
        share(Host::BAD, Some(EVERY), 0.13),
        share(Host::BAD, None, 0.0),
        share(Host::OFTEN_STOLEN_FROM, None, 0.0),
        skewed(Host::QUIET, 0.021),
        skewed(Host::SLOW, 0.024),
    ]
}

/// The mean loss in logs, every slice being as much work as any other.
fn mean_loss(block: &Block) -> Option<f64> {
    log_ratio(mean(&block.costs[1])?, mean(&block.costs[0])?)
}

fn losses(block: &Block) -> Option<Vec<f64>> {
    round_losses(&block.costs[1], &block.costs[0])
}

/// One figure of each of so many blocks.
fn figures(blocks: &[Block], figure: fn(&Block) -> Option<f64>) -> Vec<f64> {
    blocks.iter().filter_map(figure).collect()
}

/// A mean of logs as a share.
fn as_share(log: Found) -> Found {
    Found {
        value: log.value.exp_m1(),
        error: log.value.exp() * log.error,
    }
}

/// A cell that costs what its baseline does but for its stalls.
struct Stalls {
    host: Host,
    /// How often the interval of the mean cost is told to cover.
    covered: f64,
    /// What is told to be added to other estimators, in percent: that of Hodges and
    /// Lehmann, and the mean trimmed by 20 %.
    others: [f64; 2],
}

impl Stalls {
    /// What the stalls cost on the whole.
    fn truth() -> f64 {
        4.0 / as_float(EVERY)
    }
}

impl Experiment for Stalls {
    fn share(&self) -> f64 {
        0.05
    }

    fn sums(&self) -> usize {
        10
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let cell = Cell {
            stalls: Some(EVERY),
            ..Cell::default()
        };
        let blocks = blocks(rng, self.host, &group(CELLS, cell), BLOCKS);
        if let Some(found) = judged_typical(rng, &blocks) {
            add(sums, 0, found.mean);
            count(sums, 2, differs(&found));
        }
        if let Some(found) = judged(rng, &figures(&blocks, mean_loss)) {
            add(sums, 3, found.mean);
            count(sums, 5, found.interval.contains(Self::truth().ln_1p()));
        }
        let other = |estimate: fn(&Block) -> Option<f64>| mean(&figures(&blocks, estimate));
        if let Some(found) = other(|block| hodges_lehmann(&losses(block)?)) {
            add(sums, 6, found);
        }
        if let Some(found) = other(|block| trimmed(losses(block)?)) {
            add(sums, 8, found);
        }
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let row = |group, what: &str, scale, claim, found| {
            let case = format!("{}: {what}", self.host.name);
            Row::new(group, case, scale, Some(claim), found, total)
        };
        let moved = |what: &str, claim, sum| {
            let share = as_share(total.mean(sum));
            let percent = Found {
                value: 100.0 * share.value,
                error: 100.0 * share.error,
            };
            row(MOVED, what, Scale::Number, claim, percent)
        };
        let told = |what: &str, claim, found| row(STALLS, what, Scale::Share, claim, found);
        let [hodges_lehmann, trimmed] = self.others.map(|told| Claim::about(told, 0.03));
        vec![
            told(
                "slower by the typical cost",
                Claim::promise(0.0, 0.05),
                total.share(2),
            ),
            told(
                "mean cost",
                Claim::about(Self::truth(), 0.01),
                as_share(total.mean(3)),
            ),
            told("its interval covers", Claim::told(self.covered), total.share(5)),
            moved("typical cost", Claim::promise(0.0, 0.2), 0),
            moved("Hodges and Lehmann", hodges_lehmann, 6),
            moved("mean trimmed by 20 %", trimmed, 8),
        ]
    }
}

/// The stall share of a cell over that of its baseline.
struct Share {
    host: Host,
    stalls: Option<usize>,
    told: f64,
}

impl Experiment for Share {
    fn share(&self) -> f64 {
        0.1
    }

    fn sums(&self) -> usize {
        2
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let cell = Cell {
            stalls: self.stalls,
            ..Cell::default()
        };
        let blocks = blocks(rng, self.host, &group(CELLS, cell), 1);
        // With as much work in each slice, times go by costs.
        let share = |cell: usize| stall_share(&blocks[0].costs[cell], &blocks[0].costs[cell]);
        if let Some((cell, baseline)) = share(1).zip(share(0)) {
            add(sums, 0, cell - baseline);
        }
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let what = if self.stalls.is_some() {
            "1 in 30 stalls"
        } else {
            "no stalls"
        };
        vec![Row::new(
            SHARES,
            format!("{}: {what}", self.host.name),
            Scale::Share,
            Some(Claim::about(self.told, 0.01)),
            total.mean(0),
            total,
        )]
    }
}

/// A cell whose slices are longer at random, by 3 % on average.
struct Skewed {
    host: Host,
    told: f64,
}

impl Experiment for Skewed {
    fn share(&self) -> f64 {
        0.1
    }

    fn sums(&self) -> usize {
        4
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let cell = Cell {
            one_sided: 0.03,
            ..Cell::default()
        };
        let blocks = blocks(rng, self.host, &group(CELLS, cell), 1);
        if let Some((typical, mean)) = typical_loss(&blocks[0]).zip(mean_loss(&blocks[0])) {
            add(sums, 0, typical);
            add(sums, 2, mean);
        }
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let row = |what: &str, told, sum| {
            let case = format!("{}: {what}", self.host.name);
            let claim = Some(Claim::about(told, 0.001));
            Row::new(
                SKEWED,
                case,
                Scale::Share,
                claim,
                as_share(total.mean(sum)),
                total,
            )
        };
        vec![row("typical cost", self.told, 0), row("mean cost", 0.031, 2)]
    }
}
