//! `bench-tools`: figures of tare beside those of the tool that people would ask otherwise:
//! memory bandwidth beside hpcc's STREAM, the time of a command beside hyperfine's.
//!
//! All run natively, in turns; the ratio of neighbours cancels what the machine
//! does meanwhile. A tool that is not installed is left out.

use super::bench_harness::Ours;
use super::bench_precision::batch;
use super::{bound, in_turn, is_installed, median, own_report, stdout_of};
use anyhow::{Context, Result, ensure};
use std::io::{self, Write};
use std::path::Path;
use tare_model::kernel::{Isa, Kernel, KernelSpec};
use tare_model::results::{Outcome, Results};
use tare_stats::mean;

/// How much to run.
#[derive(clap::Args)]
pub struct Options {
    /// Rounds: each runs both once, in turns first
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Order of HPL's matrix, from which the arrays of hpcc's STREAM follow: n * n / 3 numbers of 8 bytes
    #[arg(long, default_value_t = 3600)]
    order: u64,
    /// Executions of the command in each round
    #[arg(long, default_value_t = 200)]
    executions: u32,
    /// The CPU of those of memory
    #[arg(long, default_value = "0")]
    cpu: String,
}

/// The loops of STREAM, as hpcc and our kernel call them.
const LOOPS: [(&str, &str); 4] = [
    ("Copy", "copy"),
    ("Scale", "scale"),
    ("Add", "add"),
    ("Triad", "triad"),
];

/// A command of some milliseconds, which are as long each time.
const WORK: &str = "int main(void) { volatile unsigned n = 0; while (n < 4000000) n = n + 1; return 0; }\n";

/// Compares and prints two tables.
pub fn run(options: &Options) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut out = io::stdout().lock();
    if is_installed("hpcc") {
        stream(options, folder.path(), &mut out)?;
    } else {
        writeln!(out, "hpcc is not installed")?;
    }
    if is_installed("hyperfine") {
        command(options, folder.path(), &mut out)?;
    } else {
        writeln!(out, "hyperfine is not installed")?;
    }
    Ok(())
}

/// Bandwidths in B/s, loop by loop.
type Bandwidths = [f64; LOOPS.len()];

/// What one round told.
struct Round {
    hpcc: Bandwidths,
    best: Bandwidths,
    mean: Bandwidths,
}

fn stream(options: &Options, folder: &Path, out: &mut impl Write) -> Result<()> {
    let mut rounds = Vec::new();
    // The arrays of both are as long: hpcc tells how long its own are.
    let (_, bytes) = hpcc_stream(options, folder)?;
    for round in 0..options.rounds {
        let ours = || our_stream(options, bytes);
        let ((mean, best), (hpcc, _)) = in_turn(round, ours, || hpcc_stream(options, folder))?;
        rounds.push(Round { hpcc, best, mean });
    }
    writeln!(
        out,
        "memory bandwidth, arrays of {:.1} MB, GB/s\n{:<8} {:>8} {:>10} {:>8} {:>12} {:>12}",
        bytes as f64 / 1e6,
        "loop",
        "hpcc",
        "our best",
        "mean",
        "best / hpcc",
        "mean / hpcc"
    )?;
    for (i, (name, _)) in LOOPS.iter().enumerate() {
        let figure = |of: fn(&Round, usize) -> f64| median(rounds.iter().map(|r| of(r, i)).collect());
        writeln!(
            out,
            "{name:<8} {:>8.2} {:>10.2} {:>8.2} {:>12.3} {:>12.3}",
            figure(|r, i| r.hpcc[i]) / 1e9,
            figure(|r, i| r.best[i]) / 1e9,
            figure(|r, i| r.mean[i]) / 1e9,
            figure(|r, i| r.best[i] / r.hpcc[i]),
            figure(|r, i| r.mean[i] / r.hpcc[i]),
        )?;
    }
    writeln!(
        out,
        "{} rounds; hpcc tells its fastest of 10 passes, tare the mean of all: medians\n",
        options.rounds
    )?;
    Ok(())
}

