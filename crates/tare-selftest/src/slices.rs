//! Slices of cells that stand side by side on one host, as random numbers.

use crate::noise::{normal, two_normals, uniform};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// By how much a stalled slice is longer.
const STALL: f64 = 5.0;
/// Processes of a cell, which take its slices in turn.
const PROCESSES: usize = 2;

/// How a block is cut into slices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slicing {
    /// Seconds of a slice that are timed, at the cost of the baseline where nothing disturbs it.
    timed: f64,
    /// Seconds before its clock starts: its way to the box and its lead-in.
    untimed: f64,
    /// Slices of each cell.
    slices: usize,
}

impl Slicing {
    /// So many slices of 10 ms, with a lead-in of a tenth.
    pub const fn long(slices: usize) -> Self {
        Self {
            timed: LONG,
            untimed: LONG / 10.0,
            slices,
        }
    }

    /// So many slices of 2 ms: four times their way and their lead-in, as kernels have them.
    pub const fn short(slices: usize) -> Self {
        Self {
            timed: 0.002,
            untimed: 0.0005,
            slices,
        }
    }
}

/// Seconds of a long slice, for which the jitter of a host is given.
const LONG: f64 = 0.01;

/// What a host does to whoever runs on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Host {
    /// How it is called in a case.
    pub name: &'static str,
    /// Slow noise: standard deviation of the log of costs, and the seconds over
    /// which it forgets itself.
    pub drift: (f64, f64),
    /// Noise of each slice of 10 ms by itself: standard deviation of the log of its cost. A
    /// shorter slice has more, as of independent moments.
    pub jitter: f64,
    /// Who else works there.
    pub others: Option<Others>,
    /// Share of slices that a hypervisor makes 1.1 to 4 times as long.
    pub stolen: f64,
    /// Seconds of a turn, where something else always wants the CPU too: it runs for so long
    /// whenever a slice did. 0: nothing does.
    pub turn: f64,
}

/// Others on the same cores, who work for some time and pause for some time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Others {
    /// How many times as long everything takes while they work.
    times: f64,
    /// For how long they work.
    work: Span,
    /// For how long they pause.
    pause: Span,
}

impl Others {
    /// Who take half of the CPU for 50 to 500 ms, every 2 s or so.
    const IN_BURSTS: Self = Self {
        times: 2.0,
        work: Span::Between(0.05, 0.5),
        pause: Span::AtRandom(2.0),
    };
    /// Who do so for a few rounds.
    const IN_SHORT_BURSTS: Self = Self {
        times: 2.0,
        work: Span::Between(0.02, 0.08),
        pause: Span::AtRandom(0.2),
    };

    /// A neighbour on the other thread of the core.
    const fn on_the_sibling(span: Span) -> Self {
        Self {
            times: 1.35,
            work: span,
            pause: span,
        }
    }
}

/// How long something lasts, in seconds.
#[derive(Debug, Clone, Copy)]
enum Span {
    /// Anything between these.
    Between(f64, f64),
    /// However long it has lasted, it ends as likely in the next moment; the mean.
    AtRandom(f64),
}

impl Span {
    const fn mean(self) -> f64 {
        match self {
            Self::Between(least, most) => f64::midpoint(least, most),
            Self::AtRandom(mean) => mean,
        }
    }

    fn draw(self, rng: &mut ChaCha8Rng) -> f64 {
        match self {
            Self::Between(least, most) => least + (most - least) * uniform(rng),
            Self::AtRandom(mean) => -mean * (1.0 - uniform(rng)).ln(),
        }
    }

    /// What is left of it at a moment that knows nothing of it.
    fn left(self, rng: &mut ChaCha8Rng) -> f64 {
        match self {
            Self::Between(..) => self.draw(rng) * uniform(rng),
            Self::AtRandom(_) => self.draw(rng),
        }
    }
}

