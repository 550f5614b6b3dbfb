//! From the records of a campaign to its pairs: both arms of one block.

use super::arms::Comparison;
use tare_model::group::GroupRecord;
use tare_model::results::{Outcome, Record, TrialRecord};
use tare_model::rounds::Slices;
use tare_model::study::Cell;
use tare_selftest::campaign::Pair;

/// What a campaign measured.
#[derive(Default)]
pub struct Measured {
    trials: Vec<TrialRecord>,
    /// What ran side by side; none of trials in one piece.
    pub groups: Vec<GroupRecord>,
}

impl Measured {
    /// Takes in a record if it tells of a figure.
    pub fn note(&mut self, record: Record) {
        match record {
            Record::Trial(trial) => self.trials.push(*trial),
            Record::Group(group) => self.groups.push(group),
            _ => {}
        }
    }

    /// The pairs of the blocks, and how many blocks have none.
    pub fn pairs(&self, of: &Comparison) -> (Vec<Pair>, u32) {
        let protocol = &of.study.protocol;
        let pair = |block| {
            if protocol.slicing.is_off() {
                self.in_one_piece(block, &of.arms)
            } else {
                self.in_slices(block, &of.arms)
            }
        };
        let pairs: Vec<Pair> = (0..protocol.blocks).filter_map(pair).collect();
        let lost = protocol.blocks - u32::try_from(pairs.len()).unwrap_or(protocol.blocks);
        (pairs, lost)
    }

    fn in_one_piece(&self, block: u32, arms: &[Cell; 2]) -> Option<Pair> {
        let figures = |arm: &Cell| {
            let mut of_arm = self.trials.iter().filter(|t| t.block == block && t.cell == *arm);
            of_arm.find_map(figures)
        };
        let (a, b) = figures(&arms[0]).zip(figures(&arms[1]))?;
        Some(Pair {
            block,
            time: [a.0, b.0],
            cpu: [a.1, b.1],
            typical: None,
            noise: None,
        })
    }

    fn in_slices(&self, block: u32, arms: &[Cell; 2]) -> Option<Pair> {
        let mut of_block = self.groups.iter().filter(|group| group.block == block);
        let rounds = of_block.find_map(|group| group.rounds(&arms[1], &arms[0], "time"))?;
        let arms = [&rounds.baseline, &rounds.cell];
        let each = |ns: fn(&Slices) -> f64| arms.map(|slices| ns(slices) / slices.work / 1e9);
        Pair::of_rounds(
            block,
            arms.map(|slices| slices.costs.as_slice()),
            &rounds.processes,
            each(Slices::wall_ns),
            each(|slices| slices.cpu_ns()),
        )
    }

    /// Times of an arm, in the order of the blocks.
    pub fn times(&self, arm: &Cell) -> Vec<f64> {
        let of_arm = self.trials.iter().filter(|trial| trial.cell == *arm);
        of_arm.filter_map(figures).map(|(time, _)| time).collect()
    }

    /// Why a trial failed, where one did.
    pub fn first_failure(&self) -> String {
        let failure = self.trials.iter().find_map(|trial| match &trial.outcome {
            Outcome::Failed(failure) | Outcome::Skipped(failure) => Some(failure),
            Outcome::Ok(_) => None,
        });
        failure.map_or_else(
            || "no trial started".to_owned(),
            |failure| format!("{}: {}", failure.reason, failure.detail),
        )
    }
}

/// Time and CPU time of a trial that succeeded.
fn figures(trial: &TrialRecord) -> Option<(f64, f64)> {
    match &trial.outcome {
        Outcome::Ok(success) => Some((*success.samples.get("time")?, *success.samples.get("cpu")?)),
        Outcome::Failed(_) | Outcome::Skipped(_) => None,
    }
}
