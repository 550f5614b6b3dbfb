//! Servers: processes that others talk to. One is started, waited for until it serves, and
//! lives until it is stopped; it does no slice.

use super::Port;
use super::process::{self, OWN_BINARY};
use crate::seat;
use crate::words::Words;
use regex_lite::RegexBuilder;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use tare_model::frame::{Kind, MAX_PAYLOAD};
use tare_model::protocol::{Bounds, ExitStatus, Exited, Reply, Served};
use tare_model::workload::Ready;

/// Bytes that are kept of what a server prints, from the beginning on.
const SAID: usize = 64 << 10;
/// Time between two looks at a server that does not serve yet.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// A process that others talk to.
pub(super) struct Server {
    child: Child,
    said: Words,
    max_bytes: u64,
    started: Instant,
}

/// What came of waiting for a server.
pub(super) enum Began {
    /// It serves, at this port if it told one.
    Serves(Option<u16>),
    /// It ended instead, or was ended when its time was over.
    Ended(ExitStatus),
}

impl Server {
    /// Starts one; it ends with the agent.
    pub(super) fn start(run: &Served, bounds: &Bounds) -> io::Result<Self> {
        let mut command = command_of(run, bounds)?;
        let said = Words::of_at_most(SAID)?;
        command.stdout(said.writer()?).stderr(said.writer()?);
        tare_sys::die_with_parent(&mut command);
        Ok(Self {
            child: seat::away(|| command.spawn())?,
            said,
            max_bytes: bounds.max_stderr_bytes,
            started: Instant::now(),
        })
    }

    pub(super) fn pid(&self) -> Option<Pid> {
        process::pid_of(&self.child)
    }

    /// Waits until it serves. An error if the link hung up.
    pub(super) fn wait(&mut self, port: &Port, ready: &Ready, bounds: &Bounds) -> io::Result<Began> {
        let deadline = self.started + Duration::from_nanos(bounds.timeout_ns);
        loop {
            if let Some(told) = self.is_ready(ready) {
                return Ok(Began::Serves(told));
            }
            if let Some(status) = self.ended() {
                return Ok(Began::Ended(status));
            }
            if Instant::now() > deadline {
                self.kill();
                return Ok(Began::Ended(ExitStatus::TimedOut));
            }
            rest(port)?;
        }
    }

    /// Whether it serves, and at which port if it told one.
    fn is_ready(&self, ready: &Ready) -> Option<Option<u16>> {
        let Ready::Line(pattern) = ready else {
            return None;
        };
        let pattern = RegexBuilder::new(pattern).multi_line(true).build().ok()?;
        let said = self.said.written();
        let said = String::from_utf8_lossy(&said);
        // A line that is under way may have half of its port.
        let (lines, _) = said.rsplit_once('\n')?;
        let found = pattern.captures(lines)?;
        Some(found.get(1).and_then(|port| port.as_str().parse().ok()))
    }

    /// How it ended, if it did by itself.
    fn ended(&mut self) -> Option<ExitStatus> {
        let status = match self.child.try_wait() {
            Ok(None) => return None,
            Ok(Some(status)) => status,
            // It was reaped with what a workload had left behind.
            Err(_) => return Some(ExitStatus::Code(0)),
        };
        Some(match status.code() {
            Some(code) => ExitStatus::Code(code),
            None => ExitStatus::Signal(status.signal().unwrap_or(0)),
        })
    }

    fn kill(&mut self) {
        process::end_child(&self.child);
        let _ = self.child.wait();
    }

    /// Ends it. One that had ended by itself has the status that it had, any other 0.
    pub(super) fn stop(&mut self, port: &mut Port) -> io::Result<Reply> {
        let status = self.ended().unwrap_or_else(|| {
            self.kill();
            ExitStatus::Code(0)
        });
        self.tell_end(port, status)
    }

    /// Tells how it ended, after all that it said.
    pub(super) fn tell_end(&self, port: &mut Port, status: ExitStatus) -> io::Result<Reply> {
        let mut said = self.said.written();
        let kept = usize::try_from(self.max_bytes)
            .unwrap_or(usize::MAX)
            .min(said.len());
        let lost = said.split_off(kept);
        for chunk in said.chunks(MAX_PAYLOAD) {
            port.send(Kind::Stderr, chunk)?;
        }
        Ok(Reply::Exited(Exited {
            status,
            usage: process::total(&[], self.started.elapsed()),
            repetitions: Vec::new(),
            stdout_lost_bytes: 0,
            stderr_lost_bytes: lost.len() as u64,
        }))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.ended().is_none() {
            self.kill();
        }
    }
}

fn command_of(run: &Served, bounds: &Bounds) -> io::Result<Command> {
    match run {
        Served::Kernel { spec, at } => {
            let mut command = Command::new(OWN_BINARY);
            command.args(["run-server", &serde_json::to_string(spec)?, &at.to_string()]);
            process::confine(&mut command, &[], bounds);
            Ok(command)
        }
    }
}

/// Waits a moment; an error if the link hung up meanwhile.
fn rest(port: &Port) -> io::Result<()> {
    let mut fds = [PollFd::from_borrowed_fd(port.hang_up(), PollFlags::empty())];
    match poll(&mut fds, Timespec::try_from(LOOK_EVERY).ok().as_ref()) {
        Ok(0) | Err(rustix::io::Errno::INTR) => Ok(()),
        Ok(_) => Err(process::controller_is_gone()),
        Err(e) => Err(e.into()),
    }
}
