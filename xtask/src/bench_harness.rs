//! `bench-harness`: what one execution of a trivial command costs, all included,
//! beside hyperfine and beside a bare spawn and wait of the same command.
//!
//! The cost is counted from the start of one to the start of the next, so that what
//! happens between them is in it. Ours is counted twice: of trials in one piece, each
//! of one execution, and of trials in slices, where only executions that are timed
//! count, and what is read once per block is shared by all of it. All run in turns;
//! the ratio of neighbours cancels what the machine does meanwhile.

use anyhow::{Context, Result, ensure};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tare_model::group::{GroupRecord, Series};
use tare_model::results::Results;

/// How much to run.
#[derive(clap::Args)]
pub struct Options {
    /// Rounds: each runs all once, in turns first
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Executions of the command in each; in slices, 0.5 ms for each
    #[arg(long, default_value_t = 3000, value_parser = clap::value_parser!(u32).range(100..))]
    trials: u32,
}

/// What each may cost over hyperfine.
const TARGET: f64 = 1.0;

/// Blocks in slices; the last one only ends the one before.
const BLOCKS: u32 = 4;

/// The ways to run the command, in the order of the table.
const NAMES: [&str; 4] = [
    "bare spawn + wait",
    "hyperfine -N",
    "tare run, one piece",
    "tare run, slices",
];

/// Measures and prints a table.
pub fn run(options: &Options) -> Result<()> {
    let tare = super::tare_bin()?;
    let folder = tempfile::tempdir()?;
    let command = super::compile(folder.path(), "noop", super::NO_OP)?;
    let ours = Ours {
        tare: &tare,
        command: &command,
        folder: folder.path(),
    };
    let mut table: [Vec<f64>; NAMES.len()] = Default::default();
    for round in 0..options.rounds {
        for turn in 0..table.len() {
            let which = (round + turn) % table.len();
            let microseconds = match which {
                0 => bare(&command, options.trials)?,
                1 => hyperfine(&command, options.trials)?,
                2 => ours.in_one_piece(options.trials)?,
                _ => ours.in_slices(options.trials)?,
            };
            table[which].push(microseconds);
        }
    }
    print(&table)
}

/// Spawn and wait, as std does it, without anything around.
fn bare(command: &Path, trials: u32) -> Result<f64> {
    let begun = Instant::now();
    for _ in 0..trials {
        Command::new(command)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
    }
    Ok(begun.elapsed().as_secs_f64() * 1e6 / f64::from(trials))
}

/// The whole run of hyperfine over its trials.
fn hyperfine(command: &Path, trials: u32) -> Result<f64> {
    let begun = Instant::now();
    super::hyperfine(command, trials, None)?;
    Ok(begun.elapsed().as_secs_f64() * 1e6 / f64::from(trials))
}

/// Runs of tare, counted by their results files.
pub struct Ours<'a> {
    /// The binary under test.
    pub tare: &'a Path,
    /// What it runs.
    pub command: &'a Path,
    /// For the results and the state folder.
    pub folder: &'a Path,
}

impl Ours<'_> {
    /// Each trial is one execution.
    fn in_one_piece(&self, trials: u32) -> Result<f64> {
        let results = self.single(trials)?;
        let starts = starts(&results);
        cost(&starts, &vec![1.0; starts.len()]).context("one trial alone has no cost")
    }

    /// Results of so many trials in one piece, each of one execution.
    pub fn single(&self, trials: u32) -> Result<Results> {
        let how = [
            "--provisioning",
            "vanilla",
            "--slices",
            "off",
            "--trial-time",
            "0",
        ];
        self.results(&how, trials)
    }

    /// Each trial is all timed executions of a block. In a pinned box, which no quota throttles: a
    /// throttled command runs in one piece.
    fn in_slices(&self, trials: u32) -> Result<f64> {
        let time = format!("{}ms", trials / 2 / (BLOCKS - 1));
        let how = [
            "--provisioning",
            "pinned",
            "--slices",
            "auto",
            "--trial-time",
            &time,
        ];
        let results = self.results(&how, BLOCKS)?;
        let executions: Vec<f64> = results.groups().map(executions).collect();
        cost(&starts(&results), &executions).context("not all trials ran in slices")
    }

    fn results(&self, how: &[&str], blocks: u32) -> Result<Results> {
        let file = self.folder.join("r.jsonl");
        let _ = std::fs::remove_file(&file);
        let mut run = Command::new(self.tare);
        run.args(["run", "-p", "native", "--cpus", "1"])
            // Hyperfine does not wait for a quiet host either.
            .args(["--fresh", "study", "--no-settle"])
            .args(how)
            .args(["--blocks", &blocks.to_string(), "-o"])
            .arg(&file)
            .arg("--state-dir")
            .arg(self.folder.join("state"))
            .arg("--")
            .arg(self.command);
        let done = run.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        ensure!(done.success(), "tare run failed");
        Ok(Results::read(&file)?)
    }
}

/// When trials began, in nanoseconds.
fn starts(results: &Results) -> Vec<u64> {
    results.trials().map(|trial| trial.started_unix_ns).collect()
}

/// Timed executions in a group, which has one member.
fn executions(group: &GroupRecord) -> f64 {
    let parts = group.members.iter().flat_map(|member| member.parts.values());
    parts.map(Series::total_work).sum()
}

/// Microseconds for each execution: from the first start to the last, over the
/// executions of all trials but the last.
fn cost(starts: &[u64], executions: &[f64]) -> Option<f64> {
    let elapsed = starts.last()?.checked_sub(*starts.first()?)?;
    let (_, done) = executions
        .split_last()
        .filter(|_| starts.len() == executions.len())?;
    let cost = Duration::from_nanos(elapsed).as_secs_f64() * 1e6 / done.iter().sum::<f64>();
    cost.is_finite().then_some(cost)
}

fn print(table: &[Vec<f64>; NAMES.len()]) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "microseconds per execution of a static no-op, medians of {} rounds; target over hyperfine {TARGET}",
        table[0].len()
    )?;
    for (name, figures) in NAMES.iter().zip(table) {
        let over = figures.iter().zip(&table[1]).map(|(one, theirs)| one / theirs);
        let (median, over) = (super::median(figures.clone()), super::median(over.collect()));
        writeln!(out, "  {name:20} {median:8.1}   / hyperfine {over:6.3}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_trial_only_ends_the_one_before() {
        assert_eq!(cost(&[0, 2_000_000, 6_000_000], &[4.0, 8.0, 100.0]), Some(500.0));
    }

    #[test]
    fn one_trial_has_no_cost_nor_have_trials_beside_other_groups() {
        assert_eq!(cost(&[5], &[1.0]), None);
        assert_eq!(cost(&[], &[]), None);
        assert_eq!(cost(&[0, 1000, 2000], &[1.0, 1.0]), None);
    }
}
