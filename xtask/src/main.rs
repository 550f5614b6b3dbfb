//! Chores of the workspace: `cargo run --release -p xtask -- COMMAND`.

#![forbid(unsafe_code)]

mod bench_boot;
mod bench_disk;
mod bench_harness;
mod bench_kernels;
mod bench_load;
mod bench_network;
mod bench_precision;
mod bench_startup;
mod bench_tools;
mod libtest;
mod schema;
mod test;
mod test_all;
mod test_guest;

use anyhow::Context;
use clap::{Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitCode, Stdio};
use tare_model::kernel::{KernelReport, KernelSpec};

#[derive(Parser)]
#[command(about = "Chores of the workspace")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Hold the kernels against the same algorithms in C, compiled by gcc -O3
    BenchKernels(bench_kernels::Options),
    /// Hold the kernels that measure a disk against fio
    BenchDisk(bench_disk::Options),
    /// Hold the network kernels against netperf and iperf3, where these are installed
    BenchNetwork(bench_network::Options),
    /// Hold tare's own client for servers against wrk and redis-benchmark, where these are installed
    BenchLoad(bench_load::Options),
    /// Hold the cost of one execution of a command, in a trial and in slices, against hyperfine and a bare spawn
    BenchHarness(bench_harness::Options),
    /// Hold a VM's launch against a boot of the same kernel that only says one byte
    BenchBoot(bench_boot::Options),
    /// Hold a container's start-up against the engine's own fastest way to one byte
    BenchStartup(bench_startup::Options),
    /// Hold the precision of slices against trials in one piece and against hyperfine, and what a slice's way to its box takes against its targets
    BenchPrecision(bench_precision::Options),
    /// Hold memory bandwidth against hpcc's STREAM, and the time of a command against hyperfine's, where these are installed
    BenchTools(bench_tools::Options),
    /// Check format and lints, run all tests, and print how long each part took and which tests are slowest
    Test(test::Options),
    /// Run every workload that comes with tare once on every platform that can run here, and tell how each ended
    TestAll(test_all::Options),
    /// Check tare in guests of Debian as root and as an ordinary user, and tell how each platform did
    TestGuest(test_guest::Options),
    /// Write docs/schemas: the JSON Schema of every document that tare prints or stores, by its types
    Schema,
}

fn main() -> anyhow::Result<ExitCode> {
    match Arguments::parse().command {
        Command::BenchKernels(options) => bench_kernels::run(&options)?,
        Command::BenchDisk(options) => bench_disk::run(&options)?,
        Command::BenchNetwork(options) => bench_network::run(&options)?,
        Command::BenchLoad(options) => bench_load::run(&options)?,
        Command::BenchHarness(options) => bench_harness::run(&options)?,
        Command::BenchBoot(options) => bench_boot::run(&options)?,
        Command::BenchStartup(options) => bench_startup::run(&options)?,
        Command::BenchPrecision(options) => return bench_precision::run(&options),
        Command::BenchTools(options) => bench_tools::run(&options)?,
        Command::Schema => schema::run()?,
        Command::Test(options) => return test::run(&options),
        Command::TestAll(options) => return test_all::run(&options),
        Command::TestGuest(options) => return test_guest::run(&options),
    }
    Ok(ExitCode::SUCCESS)
}

/// A command that is as little as a process can do; static, by [`compile`].
const NO_OP: &str = "int main(void) { return 0; }\n";

/// What tare is built for.
const TARGET: &str = if cfg!(target_arch = "aarch64") {
    "aarch64-unknown-linux-musl"
} else {
    "x86_64-unknown-linux-musl"
};

/// The binary under test.
fn tare_bin() -> anyhow::Result<PathBuf> {
    let named = std::env::var_os("TARE_BIN").map(PathBuf::from);
    named.context("TARE_BIN names no binary: run 'make bench'")
}

