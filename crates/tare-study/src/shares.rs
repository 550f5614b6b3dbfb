//! How a block's time is shared out among workloads, by what their rounds left open in the blocks before.
//!
//! An interval is as wide as blocks differ, and they differ at least by what is left of the noise of rounds. More rounds
//! help a workload whose rounds vary much; where they vary little, others need the time more.

use crate::looks::{Comparison, comparisons};
use std::collections::BTreeMap;
use tare_model::group::GroupRecord;
use tare_model::study::{Protocol, Study};
use tare_stats::{error_of_typical, median};

/// Error of a block by its rounds that is small enough, over the margin: with 10 blocks it leaves half-widths of half
/// the margin, t(9) / sqrt(10) times as much.
const ENOUGH: f64 = 0.7;

/// The least and the most that a workload's trials last, over the time of a trial.
const LEAST: f64 = Protocol::SHARES[0];
const MOST: f64 = Protocol::SHARES[1];

/// How long a block's trials may last together, over the time of a trial for each: on a noisy host more time decides more.
const TOGETHER: f64 = 1.4;

/// What the rounds of a study have left open so far.
#[derive(Debug, Clone)]
pub struct Shares {
    comparisons: Vec<Comparison>,
    /// Squared error in logs that is small enough.
    enough: f64,
    trial_ns: f64,
    /// Of each workload: the block, and the squared error of a comparison if its trial had lasted as long as is aimed for.
    errors: BTreeMap<String, Vec<(u32, f64)>>,
    workloads: Vec<String>,
    shares: BTreeMap<String, f64>,
}

impl Shares {
    /// Before the first block; `None` of a study whose slices have a fixed length, as its trials have then.
    pub fn of(study: &Study) -> Option<Self> {
        let protocol = &study.protocol;
        protocol.slicing.are_found().then(|| Self {
            comparisons: comparisons(study),
            enough: (ENOUGH * protocol.margin.ln_1p()).powi(2),
            trial_ns: protocol.trial_seconds * 1e9,
            errors: BTreeMap::new(),
            workloads: study.workloads.iter().map(|w| w.name().to_owned()).collect(),
            shares: BTreeMap::new(),
        })
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

    /// Shares the time of a block out, by the blocks before it.
    pub fn begin_block(&mut self, block: u32) {
        let needed: Vec<f64> = self.workloads.iter().map(|of| self.needed(of, block)).collect();
        let all: f64 = needed.iter().sum();
        #[expect(clippy::cast_precision_loss, reason = "a few workloads")]
        let scale = (TOGETHER * needed.len() as f64 / all).min(1.0);
        let shares = needed.into_iter().map(|needed| (needed * scale).max(LEAST));
        self.shares = self.workloads.iter().cloned().zip(shares).collect();
    }

    /// How long the trials of a workload would have to last for an error that is small enough, within bounds, over the time
    /// of a trial; that time where nothing is known.
    fn needed(&self, workload: &str, block: u32) -> f64 {
        let known = self.errors.get(workload).into_iter().flatten();
        let known: Vec<f64> = known
            .filter(|(of, _)| *of < block)
            .map(|(_, error)| *error)
            .collect();
        median(&known).map_or(1.0, |error| (error / self.enough).clamp(LEAST, MOST))
    }

    /// How long the trials of a workload last in this block, over the time of a trial.
    pub fn share(&self, workload: &str) -> f64 {
        self.shares.get(workload).copied().unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two workloads with these squared errors in the first block, of which 1 is small enough.
    fn shares(noisy: f64, quiet: f64) -> Shares {
        let of = |name: &str, error| (name.to_owned(), vec![(0, error)]);
        Shares {
            comparisons: Vec::new(),
            enough: 1.0,
            trial_ns: 1.0,
            errors: [of("noisy", noisy), of("quiet", quiet)].into(),
            workloads: ["noisy", "quiet"].map(str::to_owned).into(),
            shares: BTreeMap::new(),
        }
    }

    fn of_block(mut shares: Shares, block: u32) -> [f64; 2] {
        shares.begin_block(block);
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
    fn a_block_is_shared_out_by_those_before_it_alone() {
        assert_eq!(of_block(shares(4.0, 0.01), 0), [1.0, 1.0]);
        assert!((shares(4.0, 0.01).share("noisy") - 1.0).abs() < 1e-12);
    }
}
