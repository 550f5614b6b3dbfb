//! Programs of the host's that make images: run without a shell, in an environment of their own,
//! to their end or to a deadline.

use crate::{ImageError, Stop};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Where the programs of administrators are, which a user's path may lack.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// What of the environment says how to reach other hosts.
const KEPT: [&str; 6] = [
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
];
/// How often the wish to stop is asked for.
const ASK: Duration = Duration::from_millis(50);
/// How long a program may take to clear up when it is told to end.
const LAST: Duration = Duration::from_secs(10);
/// What is told of a failed program's output: as many lines, and as much of its end is read.
const LINES: usize = 6;
const END_BYTES: usize = 16 * 1024;

/// How long a program may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Time {
    pub most: Duration,
    pub stop: Stop,
}

/// A program that runs. It is ended when dropped, with all that it started.
pub(crate) struct Running {
    name: String,
    child: Child,
    time: Time,
    begin: Instant,
    output: PathBuf,
    has_ended: bool,
}

/// A command with a clean environment.
pub(crate) fn command(program: &OsStr, temporary: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", PATH)
        .env("LC_ALL", "C.UTF-8")
        .env("TMPDIR", temporary);
    for name in KEPT {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .current_dir("/")
        .process_group(0);
    command
}

/// Refuses a program that is not there, before minutes go into what it needs.
pub(crate) fn find(program: &OsStr) -> Result<(), ImageError> {
    let mut folders = std::env::split_paths(PATH);
    if folders.any(|folder| folder.join(program).is_file()) {
        return Ok(());
    }
    Err(ImageError::Start {
        program: program.to_string_lossy().into_owned(),
        source: io::ErrorKind::NotFound.into(),
    })
}

impl Running {
    /// Starts a program; what it says on its standard error goes to a file.
    pub fn start(command: Command, output: &Path, time: Time) -> Result<Self, ImageError> {
        let file = File::create(output).map_err(ImageError::file("make", output))?;
        Self::start_with(command, file, output, time)
    }

    /// Starts a program that says what goes wrong on its standard output: that goes to the file as well.
    pub fn start_telling(mut command: Command, output: &Path, time: Time) -> Result<Self, ImageError> {
        let file = File::create(output).map_err(ImageError::file("make", output))?;
        command.stdout(file.try_clone().map_err(ImageError::file("open", output))?);
        Self::start_with(command, file, output, time)
    }

    fn start_with(mut command: Command, file: File, output: &Path, time: Time) -> Result<Self, ImageError> {
        let name = command.get_program().to_string_lossy().into_owned();
        let child = command.stderr(file).spawn().map_err(|source| ImageError::Start {
            program: name.clone(),
            source,
        })?;
        Ok(Self {
            name,
            child,
            time,
            begin: Instant::now(),
            output: output.to_owned(),
            has_ended: false,
        })
    }

    /// What it writes to its standard output.
    pub fn stdout(&mut self) -> Option<Stdout> {
        let inner = self.child.stdout.take()?;
        Some(Stdout {
            inner,
            end: self.begin + self.time.most,
            stop: self.time.stop,
        })
    }

    /// Waits until it has succeeded.
    pub fn wait(mut self) -> Result<(), ImageError> {
        loop {
            let status = self.child.try_wait().map_err(|source| ImageError::Start {
                program: self.name.clone(),
                source,
            })?;
            if let Some(status) = status {
                self.has_ended = true;
                return self.judge(status);
            }
            if (self.time.stop)() {
                return Err(ImageError::Stopped);
            }
            if self.begin.elapsed() >= self.time.most {
                return Err(self.failed(format!("was stopped after {} s", self.time.most.as_secs())));
            }
            std::thread::sleep(ASK);
        }
    }

    fn judge(&self, status: ExitStatus) -> Result<(), ImageError> {
        if status.success() {
            return Ok(());
        }
        Err(self.failed(format!("failed ({status})")))
    }

    fn failed(&self, how: String) -> ImageError {
        ImageError::Program {
            program: self.name.clone(),
            how,
            last: last_lines(&self.output),
            output: self.output.clone(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        // One that is gone by now is as well.
        let tell = |signal| group.is_some_and(|group| kill_process_group(group, signal).is_ok());
        tell(Signal::TERM);
        let begin = Instant::now();
        while begin.elapsed() < LAST && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(ASK);
        }
        tell(Signal::KILL);
        drop(self.child.wait());
    }
}

/// The standard output of a program, within its deadline.
pub(crate) struct Stdout {
    inner: ChildStdout,
    end: Instant,
    stop: Stop,
}

impl Read for Stdout {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let ask = Timespec {
            tv_sec: 0,
            tv_nsec: ASK.subsec_nanos().into(),
        };
        loop {
            let mut fds = [PollFd::new(&self.inner, PollFlags::IN)];
            match poll(&mut fds, Some(&ask)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return self.inner.read(into),
                Err(e) => return Err(e.into()),
            }
            if (self.stop)() || Instant::now() >= self.end {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }
}

/// The last lines of what a program said, without what could drive a terminal.
fn last_lines(output: &Path) -> String {
    let all = fs::read(output).unwrap_or_default();
    let end = all.get(all.len().saturating_sub(END_BYTES)..).unwrap_or_default();
    let text = String::from_utf8_lossy(end);
    let printable = |line: &str| line.chars().filter(|c| !c.is_control()).collect::<String>();
    let lines: Vec<String> = text
        .lines()
        .map(printable)
        .filter(|line| !line.trim().is_empty())
        .collect();
    let last = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default();
    if last.is_empty() {
        "nothing".to_owned()
    } else {
        last.join(" / ")
    }
}
