//! Programs of the host's that engines consist of: their versions, and runs to
//! their end within a deadline.

use crate::{carry, seat};
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

/// Time for a program to tell its version.
const VERSION_DEADLINE: Duration = Duration::from_secs(10);

/// Why a program did not do what it was run for.
#[derive(Debug, thiserror::Error)]
#[error("cannot run {program}: {source}")]
pub struct ProgramError {
    /// The program, as it was named.
    pub program: String,
    /// That it did not start or did not end in time, or its last words.
    pub source: io::Error,
}

/// The first line that a program prints when asked for its version.
pub(crate) fn version_of(program: &str, argument: &str) -> Option<String> {
    let mut command = Command::new(program);
    if std::env::var_os("PATH").is_none() {
        // The first process of a VM has none.
        command.env("PATH", carry::PATH);
    }
    let output = output(command.arg(argument), VERSION_DEADLINE).ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .next()
        .map(|line| line.trim().to_owned())
        .filter(|line| !line.is_empty())
}

/// Runs a program to its end within a deadline, with nothing to read, and takes
/// what it prints.
pub(crate) fn output(command: &mut Command, within: Duration) -> io::Result<Output> {
    let mut printed = in_memory()?;
    command.stdin(Stdio::null()).stdout(printed.try_clone()?);
    let (status, stderr) = end(command, within)?;
    Ok(Output {
        status,
        stdout: content(&mut printed)?,
        stderr,
    })
}

/// Runs a program to its end within a deadline; what it said last on standard
/// error is part of the error.
pub(crate) fn run(mut command: Command, within: Duration) -> Result<(), ProgramError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let failed = |source| ProgramError {
        program: program.clone(),
        source,
    };
    let (status, words) = end(&mut command, within).map_err(failed)?;
    if status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&words);
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty());
    Err(failed(io::Error::other(format!(
        "it ended with {status}: {}",
        last.unwrap_or("it said nothing")
    ))))
}

/// How a program ended, and all that it said on standard error.
fn end(command: &mut Command, within: Duration) -> io::Result<(ExitStatus, Vec<u8>)> {
    let mut words = in_memory()?;
    // Ctrl-C is the controller's alone.
    command.stderr(words.try_clone()?).process_group(0);
    tare_sys::die_with_parent(command);
    let mut child = seat::away(|| command.spawn())?;
    let status = end_within(&mut child, within)?;
    Ok((status, content(&mut words)?))
}

/// Waits for a child, and ends it at the deadline. The user's wish to stop is not
/// looked at: boxes are ended by such programs after it.
fn end_within(child: &mut Child, within: Duration) -> io::Result<ExitStatus> {
    let deadline = Instant::now() + within;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            let seconds = within.as_secs();
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("no end within {seconds} s"),
            ));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A file for what is said: a box may have no folder for one.
fn in_memory() -> io::Result<File> {
    Ok(memfd_create("tare", MemfdFlags::CLOEXEC)?.into())
}

fn content(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_run_within_its_deadline() {
        let sleep = |time: &str| {
            let mut command = Command::new("sleep");
            command.arg(time);
            command
        };
        run(sleep("0"), Duration::from_secs(10)).unwrap();
        let started = Instant::now();
        assert!(run(sleep("60"), Duration::from_millis(50)).is_err());
        assert!(started.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn the_last_words_of_a_program_that_fails_are_told() {
        let mut command = Command::new("ls");
        command.arg("/there is none");
        let error = run(command, Duration::from_secs(10)).unwrap_err().to_string();
        assert!(
            error.contains("run ls") && error.contains("/there is none"),
            "{error}"
        );
    }
}
