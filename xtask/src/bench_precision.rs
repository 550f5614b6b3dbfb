//! `bench-precision`: how narrow intervals are for the same measured time, in slices
//! beside trials in one piece and beside batches of hyperfine; and what a slice's way
//! to its box and back takes, which must be short for slices to be.
//!
//! What is decided is always the same: a cell of `native` against its like, a
//! container of crun, which is a process of the same kernel in cgroups of the same
//! limits. Only the width of an interval is looked at, not where it lies. The ways to
//! decide it run in turns; the ratio of neighbours cancels what the machine does
//! meanwhile. With `--before BINARY` two builds of tare run in turns instead.

mod before;
mod busy;
mod commands;
mod duel;
mod gates;
mod kernels;
mod lab;
mod target;

use anyhow::Result;
pub use commands::batch;
use gates::Gates;
use kernels::{Duels, Load};
use lab::Lab;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use tare_model::size::{counted, parse_seconds, show_seconds};
use target::Target;

/// How much to run.
#[derive(clap::Args)]
pub struct Options {
    /// Rounds: each decides the same in every way, in turns first
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Blocks of each study
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..))]
    blocks: u32,
    /// Measured time of each trial
    #[arg(long, default_value = "500ms", value_parser = parse_seconds)]
    trial_time: f64,
    /// Hold the precision of the kernels against that of another build of tare, and nothing else
    #[arg(long, value_name = "BINARY")]
    before: Option<PathBuf>,
}

/// Measures, prints tables and the targets; exit code 1 if one was missed.
pub fn run(options: &Options) -> Result<ExitCode> {
    if let Some(before) = &options.before {
        return judge(&before::hold(before, options)?);
    }
    let lab = Lab::new()?;
    let mut gates = Gates::default();
    let mut targets = Vec::new();
    say(&format!(
        "half-widths of 95 % intervals in per cent, native against {}: {} of {}, medians of {}",
        lab::LIKE,
        counted(options.blocks, "block"),
        show_seconds(options.trial_time),
        counted(options.rounds, "round")
    ))?;
    let idle = kernels::hold(&lab, options, Load::Idle, |analysis| gates.note(analysis))?;
    targets.push(tell(Load::Idle, &idle)?);
    let busy = kernels::hold(&lab, options, Load::Busy, |_| {})?;
    targets.push(tell(Load::Busy, &busy)?);
    let commands = commands::hold(&lab, options)?;
    say(&commands.table())?;
    targets.push(commands.target());
    gates.hold_others(&lab);
    say(&gates.table())?;
    targets.extend(gates.targets());
    judge(&targets)
}

/// Prints the table of one load; its target.
fn tell(load: Load, duels: &Duels) -> Result<Target> {
    say(&kernels::table(load, duels))?;
    Ok(Target {
        what: format!("in slices / in one piece, {}", load.name()),
        found: kernels::median_ratio(duels),
        at_most: load.at_most(),
    })
}

fn judge(targets: &[Target]) -> Result<ExitCode> {
    say("targets")?;
    for target in targets {
        say(&target.row())?;
    }
    let all_met = targets.iter().all(Target::met);
    Ok(if all_met {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// At once: a bench takes minutes.
fn say(text: &str) -> Result<()> {
    Ok(writeln!(io::stdout(), "{text}")?)
}