/// The agent that it carries, whose code boxes run: cargo builds it beside tare.
fn agent_bin() -> anyhow::Result<PathBuf> {
    let file = format!("agent/{TARGET}/agent/tare-agent");
    let tare = tare_bin()?;
    let found = tare
        .ancestors()
        .map(|folder| folder.join(&file))
        .find(|file| file.is_file());
    found.with_context(|| format!("no {file} near {}: build tare first", tare.display()))
}

/// Compiles a C program to a static binary in `folder`.
fn compile(folder: &Path, name: &str, text: &str) -> anyhow::Result<PathBuf> {
    let (source, program) = (folder.join(format!("{name}.c")), folder.join(name));
    std::fs::write(&source, text)?;
    let done = std::process::Command::new("gcc")
        .args(["-O2", "-static", "-o"])
        .arg(&program)
        .arg(&source)
        .status()?;
    anyhow::ensure!(done.success(), "gcc cannot compile {name}");
    Ok(program)
}

/// Runs a command so often by hyperfine, without a shell. Its figures go to the file `export`.
fn hyperfine(command: &Path, runs: u32, export: Option<&Path>) -> anyhow::Result<()> {
    let mut hyperfine = std::process::Command::new("hyperfine");
    hyperfine.args(["-N", "--style", "none", "--runs", &runs.to_string()]);
    if let Some(file) = export {
        hyperfine.arg("--export-json").arg(file);
    }
    let done = hyperfine
        .arg(command)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .context("start hyperfine")?;
    anyhow::ensure!(done.success(), "hyperfine failed");
    Ok(())
}

/// A command on this CPU alone.
fn bound(cpu: &str, words: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new("taskset");
    command.args(["-c", cpu]).args(words);
    command
}

/// A server on one CPU, ended with this value.
struct Served(Child);

impl Served {
    /// `None` where it is not installed.
    fn start(cpu: &str, words: &[&str]) -> Option<Self> {
        let mut command = bound(cpu, words);
        let started = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        started.ok().map(Self)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // By SIGTERM: a server ends its own workers when it is asked to end.
        let _ = std::process::Command::new("kill")
            .arg(self.0.id().to_string())
            .status();
        let _ = self.0.wait();
    }
}

/// What a command prints, which must end well.
fn stdout_of(command: &mut std::process::Command) -> anyhow::Result<String> {
    let output = command
        .output()
        .with_context(|| format!("cannot run {command:?}"))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{command:?} failed: {stderr}");
    Ok(String::from_utf8(output.stdout)?)
}

/// The report of a kernel that a command runs when it is told of it; its answer is right.
fn report_of(command: &mut std::process::Command, spec: &KernelSpec) -> anyhow::Result<KernelReport> {
    let told = stdout_of(command.args(["run-kernel", &serde_json::to_string(spec)?]))?;
    let report: KernelReport = serde_json::from_str(&told)?;
    anyhow::ensure!(report.check.passed(), "wrong answer: {:?}", report.check);
    Ok(report)
}

/// The same by the agent, on this CPU alone.
fn own_report(cpu: &str, spec: &KernelSpec) -> anyhow::Result<KernelReport> {
    let agent = agent_bin()?;
    let agent = agent.to_str().context("the path of the agent is not text")?;
    report_of(&mut bound(cpu, &[agent]), spec)
}

/// One round of two: each comes first by turns.
fn in_turn<A, B>(
    round: u32,
    ours: impl FnOnce() -> anyhow::Result<A>,
    theirs: impl FnOnce() -> anyhow::Result<B>,
) -> anyhow::Result<(A, B)> {
    if round.is_multiple_of(2) {
        Ok((ours()?, theirs()?))
    } else {
        let theirs = theirs()?;
        Ok((ours()?, theirs))
    }
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// The median of some figures, NaN of none.
fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    let n = figures.len();
    match n {
        0 => f64::NAN,
        _ => f64::midpoint(figures[(n - 1) / 2], figures[n / 2]),
    }
}
