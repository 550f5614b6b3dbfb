//! A command in slices, and in batches of hyperfine: first all runs of the one arm,
//! then all of the other, as one does without blocks. Both arms of hyperfine are the
//! same command. Its interval is Welch's, which takes the runs of a batch to be
//! independent: how often it holds no difference at all is told beside its width.

use super::Options;
use super::duel::Duel;
use super::lab::{LIKE, Lab, half_widths};
use super::target::Target;
use crate::NO_OP;
use anyhow::{Context, Result};
use serde_json::Value;
use std::path::Path;
use tare_stats::{LEVEL, Sample, mean, welch};

/// Runs that tell how many make a batch.
const PROBE: u32 = 200;

/// Slices against batches.
#[derive(Default)]
pub struct Commands {
    duel: Duel,
    batches: Vec<Batches>,
}

/// What two batches of the same command say.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Batches {
    /// Mean of the second over that of the first, less 1.
    difference: f64,
    /// Half-width of its 95 % interval.
    half_width: f64,
}

/// Runs both in turns, each for the same measured time per arm.
pub fn hold(lab: &Lab, options: &Options) -> Result<Commands> {
    let command = crate::compile(lab.folder(), "noop", NO_OP)?;
    let mut held = Commands::default();
    for round in 0..options.rounds {
        let (ours, theirs) = if round % 2 == 0 {
            let ours = in_slices(lab, options, &command)?;
            (ours, in_batches(lab, options, &command)?)
        } else {
            let theirs = in_batches(lab, options, &command)?;
            (in_slices(lab, options, &command)?, theirs)
        };
        eprintln!(
            "round {}: in slices {ours:.4}, in batches {theirs:.4?}",
            round + 1
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

/// Two batches, one after the other.
fn in_batches(lab: &Lab, options: &Options, command: &Path) -> Result<Batches> {
    let file = lab.folder().join("batch.json");
    let usual = mean(&batch(command, PROBE, &file)?).context("hyperfine told no time")?;
    let runs = runs(options.cell_seconds(), usual);
    let first = batch(command, runs, &file)?;
    Batches::of(&first, &batch(command, runs, &file)?).context("the batches have no interval")
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
fn batch(command: &Path, runs: u32, file: &Path) -> Result<Vec<f64>> {
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
    /// None of batches of fewer than 2 runs.
    fn of(first: &[f64], second: &[f64]) -> Option<Self> {
        let [first, second] = [Sample::of(first, 1.0)?, Sample::of(second, 1.0)?];
        let found = welch(first, second, LEVEL)?;
        Some(Self {
            difference: found.difference / first.mean,
            half_width: (found.interval.high - found.interval.low) / 2.0 / first.mean,
        })
    }

    /// Whether the interval of the same command twice holds no difference.
    fn holds_zero(self) -> bool {
        self.difference.abs() <= self.half_width
    }
}

impl Commands {
    /// Its table.
    pub fn table(&self) -> String {
        let held = self.batches.iter().filter(|batches| batches.holds_zero()).count();
        format!(
            "a static no-op, beside batches of hyperfine -N on an otherwise idle host\n  \
             command        in slices   hyperfine     ratio\n{}\n  \
             hyperfine's interval of the same command twice held 0 in {held} of {} rounds",
            self.duel.row("no-op"),
            self.batches.len()
        )
    }

    /// Its target.
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
    fn the_interval_of_batches_is_welchs_over_the_mean_of_the_first() {
        // Standard error sqrt(1/3 + 1/6), t 2.817474 with 27/7 degrees of freedom.
        let found = Batches::of(&[3.0, 5.0, 4.0], &[2.0, 2.0, 1.0, 3.0]).unwrap();
        assert!((found.difference + 0.5).abs() < 1e-12);
        assert!((found.half_width - 1.992_255 / 4.0).abs() < 1e-6, "{found:?}");
        assert!(!found.holds_zero());
        assert_eq!(Batches::of(&[1.0], &[1.0, 2.0]), None);
    }

    #[test]
    fn times_are_those_of_the_first_command() {
        let text = br#"{"results": [{"command": "x", "mean": 2.0, "times": [1.5, 2.5]}]}"#;
        assert_eq!(times(text).unwrap(), [1.5, 2.5]);
        assert!(times(br#"{"results": []}"#).is_err());
    }
}
