//! How a block's time is shared out among workloads, by what their rounds left open in the blocks before.
//!
//! An interval is as wide as blocks differ, and they differ at least by what is left of the noise of rounds. More rounds
//! help a workload whose rounds vary much; where they vary little, or its costs are clear by far, others need the time
//! more.

use crate::looks::{Comparison, FEWEST, aim, comparisons};
use std::collections::BTreeMap;
use tare_model::group::GroupRecord;
use tare_model::study::{Cell, Protocol, Study};
use tare_stats::{Aim, LOOK_LEVEL, median, t_quantile};

/// The least and the most that a workload's trials last, over the time of a trial.
const LEAST: f64 = Protocol::SHARES[0];
const MOST: f64 = Protocol::SHARES[1];

/// How long a block's trials may last together, over the time of a trial for each: on a noisy host more time decides more.
/// A budget may leave them less.
const TOGETHER: f64 = 1.4;

/// A workload whose rounds vary so much that ten blocks will not tell a difference of the margin.
#[derive(Debug, Clone, PartialEq)]
pub struct Noisy {
    pub workload: String,
    /// How far the interval will reach to either side at least after the first look, as a ratio less 1.
    pub half_width: f64,
    /// Blocks with which that is the margin.
    pub blocks: f64,
    /// Seconds of a block of its cells alone.
    pub block_seconds: f64,
}

/// What a block told of a comparison.
#[derive(Debug, Clone, Copy)]
struct Told {
    block: u32,
    /// In logs.
    loss: f64,
    /// Squared error by the rounds, if the trial had lasted as long as is aimed for.
    error: f64,
}

/// What the rounds of a study have left open so far.
#[derive(Debug, Clone)]
pub struct Shares {
    comparisons: Vec<Comparison>,
    margin: f64,
    aim: Aim,
    trial_ns: f64,
    /// Of each comparison, what blocks told.
    told: Vec<Vec<Told>>,
    cells: Vec<Cell>,
    /// How many cells run in the block, of each workload.
    running: BTreeMap<String, f64>,
    shares: BTreeMap<String, f64>,
    /// Seconds of a block beside its trials, as far as is known.
    beside: f64,
}

impl Shares {
    /// Before the first block; `None` of a study whose slices have a fixed length, as its trials have then.
    pub fn of(study: &Study) -> Option<Self> {
        let protocol = &study.protocol;
        let (comparisons, cells) = (comparisons(study), study.cells());
        protocol.slicing.are_found().then(|| Self {
            told: vec![Vec::new(); comparisons.len()],
            comparisons,
            margin: protocol.margin.ln_1p(),
            aim: aim(protocol),
            trial_ns: protocol.trial_seconds * 1e9,
            running: by_workload(&cells, |_| true),
            cells,
            shares: BTreeMap::new(),
            beside: 0.0,
        })
    }

    /// A block with these shares takes so many seconds, by the plan or as it was seen to.
    pub fn took(&mut self, seconds: f64) {
        self.beside = (seconds - self.seconds()).max(0.0);
    }

    /// What a block takes at least, with the cells of the one before, in seconds.
    pub fn least_seconds(&self) -> f64 {
        let cells: f64 = self.running.values().sum();
        self.beside + LEAST * cells * self.trial_ns / 1e9
    }

    /// How long the trials of a block last together, in seconds.
    fn seconds(&self) -> f64 {
        let of = |(workload, cells): (&String, &f64)| self.share(workload) * cells;
        self.running.iter().map(of).sum::<f64>() * self.trial_ns / 1e9
    }

    /// Takes in the slices of a group. Cells that are far slower than others take part in few rounds: what these leave
    /// open matters little.
    #[expect(clippy::cast_precision_loss, reason = "nanoseconds of a slice")]
    pub fn note(&mut self, group: &GroupRecord) {
        let lasted = f64::from(group.rounds) * group.slice_ns as f64 / self.trial_ns;
        for (compared, told) in self.comparisons.iter().zip(&mut self.told) {
            let is_quick = |cell| group.member(cell).is_some_and(|member| member.every == 1);
            if !(is_quick(&compared.cell) && is_quick(&compared.baseline)) {
                continue;
            }
            let of_block = compared.loss_in(group).and_then(|loss| {
                Some(Told {
                    block: group.block,
                    loss: loss.in_logs,
                    error: loss.noise? * lasted,
                })
            });
            told.extend(of_block);
        }
    }

