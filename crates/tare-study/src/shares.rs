//! How a block's time is shared out among workloads, by what their rounds left open in the blocks before.
//!
//! An interval is as wide as blocks differ, and they differ at least by what is left of the noise of rounds. More rounds
//! help a workload whose rounds vary much; where they vary little, others need the time more.

use crate::looks::{Comparison, FEWEST, comparisons};
use std::collections::BTreeMap;
use tare_model::group::GroupRecord;
use tare_model::study::{Protocol, Study};
use tare_stats::{LOOK_LEVEL, error_of_typical, median, t_quantile};

/// Error of a block by its rounds that is small enough, over the margin: with 10 blocks it leaves half-widths of half
/// the margin, t(9) / sqrt(10) times as much.
const ENOUGH: f64 = 0.7;

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

/// What the rounds of a study have left open so far.
#[derive(Debug, Clone)]
pub struct Shares {
    comparisons: Vec<Comparison>,
    margin: f64,
    /// Squared error in logs that is small enough.
    enough: f64,
    trial_ns: f64,
    /// Of each workload: the block, and the squared error of a comparison if its trial had lasted as long as is aimed for.
    errors: BTreeMap<String, Vec<(u32, f64)>>,
    /// Workloads, with the number of cells of each.
    workloads: BTreeMap<String, f64>,
    shares: BTreeMap<String, f64>,
    /// Seconds of a block beside its trials, as far as is known.
    beside: f64,
}

impl Shares {
    /// Before the first block; `None` of a study whose slices have a fixed length, as its trials have then.
    pub fn of(study: &Study) -> Option<Self> {
        let protocol = &study.protocol;
        protocol.slicing.are_found().then(|| Self {
            comparisons: comparisons(study),
            margin: protocol.margin.ln_1p(),
            enough: (ENOUGH * protocol.margin.ln_1p()).powi(2),
            trial_ns: protocol.trial_seconds * 1e9,
            errors: BTreeMap::new(),
            workloads: cells(study),
            shares: BTreeMap::new(),
            beside: 0.0,
        })
    }

    /// A block with these shares takes so many seconds, by the plan or as it was seen to.
    pub fn took(&mut self, seconds: f64) {
        self.beside = (seconds - self.seconds()).max(0.0);
    }

    /// How long the trials of a block last together, in seconds.
    fn seconds(&self) -> f64 {
        let of = |(workload, cells): (&String, &f64)| self.share(workload) * cells;
        self.workloads.iter().map(of).sum::<f64>() * self.trial_ns / 1e9
    }

    /// Takes in the slices of a group. Cells that are far slower than others take part in few rounds: what these leave
    /// open matters little.
    #[expect(clippy::cast_precision_loss, reason = "nanoseconds of a slice")]
    pub fn note(&mut self, group: &GroupRecord) {
        let lasted = f64::from(group.rounds) * group.slice_ns as f64 / self.trial_ns;
        for compared in &self.comparisons {
            let is_quick = |cell| group.member(cell).is_some_and(|member| member.every == 1);
            if !(is_quick(&compared.cell) && is_quick(&compared.baseline)) {
                continue;
            }
            let rounds = group.rounds(&compared.cell, &compared.baseline, &compared.metric.name);
            let error = rounds.and_then(|r| error_of_typical(&r.cell.costs, &r.baseline.costs, &r.processes));
            if let Some(error) = error {
                let of_workload = self.errors.entry(compared.cell.workload.clone()).or_default();
                of_workload.push((group.block, error.powi(2) * lasted));
            }
        }
    }

    /// Shares the time of a block out, by the blocks before it; the block is to take at most so many seconds, if that is
    /// bounded.
    pub fn begin_block(&mut self, block: u32, room: Option<f64>) {
        self.shares.clear();
        let alike = self.seconds();
        let bound = room.map_or(TOGETHER, |room| ((room - self.beside) / alike).min(TOGETHER));
        let needed = |workload: &String| (workload.clone(), self.needed(workload, block));
        self.shares = self.workloads.keys().map(needed).collect();
        let scale = (bound * alike / self.seconds()).min(1.0);
        for share in self.shares.values_mut() {
            *share = (*share * scale).max(LEAST);
        }
    }

