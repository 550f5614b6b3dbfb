//! Standard output for results, standard error for talk.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// A trial or a check failed.
pub const FAILED: u8 = 1;
/// Bad input, or nothing can run.
pub const BAD_INPUT: u8 = 2;
/// The user stopped it.
pub const INTERRUPTED: u8 = 130;

/// Prints to standard output. A reader that went away (`| head`) is no error.
///
/// # Errors
/// Any other failure to write.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(e.into()),
        _ => Ok(()),
    }
}

/// Prints a value as JSON.
///
/// # Errors
/// As [`print`].
pub fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&(serde_json::to_string_pretty(value)? + "\n"))
}

/// Tells an error in one line, with its causes.
pub fn fail(error: &anyhow::Error) -> ExitCode {
    eprintln!("tare: {}", one_line(&with_causes(error)));
    ExitCode::from(BAD_INPUT)
}

/// The error and its causes, each once: many errors name theirs already.
fn with_causes(error: &anyhow::Error) -> String {
    error.chain().skip(1).fold(error.to_string(), |told, cause| {
        let cause = cause.to_string();
        if told.contains(&cause) {
            told
        } else {
            format!("{told}: {cause}")
        }
    })
}

/// Text without control characters, so that no foreign text can drive a terminal.
pub fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// Whether standard output shows colours.
pub fn colours() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// Columns of the terminal; 80 where there is none.
pub fn width() -> usize {
    let (_, columns) = console::Term::stdout().size_checked().unwrap_or((0, 80));
    usize::from(columns).max(40)
}
