//! Servers: processes that others talk to. One is started, waited for until it serves, and
//! lives until it is stopped; it does no slice.

use crate::not_started;
use crate::port::Port;
use crate::process::{self, OWN_BINARY};
use crate::words::{Reading, Words};
use regex_lite::{Regex, RegexBuilder};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use tare_box::control_cpu;
use tare_wire::frame::{Kind, MAX_PAYLOAD};
use tare_wire::protocol::{Bounds, CommandTask, ExitStatus, Exited, Reply, Served};
use tare_wire::server::Ready;
use tare_wire::text::cleaned;

/// Room for a note behind words that are not all.
const NOTE: usize = 80;
/// Time between two looks at a server that does not serve yet.
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// The same where a look is a connection or a process.
const ASK_EVERY: Duration = Duration::from_millis(20);
/// Time for a connection to be taken. On a way that drops what it cannot deliver there is no
/// answer at all.
const TO_CONNECT: Duration = Duration::from_secs(1);
/// Time for a server to end by itself once it was asked to.
const TO_END: Duration = Duration::from_secs(5);

/// A process that others talk to.
pub(crate) struct Server {
    child: Child,
    sign: Sign,
    said: Said,
    max_bytes: u64,
    started: Instant,
    /// Where something takes connections, if not at the address where the server was to.
    elsewhere: Option<SocketAddr>,
}

/// Who reads what a server prints.
enum Said {
    /// The agent, as long as it looks at the words by itself.
    Looked(Words),
    /// A thread, once the server serves: the agent then waits for others.
    Read(Reading),
    /// Nobody any more.
    Over,
}

/// What came of waiting for a server.
pub(crate) enum Began {
    /// It serves, at this port if it told one.
    Serves(Option<u16>),
    /// It ended instead, or was ended when its time was over.
    Ended(ExitStatus),
}

/// What a server is known by to serve.
enum Sign {
    Line(Regex),
    Connection(SocketAddr),
    Command(Asked),
}

/// A command that is run until it ends with 0.
struct Asked {
    task: CommandTask,
    bounds: Bounds,
    running: Option<Child>,
}

impl Server {
    /// Starts one; it ends with the agent.
    pub(crate) fn start(run: &Served, ready: &Ready, bounds: &Bounds) -> io::Result<Self> {
        let sign = Sign::of(run, ready, bounds)?;
        sign.refuse_a_stranger()?;
        let mut command = command_of(run, bounds)?;
        let (said, writer) = Words::new()?;
        command.stdout(writer.try_clone()?).stderr(writer);
        tare_sys::die_with_parent(&mut command);
        Ok(Self {
            child: control_cpu::away(|| command.spawn())?,
            sign,
            said: Said::Looked(said),
            max_bytes: bounds.max_stderr_bytes,
            started: Instant::now(),
            elsewhere: None,
        })
    }

    pub(crate) fn pid(&self) -> Option<Pid> {
        process::pid_of(&self.child)
    }

    /// Waits until it serves. An error if the link hung up.
    pub(crate) fn wait(&mut self, port: &Port, bounds: &Bounds) -> io::Result<Began> {
        let deadline = self.started + Duration::from_nanos(bounds.timeout_ns);
        loop {
            let said: &[u8] = match &mut self.said {
                Said::Looked(words) => words.look(),
                Said::Read(_) | Said::Over => &[],
            };
            let told = self.sign.is_given(said);
            // What is connected to at the port of one that is gone is somebody else.
            if let Some(status) = self.ended() {
                return Ok(Began::Ended(status));
            }
            if let Some(told) = told {
                self.said = match std::mem::replace(&mut self.said, Said::Over) {
                    Said::Looked(words) => Said::Read(words.read()?),
                    other => other,
                };
                return Ok(Began::Serves(told));
            }
            if Instant::now() > deadline {
                self.elsewhere = self.sign.elsewhere();
                self.kill();
                return Ok(Began::Ended(ExitStatus::TimedOut));
            }
            rest(port, self.sign.pause())?;
        }
    }

    /// How it ended, if it did by itself.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        let status = match self.child.try_wait() {
            Ok(None) => return None,
            Ok(Some(status)) => status,
            Err(_) => return process::reaped_before(&self.child).or(Some(ExitStatus::Signal(0))),
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