impl Host {
    /// Where time is taken from one slice in twenty.
    pub const STOLEN_FROM: Self = Self {
        name: "1 slice in 20 stolen from",
        drift: (0.03, 1.0),
        jitter: 0.005,
        others: None,
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
        others: Some(Others::IN_BURSTS),
        stolen: 0.0,
        ..Self::STOLEN_FROM
    };
    /// On which others work for a few rounds at a time.
    pub const SHARED_BRIEFLY: Self = Self {
        name: "others come for 20 to 80 ms",
        others: Some(Others::IN_SHORT_BURSTS),
        stolen: 0.0,
        ..Self::STOLEN_FROM
    };
    /// With a neighbour on the other thread of the core, who works and pauses for a few rounds.
    pub const TWO_MODES: Self = Self {
        name: "two modes of 20 to 80 ms",
        others: Some(Others::on_the_sibling(Span::Between(0.02, 0.08))),
        ..Self::SHARED_BRIEFLY
    };
    /// The same, for many rounds.
    pub const TWO_SLOW_MODES: Self = Self {
        name: "two modes of 1 s",
        others: Some(Others::on_the_sibling(Span::Between(0.5, 1.5))),
        ..Self::SHARED_BRIEFLY
    };
    /// With all of it.
    pub const BAD: Self = Self {
        name: "all of these",
        drift: (0.1, 0.3),
        jitter: 0.01,
        others: Some(Others::IN_BURSTS),
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
        others: None,
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
    /// Draws a block that is cut like this.
    pub fn draw(rng: &mut ChaCha8Rng, host: Host, cells: &[Cell], slicing: Slicing, order: Order) -> Self {
        let slices = slicing.slices;
        let mut weather = Weather::new(rng, host, slicing);
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
            let one_sided = one_sided(rng, it);
            let luck = lucks[cell][slice % PROCESSES];
            let own = (it.loss + luck + left + stall + one_sided).exp() * weather.slice(rng);
            let cost = own + waits(rng, host.turn / slicing.timed, own);
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

/// The one-sided noise of a slice. Without any nothing is drawn.
fn one_sided(rng: &mut ChaCha8Rng, cell: &Cell) -> f64 {
    if cell.one_sided == 0.0 {
        return 0.0;
    }
    -cell.one_sided * (1.0 - uniform(rng)).ln()
}

/// What a slice that needs the CPU for this long waits for turns of something else, all
/// over the time that it takes alone. Where in a turn it begins is random.
fn waits(rng: &mut ChaCha8Rng, turn: f64, own: f64) -> f64 {
    if turn == 0.0 {
        return 0.0;
    }
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
    slicing: Slicing,
    slow: f64,
    /// Noise of a slice by itself.
    jitter: f64,
    others: Option<Turns>,
}

impl Weather {
    fn new(rng: &mut ChaCha8Rng, host: Host, slicing: Slicing) -> Self {
        Self {
            host,
            slicing,
            slow: host.drift.0 * normal(rng),
            jitter: host.jitter * (LONG / slicing.timed).sqrt(),
            others: host.others.map(|others| Turns::begun(rng, others)),
        }
    }

    /// How many times as long a slice takes; time goes on by that slice.
    fn slice(&mut self, rng: &mut ChaCha8Rng) -> f64 {
        let Slicing { timed, untimed, .. } = self.slicing;
        let stolen = if uniform(rng) < self.host.stolen {
            1.1 + 2.9 * uniform(rng)
        } else {
            1.0
        };
        let [own, common] = two_normals(rng);
        let times = stolen * (self.slow + self.jitter * own).exp();
        let before = self.takes(rng, untimed * times);
        let seconds = self.takes(rng, timed * times);
        self.drift(before + seconds, common);
        seconds / timed
    }

    /// Seconds for what takes so many without others.
    fn takes(&mut self, rng: &mut ChaCha8Rng, alone: f64) -> f64 {
        match &mut self.others {
            Some(others) => others.stretch(rng, alone),
            None => alone,
        }
    }

    /// The slow noise is an Ornstein-Uhlenbeck process, whose step is exact. By a standard
    /// normal number.
    fn drift(&mut self, seconds: f64, step: f64) {
        let (sd, memory) = self.host.drift;
        let kept = (-seconds / memory).exp();
        self.slow = kept * self.slow + sd * (1.0 - kept * kept).sqrt() * step;
    }
}

/// Others in their turns of work and pause.
struct Turns {
    others: Others,
    at_work: bool,
    /// For how many seconds this stays so.
    stays: f64,
}

impl Turns {
    /// At some moment amid them.
    fn begun(rng: &mut ChaCha8Rng, others: Others) -> Self {
        let [work, pause] = [others.work, others.pause].map(Span::mean);
        let at_work = uniform(rng) < work / (work + pause);
        let span = if at_work { others.work } else { others.pause };
        Self {
            others,
            at_work,
            stays: span.left(rng),
        }
    }

    /// Seconds for what takes so many alone; they pass.
    fn stretch(&mut self, rng: &mut ChaCha8Rng, alone: f64) -> f64 {
        let (mut left, mut passed) = (alone, 0.0);
        loop {
            let times = if self.at_work { self.others.times } else { 1.0 };
            let seconds = left * times;
            if seconds <= self.stays {
                self.stays -= seconds;
                return passed + seconds;
            }
            left -= self.stays / times;
            passed += self.stays;
            self.change(rng);
        }
    }

    fn change(&mut self, rng: &mut ChaCha8Rng) {
        self.at_work = !self.at_work;
        let span = if self.at_work {
            self.others.work
        } else {
            self.others.pause
        };
        self.stays = span.draw(rng);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use tare_stats::{lag1, mean, sd};

    const SLICES: usize = 50_000;

    fn block(host: Host, cells: &[Cell], slices: usize, order: Order) -> Block {
        let slicing = Slicing::long(slices);
        Block::draw(&mut ChaCha8Rng::seed_from_u64(1), host, cells, slicing, order)
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
        about(lag1(&costs), (-0.011_f64 / 0.2).exp() / 1.01, 0.01);
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
    fn others_work_and_pause_in_turns() {
        let still = |host| Host {
            drift: (0.0, 1.0),
            jitter: 0.0,
            ..host
        };
        let costs = |host, slicing| {
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let block = Block::draw(&mut rng, still(host), &[Cell::default()], slicing, Order::Rounds);
            block.costs[0].clone()
        };
        // As much time in either mode: 1.35 as many slices in the quick one.
        let modes = costs(Host::TWO_SLOW_MODES, Slicing::short(SLICES));
        about(mean(&modes), 2.0 / (1.0 + 1.35_f64.recip()), 0.01);
        let amid = |costs: &[f64]| {
            let amid = |cost: &&f64| **cost > 1.0 + 1e-9 && **cost < 1.35 - 1e-9;
            crate::noise::as_float(costs.iter().filter(amid).count()) / crate::noise::as_float(costs.len())
        };
        // One change in 50 ms, which a slice of 2 or 10 ms meets in its course.
        let modes = |slicing| costs(Host::TWO_MODES, slicing);
        about(Some(amid(&modes(Slicing::short(SLICES)))), 2.35 / 50.0, 0.005);
        about(Some(amid(&modes(Slicing::long(SLICES)))), 11.75 / 50.0, 0.02);
        // 50 ms of 250; twice the cost is half as many slices.
        about(
            mean(&costs(Host::SHARED_BRIEFLY, Slicing::short(SLICES))),
            1.0 / 0.9,
            0.01,
        );
    }

    #[test]
    fn a_short_slice_has_the_jitter_of_fewer_moments() {
        let costs = |slicing| {
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let block = Block::draw(&mut rng, Host::QUIET, &[Cell::default()], slicing, Order::Rounds);
            sd(&logs(&block.costs[0]))
        };
        about(costs(Slicing::long(SLICES)), 0.003, 1e-4);
        about(costs(Slicing::short(SLICES)), 0.003 * 5.0_f64.sqrt(), 2e-4);
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
            let costs = &Block::draw(&mut rng, still, &[cell], Slicing::long(5), Order::Rounds).costs[0];
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