    /// Shares the time of a block out among the cells that run in it, by the blocks before it; the block is to take at most
    /// so many seconds, if that is bounded.
    pub fn begin_block(&mut self, block: u32, room: Option<f64>, runs: impl Fn(&Cell) -> bool) {
        self.shares.clear();
        self.running = by_workload(&self.cells, &runs);
        #[expect(clippy::cast_precision_loss, reason = "number of cells")]
        let alike = self.cells.len() as f64 * self.trial_ns / 1e9;
        let bound = room.map_or(TOGETHER, |room| ((room - self.beside) / alike).min(TOGETHER));
        let needed = |workload: &String| (workload.clone(), self.needed(workload, block, &runs));
        self.shares = self.running.keys().map(needed).collect();
        let scale = (bound * alike / self.seconds()).min(1.0);
        for share in self.shares.values_mut() {
            *share = (*share * scale).max(LEAST);
        }
    }

    /// How long the trials of a workload would have to last for errors that are small enough, within bounds, over the time
    /// of a trial; that time where nothing is known.
    fn needed(&self, workload: &str, block: u32, runs: impl Fn(&Cell) -> bool) -> f64 {
        let of_workload = self.comparisons.iter().zip(&self.told);
        let open =
            of_workload.filter(|(compared, _)| compared.cell.workload == workload && runs(&compared.cell));
        let enough = open
            .map(|(_, told)| self.enough(told, block))
            .min_by(f64::total_cmp);
        let squared = self.squared_error(workload, block).zip(enough);
        squared.map_or(1.0, |(error, enough)| (error / enough.powi(2)).clamp(LEAST, MOST))
    }

    /// The error of a block in logs that is small enough, by what the blocks before this one told.
    fn enough(&self, told: &[Told], block: u32) -> f64 {
        let before = told.iter().filter(|of| of.block < block);
        let losses: Vec<f64> = before.map(|of| of.loss).collect();
        self.aim.error_of_block(&losses)
    }

    /// Typical squared error of a workload's comparisons in the blocks before this one, for the time of a trial.
    fn squared_error(&self, workload: &str, block: u32) -> Option<f64> {
        let of_workload = self.comparisons.iter().zip(&self.told);
        let known = of_workload.filter(|(compared, _)| compared.cell.workload == workload);
        let known: Vec<f64> = known
            .flat_map(|(_, told)| told)
            .filter(|of| of.block < block)
            .map(|of| of.error)
            .collect();
        median(&known)
    }

    /// The workloads of which the first look will tell less than the margin, by the noise of their rounds alone and with as
    /// much time as their trials can have.
    pub fn noisy(&self) -> Vec<Noisy> {
        let cells: f64 = self.running.values().sum();
        let of = |(workload, own): (&String, &f64)| {
            let error = (self.squared_error(workload, u32::MAX)? / MOST).sqrt();
            let t = t_quantile((1.0 + LOOK_LEVEL) / 2.0, FEWEST as usize - 1)?;
            let half_width = t * error / f64::from(FEWEST).sqrt();
            let blocks = f64::from(FEWEST) * (half_width / self.margin).powi(2);
            Some(Noisy {
                workload: workload.clone(),
                half_width: half_width.exp_m1(),
                blocks: blocks.ceil(),
                block_seconds: own * (MOST * self.trial_ns / 1e9 + self.beside / cells),
            })
        };
        let noisy = self.running.iter().filter_map(of);
        noisy.filter(|of| of.blocks > f64::from(FEWEST)).collect()
    }

    /// How long the trials of a workload last in this block, over the time of a trial.
    pub fn share(&self, workload: &str) -> f64 {
        self.shares.get(workload).copied().unwrap_or(1.0)
    }
}