    /// Ends it: by asking, and what is left of its group then by force. One that had ended by
    /// itself has the status that it had.
    pub(crate) fn stop(&mut self, port: &mut Port) -> io::Result<Reply> {
        if let Some(status) = self.ended() {
            process::end_child(&self.child);
            return self.tell_end(port, status);
        }
        process::ask_to_end(&self.child);
        let deadline = Instant::now() + TO_END;
        while self.ended().is_none() && Instant::now() < deadline {
            rest(port, LOOK_EVERY)?;
        }
        self.kill();
        self.tell_words(port)?;
        Ok(Reply::Stopped)
    }

    /// Tells how it ended, after all that it said.
    pub(crate) fn tell_end(&mut self, port: &mut Port, status: ExitStatus) -> io::Result<Reply> {
        let stderr_lost_bytes = self.tell_words(port)?;
        Ok(Reply::Exited(Exited {
            status,
            usage: process::total(&[], self.started.elapsed()),
            repetitions: Vec::new(),
            stdout_lost_bytes: 0,
            stderr_lost_bytes,
            left_running: 0,
        }))
    }

    /// Sends what it said; how much of it was too much.
    fn tell_words(&mut self, port: &mut Port) -> io::Result<u64> {
        let words = match std::mem::replace(&mut self.said, Said::Over) {
            Said::Looked(words) => Some(words),
            Said::Read(reading) => reading.end(),
            Said::Over => None,
        };
        let (mut said, mut lost) = words.map(Words::all).unwrap_or_default();
        let most = usize::try_from(self.max_bytes).unwrap_or(usize::MAX);
        if lost > 0 || said.len() > most {
            let room = most.saturating_sub(NOTE).min(said.len());
            lost += (said.len() - room) as u64;
            said.truncate(room);
            said.extend_from_slice(format!("\n[{lost} B more were printed, and are not kept]\n").as_bytes());
        }
        if let Some(at) = self.elsewhere {
            said.extend_from_slice(format!("\n[something takes connections at {at}]\n").as_bytes());
        }
        for chunk in said.chunks(MAX_PAYLOAD) {
            port.send(Kind::Stderr, chunk)?;
        }
        Ok(lost)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.ended().is_none() {
            self.kill();
        }
    }
}

impl Sign {
    fn of(run: &Served, ready: &Ready, bounds: &Bounds) -> io::Result<Self> {
        let unknown = |what: String| io::Error::new(io::ErrorKind::InvalidInput, what);
        match (ready, run) {
            (Ready::Line(pattern), _) => RegexBuilder::new(pattern)
                .multi_line(true)
                .build()
                .map(Self::Line)
                .map_err(|e| unknown(e.to_string())),
            (Ready::Tcp(at), _) => at
                .parse()
                .map(Self::Connection)
                .map_err(|e| unknown(format!("'{at}': {e}"))),
            (Ready::Command(argv), Served::Command(server)) => Ok(Self::Command(Asked {
                task: CommandTask {
                    argv: argv.clone(),
                    ..server.clone()
                },
                bounds: Bounds {
                    max_stdout_bytes: 0,
                    max_stderr_bytes: 0,
                    ..*bounds
                },
                running: None,
            })),
            (Ready::Command(_) | Ready::Later(_), _) => {
                Err(unknown("a sign of a later version of tare".to_owned()))
            }
        }
    }

    /// Refuses a port at which somebody serves already: a client would measure that one.
    fn refuse_a_stranger(&self) -> io::Result<()> {
        match self {
            Self::Connection(at) if TcpStream::connect_timeout(at, TO_CONNECT).is_ok() => {
                let message = format!("port {} is already in use at {}", at.port(), at.ip());
                Err(io::Error::new(io::ErrorKind::AddrInUse, message))
            }
            _ => Ok(()),
        }
    }

