//! The tare command: what does the box cost?

#![forbid(unsafe_code)]

mod args;
mod cmd;
mod out;
mod progress;

use args::{Cli, Command};
use clap::Parser;
use clap::error::ErrorKind;
use std::process::ExitCode;

/// musl's allocator maps and unmaps memory again and again, which costs a fifth
/// of what a trial costs beside its work.
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    // Before anything else: the spawn kernel measures how long this takes.
    tare_kernels::exit_if_noop();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.kind() == ErrorKind::InvalidUtf8 => return out::fail(&not_utf8()),
        Err(error) => error.exit(),
    };
    let done = match cli.command {
        Command::Doctor(args) => cmd::doctor::run(&args),
        Command::Plan(args) => cmd::plan::run(&args),
        Command::Run(args) => cmd::run::run(&args),
        Command::Report(args) => cmd::report::run(&args),
        Command::Check(args) => cmd::check::run(&args),
        Command::Density(args) => cmd::density::run(&args),
        Command::Clean(args) => cmd::clean::run(&args),
        Command::Kernel(args) => cmd::kernel::run(&args),
        Command::Completions { shell } => cmd::manual::completions(shell),
        Command::Man { subcommand } => cmd::manual::man(subcommand.as_deref()),
        Command::Agent(args) => cmd::agent::run(&args),
        Command::RunAct { words } => cmd::check::act(&words),
        Command::RunHold { platform, state } => cmd::check::hold(&platform, &state),
        Command::RunKernel { spec } => cmd::agent::run_kernel(&spec),
        Command::RunProof { spec } => cmd::agent::run_proof(&spec),
    };
    done.unwrap_or_else(|error| out::fail(&error))
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
