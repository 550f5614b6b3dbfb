//! Completions and the manual page, from the same table as the help.

use crate::args::Cli;
use crate::out;
use clap::CommandFactory;
use std::process::ExitCode;

/// Prints completions for a shell.
pub fn completions(shell: clap_complete::Shell) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "tare", &mut script);
    out::print(&String::from_utf8(script)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the manual page.
pub fn man() -> anyhow::Result<ExitCode> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page)?;
    out::print(&String::from_utf8(page)?)?;
    Ok(ExitCode::SUCCESS)
}
