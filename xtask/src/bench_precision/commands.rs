//! A command in slices, and in batches of hyperfine: as many pairs of batches as there are
//! blocks, in turns, since that is how an interval is had from hyperfine that holds what it
//! promises. Both arms of hyperfine are the same command. The interval that takes all of its
//! runs to be independent (Welch's) is told beside it, with how often it holds no difference
//! at all.

use super::Options;
use super::duel::Duel;
use super::lab::{LIKE, Lab, half_widths};
use super::target::Target;
use crate::NO_OP;
use anyhow::{Context, Result};
use serde_json::Value;
use std::path::Path;
use tare_stats::{LEVEL, Sample, log_ratio, mean, t_estimate, welch};

/// Runs that tell how many make a batch.
const PROBE: u32 = 200;

/// Slices against batches.
#[derive(Default)]
pub struct Commands {
    duel: Duel,
    batches: Vec<Batches>,
}

/// What batches of the same command say, by turns taken as two arms.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Batches {
    /// Half-width in logs of the t interval over pairs of batches.
    half_width: f64,
    /// The same of Welch's interval over all runs.
    of_runs: f64,
    /// Whether Welch's interval holds no difference.
    holds_zero: bool,
}

/// Runs both in turns, each for the same measured time per arm.
pub fn hold(lab: &Lab, options: &Options) -> Result<Commands> {
    let command = crate::compile(lab.folder(), "noop", NO_OP)?;
    let mut held = Commands::default();
    for round in 0..options.rounds {
        let slices = || in_slices(lab, options, &command);
        let (ours, theirs) = crate::in_turn(round, slices, || in_batches(lab, options, &command))?;
        eprintln!(
            "round {}: in slices {ours:.4}, in batches {:.4}",
            round + 1,
            theirs.half_width
        );
        held.duel.push(ours, theirs.half_width);
        held.batches.push(theirs);
    }
    Ok(held)
}

/// The half-width that tare reaches.
fn in_slices(lab: &Lab, options: &Options, command: &Path) -> Result<f64> {
    let mut run = lab.study(LIKE);
    run.args(["--slices", "auto", "--blocks", &options.blocks.to_string()])
        .args(["--trial-time", &format!("{}s", options.trial_time)]);
    let widths = half_widths(&lab.analyse(run, &[command])?, true)?;
    widths.into_values().next().context("nothing was compared")
}

/// Pairs of batches, one after the other, of which each comes first by turns.
fn in_batches(lab: &Lab, options: &Options, command: &Path) -> Result<Batches> {
    let file = lab.folder().join("batch.json");
    let usual = mean(&batch(command, PROBE, &file)?).context("hyperfine told no time")?;
    let runs = runs(options.trial_time, usual);
    let mut arms: [Vec<Vec<f64>>; 2] = Default::default();
    for block in 0..options.blocks {
        let first = usize::from(block % 2 == 1);
        for arm in [first, 1 - first] {
            arms[arm].push(batch(command, runs, &file)?);
        }
    }
    Batches::of(&arms).context("the batches have no interval")
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number; the cast saturates"
)]
fn runs(seconds: f64, each: f64) -> u32 {
    ((seconds / each).round() as u32).max(2)
}

/// The times of so many runs, in seconds.
pub fn batch(command: &Path, runs: u32, file: &Path) -> Result<Vec<f64>> {
    crate::hyperfine(command, runs, Some(file))?;
    times(&std::fs::read(file)?)
}

/// All times of the one command in what hyperfine exports.
fn times(exported: &[u8]) -> Result<Vec<f64>> {
    let exported: Value = serde_json::from_slice(exported)?;
    let times = exported.pointer("/results/0/times").cloned();
    Ok(serde_json::from_value(times.context("hyperfine told no times")?)?)
}

impl Batches {
    /// `None` of fewer than two batches of each arm.
    fn of(arms: &[Vec<Vec<f64>>; 2]) -> Option<Self> {
        let pairs = arms[0].iter().zip(&arms[1]);
        let d: Option<Vec<f64>> = pairs
            .map(|(one, other)| log_ratio(mean(other)?, mean(one)?))
            .collect();
        let half = |low: f64, high: f64| (high - low) / 2.0;
        let over = t_estimate(&d?, LEVEL, 1.0)?.interval;
        let [one, other] = [arms[0].concat(), arms[1].concat()];
        let [one, other] = [Sample::of(&one, 1.0)?, Sample::of(&other, 1.0)?];
        let found = welch(one, other, LEVEL)?;
        Some(Self {
            half_width: half(over.low, over.high),
            of_runs: half(found.interval.low, found.interval.high) / one.mean,
            holds_zero: found.interval.low <= 0.0 && found.interval.high >= 0.0,
        })
    }
}

impl Commands {
    pub fn table(&self) -> String {
        let held = self.batches.iter().filter(|batches| batches.holds_zero).count();
        let of_runs = self
            .batches
            .iter()
            .map(|batches| 100.0 * batches.of_runs)
            .collect();
        format!(
            "a static no-op, beside batches of hyperfine -N in turns, on an otherwise idle host\n  \
             command        in slices   hyperfine     ratio\n{}\n  \
             with all runs of hyperfine taken as independent: {:.2}, which held no difference between the \
             command and itself in {held} of {} rounds",
            self.duel.row("no-op"),
            crate::median(of_runs),
            self.batches.len()
        )
    }

    pub fn target(&self) -> Target {
        Target {
            what: "in slices / batches of hyperfine".to_owned(),
            found: self.duel.ratio(),
            at_most: 1.0 / 5.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_run_for_the_time_of_a_cell() {
        assert_eq!(runs(5.0, 0.0005), 10_000);
        assert_eq!(runs(1.0, 10.0), 2);
    }

    #[test]
    fn the_interval_is_that_over_pairs_of_batches() {
        let arms = [
            vec![vec![1.0, 3.0], vec![4.0]],
            vec![vec![2.0], vec![6.0, 2.0, 4.0]],
        ];
        let found = Batches::of(&arms).unwrap();
        assert!(found.half_width < 1e-12 && found.holds_zero, "{found:?}");
        // d of 0 and ln 2: standard deviation 0.490129, t 12.706205 with 1 degree of freedom.
        let arms = [vec![vec![1.0], vec![1.0]], vec![vec![1.0], vec![2.0]]];
        let found = Batches::of(&arms).unwrap();
        assert!(
            (found.half_width - 12.706_205 * 0.490_129 / 2_f64.sqrt()).abs() < 1e-4,
            "{found:?}"
        );
        assert_eq!(Batches::of(&[vec![vec![1.0]], vec![vec![1.0]]]), None);
    }

    #[test]
    fn runs_that_are_taken_as_independent_have_the_interval_of_welch() {
        // Standard error sqrt(1/3 + 1/6), t 2.817474 with 27/7 degrees of freedom.
        let arms = [
            vec![vec![3.0], vec![5.0, 4.0]],
            vec![vec![2.0, 2.0], vec![1.0, 3.0]],
        ];
        let found = Batches::of(&arms).unwrap();
        assert!(
            (found.of_runs - 1.992_255 / 4.0).abs() < 1e-6 && !found.holds_zero,
            "{found:?}"
        );
    }

    #[test]
    fn times_are_those_of_the_first_command() {
        let text = br#"{"results": [{"command": "x", "mean": 2.0, "times": [1.5, 2.5]}]}"#;
        assert_eq!(times(text).unwrap(), [1.5, 2.5]);
        assert!(times(br#"{"results": []}"#).is_err());
    }
}