    /// How long the trials of a workload would have to last for an error that is small enough, within bounds, over the time
    /// of a trial; that time where nothing is known.
    fn needed(&self, workload: &str, block: u32) -> f64 {
        let squared = self.squared_error(workload, block);
        squared.map_or(1.0, |error| (error / self.enough).clamp(LEAST, MOST))
    }

    /// Typical squared error of a workload's comparisons in the blocks before this one, for the time of a trial.
    fn squared_error(&self, workload: &str, block: u32) -> Option<f64> {
        let known = self.errors.get(workload).into_iter().flatten();
        let known: Vec<f64> = known
            .filter(|(of, _)| *of < block)
            .map(|(_, error)| *error)
            .collect();
        median(&known)
    }

    /// The workloads of which the first look will tell less than the margin, by the noise of their rounds alone and with as
    /// much time as their trials can have.
    pub fn noisy(&self) -> Vec<Noisy> {
        let cells: f64 = self.workloads.values().sum();
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
        let noisy = self.workloads.iter().filter_map(of);
        noisy.filter(|of| of.blocks > f64::from(FEWEST)).collect()
    }

    /// How long the trials of a workload last in this block, over the time of a trial.
    pub fn share(&self, workload: &str) -> f64 {
        self.shares.get(workload).copied().unwrap_or(1.0)
    }
}

/// How many cells there are of each workload.
fn cells(study: &Study) -> BTreeMap<String, f64> {
    let mut cells = BTreeMap::new();
    for cell in study.cells() {
        *cells.entry(cell.workload).or_insert(0.0) += 1.0;
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two workloads with these squared errors in the first block, of which 1 is small enough.
    fn shares(noisy: f64, quiet: f64) -> Shares {
        let of = |name: &str, error| (name.to_owned(), vec![(0, error)]);
        Shares {
            comparisons: Vec::new(),
            margin: 1.0,
            enough: 1.0,
            trial_ns: 1e9,
            errors: [of("noisy", noisy), of("quiet", quiet)].into(),
            workloads: ["noisy", "quiet"].map(|of| (of.to_owned(), 5.0)).into(),
            shares: BTreeMap::new(),
            beside: 0.0,
        }
    }

    fn of_block(mut shares: Shares, block: u32) -> [f64; 2] {
        shares.begin_block(block, None);
        ["noisy", "quiet"].map(|of| shares.share(of))
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
            shares.begin_block(1, Some(room));
            ["noisy", "quiet"].map(|of| shares.share(of))
        };
        // Of these seconds, 4 go by beside the trials.
        assert_eq!(shared(100.0), [2.0, 0.4]);
        let [noisy, quiet] = shared(10.0);
        assert!((noisy - 1.0).abs() < 1e-12 && quiet >= 0.4, "{noisy} {quiet}");
        assert_eq!(shared(1.0), [0.4, 0.4]);
    }

    #[test]
    fn what_ten_blocks_will_not_tell_is_known_from_the_noise_of_rounds() {
        let mut shares = shares(4.0, 0.01);
        shares.took(14.0);
        let noisy = shares.noisy();
        let [told] = &noisy[..] else {
            panic!("{noisy:?}");
        };
        // t(9) at 96 % is 2.40; the error is the root of 4 / 2.
        let half_width: f64 = 2.398 * 2.0_f64.sqrt() / 10.0_f64.sqrt();
        assert!((told.half_width - half_width.exp_m1()).abs() < 1e-3, "{told:?}");
        assert_eq!(told.blocks, 12.0);
        // Five cells of 2 s, and half of what goes by beside the trials.
        assert!((told.block_seconds - 12.0).abs() < 1e-9, "{told:?}");
    }

    #[test]
    fn a_block_is_shared_out_by_those_before_it_alone() {
        assert_eq!(of_block(shares(4.0, 0.01), 0), [1.0, 1.0]);
        assert!((shares(4.0, 0.01).share("noisy") - 1.0).abs() < 1e-12);
    }
}