/// How many of these cells there are of each workload.
fn by_workload(cells: &[Cell], runs: impl Fn(&Cell) -> bool) -> BTreeMap<String, f64> {
    let mut running = BTreeMap::new();
    for cell in cells.iter().filter(|cell| runs(cell)) {
        *running.entry(cell.workload.clone()).or_insert(0.0) += 1.0;
    }
    running
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{self, StudyRequest};
    use tare_model::host::HostFacts;

    const NOISY: &str = "syscall";
    const QUIET: &str = "integer";

    /// Two workloads with these squared errors in the first block, of which 1 is small enough; trials of the usual time
    /// last 5 s together for each.
    fn shares(noisy: f64, quiet: f64) -> Shares {
        let wishes = StudyRequest {
            platforms: ["fake", "fake?cost=2"].map(str::to_owned).to_vec(),
            workloads: [NOISY, QUIET].map(Into::into).to_vec(),
            cpus: Some("1".parse().unwrap()),
            ..StudyRequest::default()
        };
        let facts = HostFacts {
            memory_bytes: 16 << 30,
            llc_bytes: Some(1 << 20),
            ..HostFacts::default()
        };
        let mut shares = Shares::of(&design::study(&wishes, &facts).unwrap()).unwrap();
        shares.trial_ns = 1e10 / shares.cells.len() as f64;
        told(&mut shares, 0, 0.0, [noisy, quiet]);
        shares
    }

    /// A block with this loss of every comparison, and errors likewise.
    fn told(shares: &mut Shares, block: u32, loss: f64, [noisy, quiet]: [f64; 2]) {
        let enough = shares.aim.error_of_block(&[]).powi(2);
        for (compared, told) in shares.comparisons.iter().zip(&mut shares.told) {
            let error = if compared.cell.workload == NOISY {
                noisy
            } else {
                quiet
            };
            told.push(Told {
                block,
                loss,
                error: error * enough,
            });
        }
    }

    fn of_block(mut shares: Shares, block: u32) -> [f64; 2] {
        shares.begin_block(block, None, |_| true);
        [NOISY, QUIET].map(|of| shares.share(of))
    }

    #[test]
    fn clear_costs_need_little_time_once_they_are_known() {
        let clear = |blocks| {
            let mut shares = shares(2.0, 1.0);
            shares.told.iter_mut().for_each(Vec::clear);
            (0..blocks).for_each(|block| told(&mut shares, block, 0.1, [2.0, 1.0]));
            shares
        };
        assert_eq!(of_block(clear(1), 1).map(f64::round), [2.0, 1.0]);
        assert_eq!(of_block(clear(3), 3), [LEAST, LEAST]);
        // One that is not clear keeps the time for its workload, as long as it runs.
        let mut mixed = clear(3);
        let near = mixed
            .comparisons
            .iter()
            .position(|c| c.cell.workload == NOISY)
            .unwrap();
        mixed.told[near].iter_mut().for_each(|of| of.loss = 0.0);
        let cell = mixed.comparisons[near].cell.clone();
        assert!((of_block(mixed.clone(), 3)[0] - 2.0).abs() < 1e-9);
        mixed.begin_block(3, None, |of| *of != cell);
        assert_eq!(mixed.share(NOISY), LEAST);
    }

    #[test]
    fn what_has_left_leaves_its_time_to_others() {
        let mut shares = shares(9.0, 9.0);
        shares.begin_block(1, None, |cell| cell.workload == NOISY);
        assert_eq!(shares.share(NOISY), 2.0);
        shares.took(14.0);
        assert!((shares.beside - 4.0).abs() < 1e-9);
    }

    #[test]
    fn time_goes_where_rounds_leave_much_open() {
        let [noisy, quiet] = of_block(shares(4.0, 0.01), 1);
        assert!(
            (noisy - 2.0).abs() < 1e-12 && (quiet - 0.4).abs() < 1e-12,
            "{noisy} {quiet}"
        );
        // What nobody needs is saved.
        assert_eq!(of_block(shares(0.1, 0.1), 1), [0.4, 0.4]);
        // On a bad host all take longer, but not without end.
        assert_eq!(of_block(shares(9.0, 9.0), 1), [1.4, 1.4]);
    }

    #[test]
    fn what_a_budget_leaves_is_shared_out() {
        let shared = |room| {
            let mut shares = shares(4.0, 0.01);
            shares.took(14.0);
            shares.begin_block(1, Some(room), |_| true);
            [NOISY, QUIET].map(|of| shares.share(of))
        };
        // Of these seconds, 4 go by beside the trials.
        assert_eq!(shared(100.0), [2.0, 0.4]);
        let [noisy, quiet] = shared(10.0);
        assert!((noisy - 1.0).abs() < 1e-12 && quiet >= 0.4, "{noisy} {quiet}");
        assert_eq!(shared(1.0), [0.4, 0.4]);
    }

    #[test]
    fn what_ten_blocks_will_not_tell_is_known_from_the_noise_of_rounds() {
        let mut shares = shares(9.0, 0.01);
        shares.took(14.0);
        let noisy = shares.noisy();
        let [told] = &noisy[..] else {
            panic!("{noisy:?}");
        };
        // t(9) at 96 % is 2.40; the error is the root of 9 / 2 of what is small enough.
        let enough = 0.7 * 1.01_f64.ln();
        let half_width = 2.398 * 4.5_f64.sqrt() * enough / 10.0_f64.sqrt();
        assert!((told.half_width - half_width.exp_m1()).abs() < 1e-5, "{told:?}");
        assert_eq!(told.blocks, 13.0);
        // Trials of twice 5 s, and half of what goes by beside the trials.
        assert!((told.block_seconds - 12.0).abs() < 1e-9, "{told:?}");
    }

    #[test]
    fn a_block_is_shared_out_by_those_before_it_alone() {
        assert_eq!(of_block(shares(4.0, 0.01), 0), [1.0, 1.0]);
        assert!((shares(4.0, 0.01).share(NOISY) - 1.0).abs() < 1e-12);
    }
}
