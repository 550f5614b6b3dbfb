//! The tare command: what does the box cost?

#![forbid(unsafe_code)]
// A closed standard error makes the macros panic: out::say does not.
#![deny(clippy::print_stderr)]

mod agent;
mod args;
mod cmd;
mod files;
mod misplaced;
mod out;
mod progress;

use args::{Cli, Command};
use clap::Parser;
use clap::error::ErrorKind;
use std::process::ExitCode;
use tare_host::{precautions, scope};
use tare_platforms::agent_file;

/// musl's allocator maps and unmaps memory again and again.
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    agent_file::provide(agent::file);
    if tare_agent::is_meant() {
        return tare_agent::run(Some(tare_platforms::launch_inner));
    }
    tare_sys::search_for_administrators();
    match Cli::try_parse().map(|cli| run(cli.command)) {
        Ok(done) => done.unwrap_or_else(|error| out::fail(&error)),
        Err(error) if error.kind() == ErrorKind::InvalidUtf8 => out::fail(&not_utf8()),
        Err(error) => match misplaced::instead_of(&error) {
            Some(advice) => out::fail(&advice),
            None => out::usage(&misplaced::with_nearest(error)),
        },
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    if makes_boxes(&command) {
        scope::enter();
    }
    precautions::outside()?;
    match command {
        Command::Doctor(args) => cmd::doctor::run(&args),
        Command::Pilot(args) => cmd::pilot::run(&args),
        Command::Plan(args) => cmd::plan::run(&args),
        Command::Run(args) => cmd::run::run(&args),
        Command::Watch(args) => cmd::watch::run(&args),
        Command::Report(args) => cmd::report::run(&args),
        Command::Analyze(args) => cmd::analyze::run(&args),
        Command::Compare(args) => cmd::compare::run(&args),
        Command::Advise(args) => cmd::advise::run(&args),
        Command::Export(args) => cmd::export::run(&args),
        Command::Serve(args) => cmd::serve::run(&args),
        Command::Why(args) => cmd::why::run(&args),
        Command::Tune(args) => cmd::tune::run(&args),
        Command::Merge(args) => cmd::merge::run(&args),
        Command::Trend(args) => cmd::trend::run(&args),
        Command::Check(args) => cmd::check::run(&args),
        Command::Density(args) => cmd::density::run(&args),
        Command::Selftest(command) => cmd::selftest::run(&command),
        Command::Clean(args) => cmd::clean::run(&args),
        Command::Kernel(args) => cmd::kernel::run(&args),
        Command::Workloads(args) => cmd::workloads::run(&args),
        Command::Image(args) => cmd::image::run(&args),
        Command::Published(args) => cmd::published::run(&args),
        Command::Explain(args) => cmd::explain::run(&args),
        Command::Completions { shell } => cmd::manual::completions(shell),
        Command::Man { subcommand } => cmd::manual::man(subcommand.as_deref()),
        Command::RunHold { platform, state } => cmd::check::hold(&platform, &state),
    }
}

const fn makes_boxes(command: &Command) -> bool {
    matches!(
        command,
        Command::Doctor(_)
            | Command::Pilot(_)
            | Command::Plan(_)
            | Command::Run(_)
            | Command::Why(_)
            | Command::Tune(_)
            | Command::Check(_)
            | Command::Density(_)
            | Command::Selftest(_)
            | Command::Workloads(_)
    )
}

/// Names the arguments that are no text, as far as they can be printed.
fn not_utf8() -> anyhow::Error {
    let arguments = std::env::args_os().filter(|argument| argument.to_str().is_none());
    let named: Vec<String> = arguments.map(|argument| format!("{argument:?}")).collect();
    anyhow::anyhow!(
        "arguments must be UTF-8, and these are not: {}; other bytes may be in paths of options and of results files, but not in a command: rename its files",
        named.join(", ")
    )
}
