//! Slices of cells that stand side by side on one host, as random numbers.

use crate::noise::{normal, uniform};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Seconds of a slice that nothing disturbs, its untimed lead-in among them.
const SLICE: f64 = 0.011;
/// Seconds of it in which its process has the CPU, at the cost of the baseline.
const OWN: f64 = 0.01;
/// By how much a stalled slice is longer.
const STALL: f64 = 5.0;
/// Processes of a cell, which take its slices in turn.
const PROCESSES: usize = 2;

/// What a host does to whoever runs on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Host {
    /// How it is called in a case.
    pub name: &'static str,
    /// Slow noise: standard deviation of the log of costs, and the seconds over
    /// which it forgets itself.
    pub drift: (f64, f64),
    /// Noise of each slice by itself: standard deviation of the log of its cost.
    pub jitter: f64,
    /// How often a second others take half of the CPU, for 50 to 500 ms.
    pub bursts: f64,
    /// Share of slices that a hypervisor makes 1.1 to 4 times as long.
    pub stolen: f64,
    /// Seconds of a turn, where something else always wants the CPU too: it runs for so long
    /// whenever a slice did. 0: nothing does.
    pub turn: f64,
}

impl Host {
    /// Where time is taken from one slice in twenty.
    pub const STOLEN_FROM: Self = Self {
        name: "1 slice in 20 stolen from",
        drift: (0.03, 1.0),
        jitter: 0.005,
        bursts: 0.0,
        stolen: 0.05,
        turn: 0.0,
    };
    /// Where it is taken from one slice in five.
    pub const OFTEN_STOLEN_FROM: Self = Self {
        name: "1 slice in 5 stolen from",
        stolen: 0.2,
        ..Self::STOLEN_FROM
    };
    /// Which drifts over a second.
    pub const SLOW: Self = Self {
        name: "drifts by 8 % over 1 s",
        drift: (0.08, 1.0),
        stolen: 0.01,
        ..Self::STOLEN_FROM
    };
    /// Which drifts over a few rounds.
    pub const QUICK: Self = Self {
        name: "drifts by 10 % over 0.2 s",
        drift: (0.1, 0.2),
        jitter: 0.01,
        ..Self::SLOW
    };
    /// On which others work now and then.
    pub const SHARED: Self = Self {
        name: "others come in bursts",
        bursts: 0.5,
        stolen: 0.0,
        ..Self::STOLEN_FROM
    };
    /// With all of it.
    pub const BAD: Self = Self {
        name: "all of these",
        drift: (0.1, 0.3),
        jitter: 0.01,
        bursts: 0.5,
        stolen: 0.03,
        turn: 0.0,
    };
    /// Where something else on the same CPU gets turns of 3 ms, as Linux gives them.
    pub const CONTENDED: Self = Self {
        name: "something else always wants the CPU too",
        turn: 0.003,
        ..Self::QUIET
    };
    /// Where slices differ by their jitter alone.
    pub const QUIET: Self = Self {
        name: "quiet",
        drift: (0.0, 1.0),
        jitter: 0.003,
        bursts: 0.0,
        stolen: 0.0,
        turn: 0.0,
    };
}

/// What one cell does. The default is that of a baseline.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cell {
    /// What it costs over the baseline, in logs.
    pub loss: f64,
    /// One of so many slices takes five times as long, at regular distances.
    pub stalls: Option<usize>,
    /// Mean of a one-sided (exponential) noise of each slice by itself, in logs.
    pub one_sided: f64,
    /// What it costs whoever runs right after it, in logs.
    pub leaves: f64,
    /// What each of its processes keeps for life: standard deviation of the log of its costs.
    pub luck: f64,
}

impl Cell {
    /// One that costs so much more than the baseline, in logs.
    pub fn dearer(loss: f64) -> Self {
        Self {
            loss,
            ..Self::default()
        }
    }
}

/// In which order slices are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// In rounds: one slice of every cell, in random order.
    Rounds,
    /// In pieces: all slices of one cell, then all of another, in random order.
    Pieces,
}

/// The slices of one block.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// Costs per unit of work: by cell, in the order of its slices.
    pub costs: Vec<Vec<f64>>,
    /// Which cell ran right before each of these slices; none before the first.
    pub before: Vec<Vec<Option<usize>>>,
    /// Time of each of these slices over that for which it had the CPU.
    pub stretches: Vec<Vec<f64>>,
}

