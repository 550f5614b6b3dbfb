//! Programs of the host's that engines consist of: their versions, and runs to
//! their end within a deadline.

use crate::capture::Capture;
use crate::{carry, control_cpu};
use rustix::io::Errno;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

/// Time for a program to tell its version.
const VERSION_DEADLINE: Duration = Duration::from_secs(10);

/// Bytes that are kept of what a program prints: more than any has to tell us.
const PRINTED: usize = 1 << 20;
/// And of its messages.
const MESSAGES: usize = 64 << 10;

/// Why a program did not do what it was run for.
#[derive(Debug, thiserror::Error)]
#[error("cannot run {program}: {source}")]
pub struct ProgramError {
    /// The program, as it was named.
    pub program: String,
    /// That it did not start or did not end in time, or its last words.
    pub source: io::Error,
}

/// The first line that a program prints when asked for its version. An error of kind
/// `NotFound` where there is no such program; any other is no word about that.
pub fn version_of(program: &str, argument: &str) -> io::Result<String> {
    let mut command = Command::new(program);
    if std::env::var_os("PATH").is_none() {
        // The first process of a VM has none.
        command.env("PATH", carry::PATH);
    }
    let output = output(command.arg(argument), VERSION_DEADLINE)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().next().map(str::trim).unwrap_or_default();
    if line.is_empty() {
        return Err(io::Error::other("it reports no version"));
    }
    Ok(line.to_owned())
}

/// All that a command prints on standard output, then on standard error, whatever its status.
///
/// # Errors
/// If it cannot be started, or does not end within seconds.
pub fn told(argv: &[String]) -> io::Result<String> {
    let (program, arguments) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let output = output(Command::new(program).args(arguments), VERSION_DEADLINE)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(text(&output.stdout) + &text(&output.stderr))
}

/// Whether something failed for want of what there may be enough of the next time: what
/// is found out by it does not last.
pub fn is_shortage(error: &io::Error) -> bool {
    const SHORTAGES: [Errno; 5] = [
        Errno::MFILE,
        Errno::NFILE,
        Errno::NOMEM,
        Errno::AGAIN,
        Errno::NOSPC,
    ];
    let code = error.raw_os_error();
    SHORTAGES.iter().any(|e| Some(e.raw_os_error()) == code)
}

/// Runs a program to its end within a deadline, with nothing to read, and takes
/// what it prints.
pub fn output(command: &mut Command, within: Duration) -> io::Result<Output> {
    let printed = Capture::of_at_most(PRINTED)?;
    command.stdin(Stdio::null()).stdout(printed.writer()?);
    let (status, stderr) = end(command, within)?;
    Ok(Output {
        status,
        stdout: printed.written(),
        stderr,
    })
}

/// Runs a program to its end within a deadline; what it said last on standard
/// error is part of the error.
pub fn run(mut command: Command, within: Duration) -> Result<(), ProgramError> {
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
        last.unwrap_or("it printed nothing")
    ))))
}

/// How a program ended, and all that it said on standard error.
fn end(command: &mut Command, within: Duration) -> io::Result<(ExitStatus, Vec<u8>)> {
    let words = Capture::of_at_most(MESSAGES)?;
    // Ctrl-C is the controller's alone.
    command.stderr(words.writer()?).process_group(0);
    tare_sys::die_with_parent(command);
    let mut child = control_cpu::away(|| command.spawn())?;
    let status = end_within(&mut child, within)?;
    Ok((status, words.written()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_cannot_be_run_is_told_from_one_that_is_not_there() {
        use std::os::unix::fs::PermissionsExt;
        let kind = |program: &str| version_of(program, "--version").unwrap_err().kind();
        assert_eq!(kind("/nowhere/runc"), io::ErrorKind::NotFound);
        assert_eq!(kind("no-such-program-anywhere"), io::ErrorKind::NotFound);
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("runc");
        std::fs::write(&program, "#!/bin/sh").unwrap();
        let path = program.to_str().unwrap();
        assert_eq!(kind(path), io::ErrorKind::PermissionDenied);
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_ne!(kind(path), io::ErrorKind::NotFound);
        assert!(is_shortage(&Errno::MFILE.into()) && !is_shortage(&Errno::NOENT.into()));
    }

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
    fn a_program_that_prints_without_end_costs_no_more_than_is_kept() {
        let shell = |text: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", text]);
            command
        };
        // It ends when it is told that nothing more can be written.
        let ended = output(&mut shell("yes"), Duration::from_secs(10)).unwrap();
        assert!((1..=PRINTED).contains(&ended.stdout.len()));
        assert!(!ended.status.success());
        // Or does not look, and is ended.
        let mut deaf = shell("while :; do echo said; echo wrong >&2; done");
        let begun = Instant::now();
        let error = output(&mut deaf, Duration::from_millis(500)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(begun.elapsed() < Duration::from_secs(8));
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
