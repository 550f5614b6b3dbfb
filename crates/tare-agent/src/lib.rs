//! The agent: what goes into every box.
//!
//! It is silent until asked, serves one request at a time, and ends with its link. Kernels and
//! commands run in processes of their own, so that it stays small and a crash of theirs is only
//! an answer. The controller carries the program `tare-agent`: what is measured is the same machine
//! code on every platform. Where a box holds others, tare itself serves in it, as an agent that can
//! make boxes.

#![forbid(unsafe_code)]
// A closed standard error makes the macros panic.
#![deny(clippy::print_stderr)]

pub mod act;
mod cli;
mod confined;
mod facts;
mod files;
mod gate;
mod init;
mod inner;
mod line;
mod not_started;
mod port;
mod process;
mod refusal;
mod root;
mod serve;
mod server;
mod words;
mod work;
mod work_process;

use cli::Role;
pub use inner::{InnerBox, Launcher};

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use tare_box::precautions;

/// Bad input, or something that cannot run.
const BAD_INPUT: u8 = 2;

/// Whether this process was started for a role in a box or beside one, by its first argument.
pub fn is_meant() -> bool {
    let first = std::env::args_os().nth(1);
    first.is_some_and(|name| name.to_str().is_some_and(|name| cli::ROLES.contains(&name)))
}

/// Does what the arguments of this process say; boxes in this one are made by `launcher`.
pub fn run(launcher: Option<Launcher>) -> ExitCode {
    let role = cli::parse(lexopt::Parser::from_env());
    let ended = role.and_then(|role| play(&role, launcher));
    ended.unwrap_or_else(|error| {
        let line = error.to_string().replace('\n', " ");
        let _ = writeln!(io::stderr().lock(), "tare-agent: {line}");
        ExitCode::from(BAD_INPUT)
    })
}

fn play(role: &Role, launcher: Option<Launcher>) -> Result<ExitCode, Box<dyn Error>> {
    // A jail is on the host, and hands on what it was started with: it is part of its machine.
    if !matches!(role, Role::Act(_) | Role::Jailed { .. }) {
        precautions::inside()?;
    }
    match role {
        Role::Serve(options) => serve::run(options, launcher)?,
        Role::Act(words) => return Ok(ExitCode::from(act::act(words)?)),
        Role::Jailed { jail, program, words } => {
            let code = jail.run(program, words)?.code();
            // A program that a signal ended has no code.
            let code = code.and_then(|code| u8::try_from(code).ok());
            return Ok(ExitCode::from(code.unwrap_or(1)));
        }
        Role::Kernel { spec, gate, server } => return work_process::kernel(spec, *gate, *server),
        Role::Server { spec, at } => work_process::server(spec, *at)?,
        Role::Load { spec, server } => return work_process::load(spec, *server),
        Role::Proof { spec } => return work_process::proof(spec),
        Role::Version => writeln!(io::stdout(), "tare-agent {}", tare_wire::VERSION)?,
    }
    Ok(ExitCode::SUCCESS)
}