impl Block {
    /// Draws so many slices of each cell.
    pub fn draw(rng: &mut ChaCha8Rng, host: Host, cells: &[Cell], slices: usize, order: Order) -> Self {
        let mut weather = Weather::new(rng, host);
        let mut first_stall = |cell: &Cell| Some(rng.random_range(0..cell.stalls?));
        let first_stalls: Vec<Option<usize>> = cells.iter().map(&mut first_stall).collect();
        let lucks: Vec<[f64; PROCESSES]> = cells.iter().map(|cell| lucks(rng, cell)).collect();
        let mut block = Self {
            costs: vec![Vec::with_capacity(slices); cells.len()],
            before: vec![Vec::with_capacity(slices); cells.len()],
            stretches: vec![Vec::with_capacity(slices); cells.len()],
        };
        let mut before: Option<usize> = None;
        for cell in turns(rng, cells.len(), slices, order) {
            let it = &cells[cell];
            let slice = block.costs[cell].len();
            let since = slice.checked_sub(first_stalls[cell].unwrap_or(0));
            let stalls = since
                .zip(it.stalls)
                .is_some_and(|(since, every)| since % every == 0);
            let left = before.map_or(0.0, |before| cells[before].leaves);
            let stall = if stalls { STALL.ln() } else { 0.0 };
            let one_sided = -it.one_sided * (1.0 - uniform(rng)).ln();
            let luck = lucks[cell][slice % PROCESSES];
            let own = (it.loss + luck + left + stall + one_sided + weather.slice(rng)).exp();
            let cost = own + waits(rng, host, own);
            block.stretches[cell].push(cost / own);
            block.costs[cell].push(cost);
            block.before[cell].push(before);
            before = Some(cell);
        }
        block
    }

    /// Which process of its cell did each slice of one.
    pub fn processes(&self) -> Vec<usize> {
        let slices = self.costs.first().map_or(0, Vec::len);
        (0..slices).map(|slice| slice % PROCESSES).collect()
    }
}

/// The luck of each process of a cell. Without any nothing is drawn.
fn lucks(rng: &mut ChaCha8Rng, cell: &Cell) -> [f64; PROCESSES] {
    let mut luck = [0.0; PROCESSES];
    if cell.luck > 0.0 {
        luck.fill_with(|| cell.luck * normal(rng));
    }
    luck
}

/// What a slice that needs the CPU for this long waits for turns of something else, both
/// over the time that it takes alone. Where in a turn it begins is random.
fn waits(rng: &mut ChaCha8Rng, host: Host, own: f64) -> f64 {
    if host.turn == 0.0 {
        return 0.0;
    }
    let turn = host.turn / OWN;
    (own / turn + uniform(rng)).floor() * turn
}

/// Which cell runs when.
fn turns(rng: &mut ChaCha8Rng, cells: usize, slices: usize, order: Order) -> Vec<usize> {
    let (rounds, each) = match order {
        Order::Rounds => (slices, 1),
        Order::Pieces => (1, slices),
    };
    let mut all: Vec<usize> = (0..cells).collect();
    let mut turns = Vec::with_capacity(cells * slices);
    for _ in 0..rounds {
        all.shuffle(rng);
        turns.extend(all.iter().flat_map(|cell| std::iter::repeat_n(*cell, each)));
    }
    turns
}

/// What a host does as time passes.
struct Weather {
    host: Host,
    slow: f64,
    /// Whether others are at work, and for how many seconds this stays so.
    burst: bool,
    stays: f64,
}

impl Weather {
    fn new(rng: &mut ChaCha8Rng, host: Host) -> Self {
        Self {
            host,
            slow: host.drift.0 * normal(rng),
            burst: false,
            stays: quiet(rng, host),
        }
    }

    /// What it adds to the log of a slice's cost; time goes on by that slice.
    fn slice(&mut self, rng: &mut ChaCha8Rng) -> f64 {
        let shared: f64 = if self.burst { 2.0 } else { 1.0 };
        let stolen = if uniform(rng) < self.host.stolen {
            1.1 + 2.9 * uniform(rng)
        } else {
            1.0
        };
        let log = self.slow + self.host.jitter * normal(rng) + (shared * stolen).ln();
        self.pass(rng, SLICE * log.exp());
        log
    }

    /// The slow noise is an Ornstein-Uhlenbeck process, whose step is exact.
    fn pass(&mut self, rng: &mut ChaCha8Rng, seconds: f64) {
        let (sd, memory) = self.host.drift;
        let kept = (-seconds / memory).exp();
        self.slow = kept * self.slow + sd * (1.0 - kept * kept).sqrt() * normal(rng);
        self.stays -= seconds;
        if self.stays <= 0.0 {
            self.burst = !self.burst;
            self.stays = if self.burst {
                0.05 + 0.45 * uniform(rng)
            } else {
                quiet(rng, self.host)
            };
        }
    }
}