/// Means over all passes, and the fastest.
fn our_stream(options: &Options, bytes: u64) -> Result<(Bandwidths, Bandwidths)> {
    let spec = KernelSpec {
        kernel: Kernel::Stream,
        isa: Isa::Baseline,
        threads: 1,
        size: bytes,
        seconds: 1.0,
    };
    let report = own_report(&options.cpu, &spec)?;
    let (mut mean, mut best) = ([0.0; LOOPS.len()], [0.0; LOOPS.len()]);
    for (i, (_, name)) in LOOPS.iter().enumerate() {
        let passes = report.raw_seconds.get(*name).context("no passes")?;
        let fastest = passes.iter().copied().fold(f64::INFINITY, f64::min);
        mean[i] = *report.metrics.get(*name).context("no figure")?;
        best[i] = report.work_per_stretch.get(*name).context("no work")? / fastest;
    }
    Ok((mean, best))
}

/// What hpcc tells, and the bytes of one of its arrays.
fn hpcc_stream(options: &Options, folder: &Path) -> Result<(Bandwidths, u64)> {
    let n = options.order.to_string();
    let lines = [
        "head", "head", "HPL.out", "8", "1", &n, "1", "128", "0", "1", "1", "1", "16.0",
    ];
    let rest = "1 2 1 4 1 2 1 1 1 1 1 1 2 64 0 0 1 8 line 0 0 0 0";
    let input: Vec<&str> = lines.into_iter().chain(rest.split(' ')).collect();
    std::fs::write(folder.join("hpccinf.txt"), input.join("\n") + "\n")?;
    let output = folder.join("hpccoutf.txt");
    // It adds to what is there.
    let _ = std::fs::remove_file(&output);
    stdout_of(bound(&options.cpu, &["hpcc"]).current_dir(folder))?;
    let text = std::fs::read_to_string(&output).context("read what hpcc wrote")?;
    let figure = |name: &str| -> Result<f64> {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        Ok(line.with_context(|| format!("no {name}"))?.parse()?)
    };
    ensure!(figure("Success")? > 0.0, "hpcc tells of no success");
    let mut all = [0.0; LOOPS.len()];
    for (of, (name, _)) in all.iter_mut().zip(LOOPS) {
        *of = 1e9 * figure(&format!("SingleSTREAM_{name}"))?;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of elements"
    )]
    let elements = figure("STREAM_VectorSize")? as u64;
    Ok((all, 8 * elements))
}

fn command(options: &Options, folder: &Path, out: &mut impl Write) -> Result<()> {
    let tare = super::tare_bin()?;
    let program = super::compile(folder, "work", WORK)?;
    let site = Ours {
        tare: &tare,
        command: &program,
        folder,
    };
    let file = folder.join("hyperfine.json");
    let ours = || our_times(&site.single(options.executions)?);
    let hyperfine = || batch(&program, options.executions, &file);
    let (mut own, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..options.rounds {
        let (our_times, their_times) = in_turn(round, ours, hyperfine)?;
        own.push(mean(&our_times).context("no trial")?);
        theirs.push(mean(&their_times).context("hyperfine told no time")?);
    }
    let ratios = own.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs);
    let (rounds, ratio) = (own.len(), median(ratios.collect()));
    writeln!(
        out,
        "time of a command\nhyperfine -N {:.3} ms, tare natively {:.3} ms, ratio {ratio:.4}: medians of {rounds} rounds \
         of {} executions",
        1e3 * median(theirs),
        1e3 * median(own),
        options.executions
    )?;
    Ok(())
}

/// Seconds of each execution; all trials must have ended well.
fn our_times(results: &Results) -> Result<Vec<f64>> {
    let time = |outcome: &Outcome| match outcome {
        Outcome::Ok(success) => success.samples.get("wall").copied(),
        _ => None,
    };
    let times = results.trials().map(|trial| time(&trial.outcome));
    times.collect::<Option<_>>().context("a trial failed")
}
