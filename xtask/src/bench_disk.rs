//! `bench-disk`: the kernels that measure a disk against fio, running the same job.
//!
//! Both run in turns, in one folder; the ratio of neighbours cancels what the disk does
//! meanwhile. Ours run at the gate, once in long slices, which is what fio does, and once in
//! those of a study: what both differ by is what filling and draining the queues takes.

mod fio;
mod ours;

use anyhow::Result;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tare_model::kernel::Kernel;

/// What to compare, and for how long.
#[derive(clap::Args)]
pub struct Options {
    /// Rounds: each runs ours in both ways and fio once, in turns first
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Seconds of each run
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Milliseconds of the short slices
    #[arg(long, default_value_t = 10.0)]
    slice: f64,
    /// Bytes of each of the eight files
    #[arg(long, default_value_t = 16 << 20)]
    bytes: u64,
    /// A folder on the disk
    #[arg(long, default_value = ".")]
    folder: PathBuf,
    /// Kernels, of those that have a job of fio's
    #[arg(long, value_delimiter = ',', default_values_t = fio::JOBS)]
    kernel: Vec<Kernel>,
}

/// Milliseconds of long slices.
const LONG_MS: f64 = 200.0;

/// What one run came to.
#[derive(Debug, Clone, Copy)]
struct Figures {
    operations_per_second: f64,
    /// CPU time of an operation, of all threads or processes.
    cpu_seconds: f64,
}

/// Figures of one kernel, round by round: in long slices, in short ones, and fio's.
#[derive(Default)]
struct Rounds([Vec<Figures>; 3]);

/// Compares and prints a table.
pub fn run(options: &Options) -> Result<()> {
    let program = super::agent_bin()?;
    let folder = tempfile::tempdir_in(&options.folder)?;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{:<17} {:>11} {:>11} {:>11} {:>7} {:>7} {:>8} {:>8} {:>7}",
        "kernel", "fio op/s", "long", "short", "long", "short", "fio us", "long us", "ratio"
    )?;
    for kernel in &options.kernel {
        let rounds = compare(*kernel, options, &program, folder.path())?;
        writeln!(out, "{kernel:<17} {}", row(&rounds))?;
    }
    let (n, seconds, short) = (options.rounds, options.seconds, options.slice);
    writeln!(
        out,
        "{n} rounds of {seconds} s; slices of {LONG_MS} ms and of {short} ms; speeds, their ratios to fio's of the \
         same round, CPU time of an operation and its ratio: medians"
    )?;
    Ok(())
}

fn compare(kernel: Kernel, options: &Options, program: &Path, folder: &Path) -> Result<Rounds> {
    let ours = |slice_ms| {
        ours::run(
            program,
            folder,
            &ours::spec(kernel, options.bytes),
            slice_ms,
            options.seconds,
        )
    };
    let mut rounds = Rounds::default();
    // Lays out its files, which it keeps.
    fio::run(kernel, folder, options.bytes, 0.1)?;
    for round in 0..options.rounds {
        for turn in 0..rounds.0.len() {
            let which = (round + turn) % rounds.0.len();
            rounds.0[which].push(match which {
                0 => ours(LONG_MS)?,
                1 => ours(options.slice)?,
                _ => fio::run(kernel, folder, options.bytes, options.seconds)?,
            });
        }
    }
    Ok(rounds)
}

fn row(rounds: &Rounds) -> String {
    let [long, short, fio] = &rounds.0;
    let speed = |f: &Figures| f.operations_per_second;
    let cpu = |f: &Figures| f.cpu_seconds;
    let median =
        |figures: &[Figures], of: fn(&Figures) -> f64| super::median(figures.iter().map(of).collect());
    let ratio = |ours: &[Figures], of: fn(&Figures) -> f64| {
        super::median(
            ours.iter()
                .zip(fio)
                .map(|(ours, fio)| of(ours) / of(fio))
                .collect(),
        )
    };
    format!(
        "{:>11.0} {:>11.0} {:>11.0} {:>7.3} {:>7.3} {:>8.2} {:>8.2} {:>7.3}",
        median(fio, speed),
        median(long, speed),
        median(short, speed),
        ratio(long, speed),
        ratio(short, speed),
        median(fio, cpu) * 1e6,
        median(long, cpu) * 1e6,
        ratio(long, cpu),
    )
}
