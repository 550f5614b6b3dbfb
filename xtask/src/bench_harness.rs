//! `bench-harness`: what one trial of a trivial command costs, all included,
//! beside hyperfine and beside a bare spawn and wait of the same command.
//!
//! The cost is counted from the start of one trial to the start of the next, so
//! that what happens between trials is in it. The three run in turns; the ratio
//! of neighbours cancels what the machine does meanwhile.

use anyhow::{Context, Result, ensure};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use tare_model::results::Results;

/// How much to run.
#[derive(clap::Args)]
pub struct Options {
    /// Rounds: each runs the three once, in turns first
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Trials of the command in each
    #[arg(long, default_value_t = 3000)]
    trials: u32,
}

/// The command: static, and as little as a process can do.
const NO_OP: &str = "int main(void) { return 0; }\n";

/// Measures and prints a table.
pub fn run(options: &Options) -> Result<()> {
    let tare = std::env::var_os("TARE_BIN")
        .map(PathBuf::from)
        .context("TARE_BIN names no binary: run 'make bench'")?;
    let folder = tempfile::tempdir()?;
    let command = super::compile(folder.path(), "noop", NO_OP)?;
    let mut table: [Vec<f64>; 3] = Default::default();
    for round in 0..options.rounds {
        for turn in 0..3 {
            let which = (round + turn) % 3;
            let microseconds = match which {
                0 => bare(&command, options.trials)?,
                1 => hyperfine(&command, options.trials)?,
                _ => ours(&tare, &command, options.trials, folder.path())?,
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
    let mut hyperfine = Command::new("hyperfine");
    hyperfine
        .args(["-N", "--style", "none", "--runs", &trials.to_string()])
        .arg(command);
    let done = hyperfine
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .context("start hyperfine")?;
    ensure!(done.success(), "hyperfine failed");
    Ok(begun.elapsed().as_secs_f64() * 1e6 / f64::from(trials))
}

/// From the start of the first trial to that of the last, by the results file.
fn ours(tare: &Path, command: &Path, trials: u32, folder: &Path) -> Result<f64> {
    let file = folder.join("r.jsonl");
    let _ = std::fs::remove_file(&file);
    let mut run = Command::new(tare);
    run.args(["run", "-p", "native", "--provisioning", "vanilla", "--cpus", "1"])
        // Hyperfine does not wait for a quiet host either.
        .args(["--fresh", "study", "--no-settle", "--trial-time", "0"])
        .args(["--blocks", &trials.to_string(), "-o"])
        .arg(&file)
        .arg("--state-dir")
        .arg(folder.join("state"))
        .arg("--")
        .arg(command);
    let done = run.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    ensure!(done.success(), "tare run failed");
    let results = Results::read(&file)?;
    let starts: Vec<u64> = results.trials().map(|trial| trial.started_unix_ns).collect();
    let (first, last) = starts.first().zip(starts.last()).context("no trial")?;
    let gaps = u32::try_from(starts.len())? - 1;
    Ok(std::time::Duration::from_nanos(last - first).as_secs_f64() * 1e6 / f64::from(gaps))
}

fn print(table: &[Vec<f64>; 3]) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "microseconds per trial of a static no-op, medians of {} rounds",
        table[0].len()
    )?;
    for (name, figures) in ["bare spawn + wait", "hyperfine -N", "tare run"]
        .iter()
        .zip(table)
    {
        writeln!(out, "  {name:18} {:8.1}", super::median(figures.clone()))?;
    }
    let over_hyperfine = table[2].iter().zip(&table[1]).map(|(ours, theirs)| ours / theirs);
    writeln!(
        out,
        "  tare / hyperfine   {:8.3}",
        super::median(over_hyperfine.collect())
    )?;
    Ok(())
}
