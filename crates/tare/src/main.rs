//! The tare command: what does the box cost?

#![forbid(unsafe_code)]
// A closed standard error makes the macros panic: out::say does not.
#![deny(clippy::print_stderr)]

mod args;
mod box_args;
mod cmd;
mod files;
mod misplaced;
mod out;
mod progress;

use args::{Cli, Command};
use box_args::{BoxCli, BoxCommand};
use clap::Parser;
use clap::error::ErrorKind;
use std::process::ExitCode;
use tare_box::jail::Jail;
use tare_box::precautions;

/// musl's allocator maps and unmaps memory again and again, which costs a fifth
/// of what a trial costs beside its work.
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    // Before anything else: the spawn kernel measures how long this takes.
    tare_kernels::exit_if_noop();
    let done = if BoxCli::is_meant() {
        BoxCli::try_parse().map(|cli| inside(cli.command))
    } else {
        Cli::try_parse().map(|cli| outside(cli.command))
    };
    match done {
        Ok(done) => done.unwrap_or_else(|error| out::fail(&error)),
        Err(error) if error.kind() == ErrorKind::InvalidUtf8 => out::fail(&not_utf8()),
        Err(error) => match misplaced::instead_of(&error) {
            Some(advice) => out::fail(&advice),
            None => out::usage(&misplaced::with_nearest(error)),
        },
    }
}

/// What users ask for.
fn outside(command: Command) -> anyhow::Result<ExitCode> {
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

/// What runs in boxes.
fn inside(command: BoxCommand) -> anyhow::Result<ExitCode> {
    // A jail is on the host, and hands on what it was started with: it is part of its machine.
    if !matches!(command, BoxCommand::RunAct { .. } | BoxCommand::RunJailed { .. }) {
        precautions::inside()?;
    }
    match command {
        BoxCommand::Agent(args) => cmd::agent::run(&args),
        BoxCommand::RunAct { words } => cmd::check::act(&words),
        BoxCommand::RunJailed {
            folder,
            file,
            place,
            own_bytes,
            program,
            words,
        } => {
            let jail = Jail {
                folder,
                file,
                place,
                own_bytes,
            };
            cmd::agent::run_jailed(&jail, &program, &words)
        }
        BoxCommand::RunKernel { spec, gate, server } => cmd::agent::run_kernel(&spec, gate, server),
        BoxCommand::RunServer { spec, at } => cmd::agent::run_server(&spec, at),
        BoxCommand::RunLoad { spec, server } => cmd::agent::run_load(&spec, server),
        BoxCommand::RunProof { spec } => cmd::agent::run_proof(&spec),
    }
}

/// Names the arguments that are no text, as far as they can be printed.
fn not_utf8() -> anyhow::Error {
    let arguments = std::env::args_os().filter(|argument| argument.to_str().is_none());
    let named: Vec<String> = arguments.map(|argument| format!("{argument:?}")).collect();
    anyhow::anyhow!(
        "arguments must be UTF-8 text, and these are not: {}; only paths may hold other bytes",
        named.join(", ")
    )
}