    /// Where something takes connections at the right port of another address.
    fn elsewhere(&self) -> Option<SocketAddr> {
        let Self::Connection(at) = self else { return None };
        [IpAddr::V4(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()]
            .into_iter()
            .map(|ip| SocketAddr::new(ip, at.port()))
            .find(|other| other != at && TcpStream::connect_timeout(other, TO_CONNECT).is_ok())
    }

    /// Whether it serves, and at which port if it told one.
    fn is_given(&mut self, said: &[u8]) -> Option<Option<u16>> {
        match self {
            Self::Line(pattern) => told_port(pattern, said),
            Self::Connection(at) => TcpStream::connect_timeout(at, TO_CONNECT).ok().map(|_| None),
            Self::Command(asked) => asked.ended_well().then_some(None),
        }
    }

    fn pause(&self) -> Duration {
        match self {
            Self::Line(_) => LOOK_EVERY,
            Self::Connection(_) | Self::Command(_) => ASK_EVERY,
        }
    }
}

/// The port in a line that a server printed, if it printed that line.
fn told_port(pattern: &Regex, said: &[u8]) -> Option<Option<u16>> {
    let said = cleaned(said);
    // A line that is under way may have half of its port.
    let (lines, _) = said.rsplit_once('\n')?;
    let found = pattern.captures(lines)?;
    Some(found.get(1).and_then(|port| port.as_str().parse().ok()))
}

impl Asked {
    /// Whether a process of it has ended with 0. One is under way at a time.
    fn ended_well(&mut self) -> bool {
        match &mut self.running {
            None => {
                self.running = started(&self.task, &self.bounds).ok();
                false
            }
            Some(running) => {
                let Some(status) = running.try_wait().transpose() else {
                    return false;
                };
                self.running = None;
                status.is_ok_and(|status| status.success())
            }
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if let Some(running) = &mut self.running {
            process::end_child(running);
            let _ = running.wait();
        }
    }
}

fn started(task: &CommandTask, bounds: &Bounds) -> io::Result<Child> {
    let mut command = command(task, bounds)?;
    tare_sys::die_with_parent(&mut command);
    control_cpu::away(|| command.spawn())
}

fn command_of(run: &Served, bounds: &Bounds) -> io::Result<Command> {
    match run {
        Served::Kernel { spec, at } => {
            let mut command = Command::new(OWN_BINARY);
            command.args(["run-server", &serde_json::to_string(spec)?, &at.to_string()]);
            process::confine(&mut command, &[], bounds);
            Ok(command)
        }
        Served::Command(task) => command(task, bounds),
    }
}

/// A command by the path of its program, which is looked for here: the environment of the
/// agent has no search path.
fn command(task: &CommandTask, bounds: &Bounds) -> io::Result<Command> {
    let (program, arguments) = task
        .argv
        .split_first()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a server needs a program"))?;
    let not_started = |e: io::Error| {
        let message = not_started::told(task, &e);
        io::Error::new(e.kind(), message)
    };
    let file = process::found(program, &task.env, task.cwd.as_deref()).map_err(not_started)?;
    let mut command = Command::new(file);
    command.arg0(program).args(arguments);
    process::dress(&mut command, task, bounds);
    Ok(command)
}

/// Waits a moment; an error if the link hung up meanwhile.
fn rest(port: &Port, pause: Duration) -> io::Result<()> {
    let mut fds = [PollFd::from_borrowed_fd(port.hang_up(), PollFlags::empty())];
    match poll(&mut fds, Timespec::try_from(pause).ok().as_ref()) {
        Ok(0) | Err(rustix::io::Errno::INTR) => Ok(()),
        Ok(_) => Err(process::controller_is_gone()),
        Err(e) => Err(e.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_whatever_terminals_read_beside_it() {
        let pattern = RegexBuilder::new(r"^listening on (\d+)$")
            .multi_line(true)
            .build()
            .unwrap();
        for said in [
            "listening on 36851\n",
            "loading\nlistening on 36851\r\n",
            "\u{feff}listening on 36851\n",
            "\x1b[32mlistening on \x1b[1m36851\x1b(B\x1b[m\n",
            "loading 10 %\rlistening on 36851\r",
        ] {
            assert_eq!(
                told_port(&pattern, said.as_bytes()),
                Some(Some(36851)),
                "{said:?}"
            );
        }
        assert_eq!(told_port(&pattern, b"loading\nlistening on 36"), None);
    }
}