/// Seconds until the next burst.
fn quiet(rng: &mut ChaCha8Rng, host: Host) -> f64 {
    -(1.0 - uniform(rng)).ln() / host.bursts
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use tare_stats::{lag1, mean, sd};

    const SLICES: usize = 50_000;

    fn block(host: Host, cells: &[Cell], slices: usize, order: Order) -> Block {
        Block::draw(&mut ChaCha8Rng::seed_from_u64(1), host, cells, slices, order)
    }

    fn logs(costs: &[f64]) -> Vec<f64> {
        costs.iter().map(|cost| cost.ln()).collect()
    }

    #[track_caller]
    fn about(found: Option<f64>, right: f64, within: f64) {
        let found = found.expect("a figure");
        assert!((found - right).abs() < within, "{found}, not {right}");
    }

    #[test]
    fn a_host_drifts_as_much_and_as_slowly_as_it_says() {
        let host = Host {
            stolen: 0.0,
            ..Host::QUICK
        };
        let alone = block(host, &[Cell::default()], SLICES, Order::Rounds);
        let costs = logs(&alone.costs[0]);
        about(sd(&costs), 0.1, 0.01);
        // Of the spread 1 % is jitter, which is not remembered.
        about(lag1(&costs), (-SLICE / 0.2).exp() / 1.01, 0.01);
    }

    #[test]
    fn bursts_and_theft_come_as_often_as_they_should() {
        let still = |host: Host| Host {
            drift: (0.0, 1.0),
            ..host
        };
        let share = |host, limit: f64| {
            let costs = &block(host, &[Cell::default()], SLICES, Order::Rounds).costs[0];
            mean(
                &costs
                    .iter()
                    .map(|c| f64::from(u8::from(*c > limit)))
                    .collect::<Vec<_>>(),
            )
        };
        about(share(still(Host::OFTEN_STOLEN_FROM), 1.05), 0.2, 0.01);
        // 0.275 s of 2.275 s; twice the cost is half as many slices.
        about(share(still(Host::SHARED), 1.5), 0.1375 / 2.1375, 0.02);
    }

    #[test]
    fn a_cell_costs_stalls_and_leaves_what_it_is_told() {
        let cell = Cell {
            loss: 0.5,
            stalls: Some(10),
            one_sided: 0.1,
            ..Cell::default()
        };
        let costs = &block(Host::QUIET, &[cell], SLICES, Order::Rounds).costs[0];
        let expected = 0.5 + 0.1 + STALL.ln() / 10.0;
        about(mean(&logs(costs)), expected, 0.01);
        let leaves = Cell {
            leaves: 1.0,
            ..Cell::default()
        };
        let block = block(Host::QUIET, &[leaves, Cell::default()], 100, Order::Rounds);
        for (cost, before) in block.costs[1].iter().zip(&block.before[1]) {
            assert_eq!(cost.ln() > 0.5, *before == Some(0));
        }
    }

    #[test]
    fn what_a_process_keeps_is_in_every_other_slice() {
        let still = Host {
            jitter: 0.0,
            ..Host::QUIET
        };
        let cell = Cell {
            luck: 0.1,
            ..Cell::default()
        };
        let lucks = (0..2_000).map(|seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let costs = &Block::draw(&mut rng, still, &[cell], 5, Order::Rounds).costs[0];
            assert!([costs[2], costs[4], costs[3]] == [costs[0], costs[0], costs[1]]);
            costs[0].ln() - costs[1].ln()
        });
        about(sd(&lucks.collect::<Vec<_>>()), 0.1 * 2.0_f64.sqrt(), 0.01);
    }

    #[test]
    fn something_else_on_the_cpu_takes_as_much_of_it() {
        let block = block(Host::CONTENDED, &[Cell::default()], SLICES, Order::Rounds);
        about(mean(&block.costs[0]), 2.0, 0.005);
        about(mean(&block.stretches[0]), 2.0, 0.005);
    }

    #[test]
    fn every_cell_has_one_slice_a_round_or_one_piece() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for round in turns(&mut rng, 4, 20, Order::Rounds).chunks(4) {
            let mut round = round.to_vec();
            round.sort_unstable();
            assert_eq!(round, [0, 1, 2, 3]);
        }
        let mut pieces = turns(&mut rng, 4, 20, Order::Pieces);
        pieces.dedup();
        assert_eq!(pieces.len(), 4);
    }
}
