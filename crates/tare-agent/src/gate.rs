//! Processes that work in slices: each was started, waits at its gate, and does a
//! slice of work when it is told to. Any number of them may wait at a time, with the servers
//! that they talk to.

use crate::not_started;
use crate::port::Port;
use crate::process::{self, Ended, Failed, Output, Startable, Waited};
use crate::refusal::Refusal;
use crate::server::{Began, Server};
use rustix::process::Pid;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tare_box::control_cpu;
use tare_wire::gate::{Order, Part, Slice};
use tare_wire::kernel::KernelSpec;
use tare_wire::protocol::{Bounds, CommandTask, ErrorCode, ExitStatus, Exited, Reply, Task};
use tare_wire::time::nanoseconds;
use tare_wire::usage::ProcessUsage;

/// Said by a kernel when it is set up and waits for its first order.
const READY: &[u8] = b"ready";
/// Longest answer of a kernel that is waited for; beyond it something is wrong.
const MAX_LINE: usize = 64 << 10;

/// An answer to a request, or why there is none. The outer error is the link's.
type Answered = io::Result<Result<Reply, Refusal>>;

/// The processes under way, by the controller's numbers.
#[derive(Default)]
pub(crate) struct Gates {
    processes: BTreeMap<u16, Gated>,
}

/// One of them.
enum Gated {
    Kernel(KernelProcess),
    Command(Box<Repeated>),
    Server(Server),
}

impl Gates {
    /// Processes that must not be taken for what a workload left behind.
    pub(crate) fn pids(&self) -> Vec<Pid> {
        let pid = |gated: &Gated| match gated {
            Gated::Kernel(kernel) => process::pid_of(&kernel.child),
            Gated::Command(command) => command.command.pid(),
            Gated::Server(server) => server.pid(),
        };
        self.processes.values().filter_map(pid).collect()
    }

    /// Starts a process and waits until it is at its gate.
    pub(crate) fn start(&mut self, port: &mut Port, number: u16, task: &Task, bounds: &Bounds) -> Answered {
        if self.processes.contains_key(&number) {
            let message = format!("process {number} is under way already");
            return Ok(Err(Refusal::new(ErrorCode::BadRequest, message)));
        }
        let started = match task {
            Task::Kernel(spec) => KernelProcess::start(&words(spec, None)?, bounds).map(Gated::Kernel),
            Task::Client { spec, server } => {
                KernelProcess::start(&words(spec, Some(*server))?, bounds).map(Gated::Kernel)
            }
            Task::Load { spec, server } => {
                let spec = serde_json::to_string(spec)?;
                KernelProcess::start(&["run-load".to_owned(), spec, server.to_string()], bounds)
                    .map(Gated::Kernel)
            }
            Task::Command(command) => Ok(Gated::Command(Box::new(Repeated::new(command, bounds)))),
            Task::Server { run, ready } => Server::start(run, ready, bounds).map(Gated::Server),
        };
        let mut gated = match started {
            Ok(gated) => gated,
            Err(e) => {
                let code = match e.kind() {
                    io::ErrorKind::AddrInUse => ErrorCode::Taken,
                    _ => ErrorCode::CannotStart,
                };
                return Ok(Err(Refusal::new(code, e.to_string())));
            }
        };
        let reply = match (&mut gated, task) {
            (Gated::Kernel(kernel), _) => match kernel.wait_ready(port)? {
                Some(ended) => return kernel.tell_end(port, ended),
                None => Reply::Started,
            },
            (Gated::Server(server), _) => match server.wait(port, bounds)? {
                Began::Ended(status) => return server.tell_end(port, status).map(Ok),
                Began::Serves(port) => Reply::Serves { port },
            },
            _ => Reply::Started,
        };
        self.processes.insert(number, gated);
        Ok(Ok(reply))
    }

    /// Lets a process do a slice of work. One that ends instead is gone.
    pub(crate) fn go(&mut self, port: &mut Port, number: u16, order: Order, spared: &[Pid]) -> Answered {
        let Some(gated) = self.processes.get_mut(&number) else {
            return Ok(Err(unknown(number)));
        };
        let answered = match gated {
            Gated::Kernel(kernel) => kernel.go(port, order),
            Gated::Command(command) => command.go(port, order, spared),
            Gated::Server(_) => {
                let message = format!("process {number} is a server, which does no slice");
                return Ok(Err(Refusal::new(ErrorCode::BadRequest, message)));
            }
        }?;
        if !matches!(answered, Ok(Reply::Slice(_))) {
            self.processes.remove(&number);
        }
        Ok(answered)
    }

    /// Tells whether a server still serves. One that ended instead is gone.
    pub(crate) fn look(&mut self, port: &mut Port, number: u16) -> Answered {
        let Some(Gated::Server(server)) = self.processes.get_mut(&number) else {
            return Ok(Err(unknown(number)));
        };
        let Some(status) = server.ended() else {
            return Ok(Ok(Reply::Serves { port: None }));
        };
        let told = server.tell_end(port, status)?;
        self.processes.remove(&number);
        Ok(Ok(told))
    }

    /// Ends a process and tells how it ended. What a server left running is ended with it.
    pub(crate) fn stop(&mut self, port: &mut Port, number: u16, spared: &[Pid]) -> Answered {
        match self.processes.remove(&number) {
            Some(Gated::Kernel(mut kernel)) => kernel.stop(port),
            Some(Gated::Command(command)) => command.stop(port),
            Some(Gated::Server(mut server)) => {
                let reply = server.stop(port)?;
                process::end_children(spared);
                Ok(Ok(reply))
            }
            None => Ok(Err(unknown(number))),
        }
    }
}

fn unknown(number: u16) -> Refusal {
    Refusal::new(ErrorCode::BadRequest, format!("no process {number} is under way"))
}

/// Time that a process may use: what passes while it waits at its gate is not counted.
struct Allowance {
    left: Duration,
}

impl Allowance {
    fn new(bounds: &Bounds) -> Self {
        Self {
            left: Duration::from_nanos(bounds.timeout_ns),
        }
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.left
    }

    fn spend(&mut self, since: Instant) {
        self.left = self.left.saturating_sub(since.elapsed());
    }
}

/// How this binary is told to run a kernel at its gate, perhaps as the client of a server.
fn words(spec: &KernelSpec, server: Option<SocketAddr>) -> io::Result<Vec<String>> {
    let kernel = ["run-kernel", &serde_json::to_string(spec)?, "--gate"].map(str::to_owned);
    let client = server.map(|server| ["--server".to_owned(), server.to_string()]);
    Ok(kernel.into_iter().chain(client.into_iter().flatten()).collect())
}

/// A kernel or a load at its gate: this binary again, told to work in slices.
struct KernelProcess {
    child: Child,
    /// What it printed and was not taken yet.
    said: Vec<u8>,
    output: Output,
    allowance: Allowance,
    started: Instant,
}

impl KernelProcess {
    fn start(words: &[String], bounds: &Bounds) -> io::Result<Self> {
        let mut command = Command::new(process::OWN_BINARY);
        command.args(words);
        process::confine(&mut command, &[], bounds);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let started = Instant::now();
        Ok(Self {
            child: control_cpu::away(|| command.spawn())?,
            said: Vec::new(),
            output: Output::new(bounds),
            allowance: Allowance::new(bounds),
            started,
        })
    }

    /// Waits until it is set up; how it ended if it did.
    fn wait_ready(&mut self, port: &Port) -> io::Result<Option<Ended>> {
        match self.line(port)? {
            Ok(line) if line == READY => Ok(None),
            Ok(_) => Ok(Some(self.end(false))),
            Err(ended) => Ok(Some(ended)),
        }
    }

    fn go(&mut self, port: &mut Port, order: Order) -> Answered {
        let mut line = serde_json::to_vec(&order)?;
        line.push(b'\n');
        // A kernel that is gone is told of when its answer does not come.
        if let Some(stdin) = &mut self.child.stdin {
            let _ = stdin.write_all(&line);
        }
        match self.line(port)? {
            Ok(line) => Ok(serde_json::from_slice::<Slice>(&line)
                .map(Reply::Slice)
                .map_err(|e| Refusal::new(ErrorCode::BadRequest, format!("a slice cannot be read: {e}")))),
            Err(ended) => self.tell_end(port, ended),
        }
    }

    /// Its next line; how it ended if it did instead, or ran over its time.
    fn line(&mut self, port: &Port) -> io::Result<Result<Vec<u8>, Ended>> {
        let begun = Instant::now();
        let deadline = self.allowance.deadline();
        loop {
            if let Some(end) = self.said.iter().position(|byte| *byte == b'\n') {
                let rest = self.said.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.said, rest);
                line.truncate(end);
                self.allowance.spend(begun);
                return Ok(Ok(line));
            }
            let waited = process::wait_for_output(&mut self.child, port, deadline, &mut self.output)?;
            let in_time = match waited {
                Waited::Said(bytes) if self.said.len() < MAX_LINE => {
                    self.said.extend_from_slice(&bytes);
                    continue;
                }
                Waited::Ended => true,
                Waited::Said(_) | Waited::TooLate => false,
            };
            return Ok(Err(self.end(in_time)));
        }
    }

    /// Reaps it, after it was killed if it is not ending by itself.
    fn end(&mut self, by_itself: bool) -> Ended {
        if !by_itself {
            process::end_child(&self.child);
        }
        process::reap(&mut self.child, by_itself, self.started, &mut self.output)
    }

    /// Lets it check its answer and end: its report is its last line.
    fn stop(&mut self, port: &mut Port) -> Answered {
        self.child.stdin = None;
        let mut report = Vec::new();
        let ended = loop {
            match self.line(port)? {
                Ok(line) => report = line,
                Err(ended) => break ended,
            }
        };
        if report.is_empty() {
            report.append(&mut self.said);
        }
        self.output.keep_stdout(&report);
        self.tell_end(port, ended)
    }

    fn tell_end(&mut self, port: &mut Port, ended: Ended) -> Answered {
        self.output.send(port)?;
        Ok(Ok(Reply::Exited(process::exited(
            ended.status,
            process::total(
                &[ended.repetition],
                Duration::from_nanos(ended.repetition.wall_ns),
            ),
            Vec::new(),
            &self.output,
        ))))
    }
}

impl Drop for KernelProcess {
    fn drop(&mut self) {
        // Also where the link broke in the middle of a slice.
        if matches!(self.child.try_wait(), Ok(None)) {
            process::end_child(&self.child);
            let _ = self.child.wait();
        }
    }
}

/// A command of which a unit of work is one repetition.
struct Repeated {
    task: CommandTask,
    command: Startable,
    output: Output,
    allowance: Allowance,
    used: ProcessUsage,
    left_running: u32,
}

impl Repeated {
    fn new(task: &CommandTask, bounds: &Bounds) -> Self {
        Self {
            task: task.clone(),
            command: Startable::new(task, bounds),
            output: Output::new(bounds),
            allowance: Allowance::new(bounds),
            used: ProcessUsage::NONE,
            left_running: 0,
        }
    }

    fn go(&mut self, port: &mut Port, order: Order, spared: &[Pid]) -> Answered {
        let begun = Instant::now();
        let deadline = self.allowance.deadline();
        let mut part = Part {
            work: 0.0,
            wall_ns: 0,
            cpu_ns: 0,
        };
        for i in 0..order.lead.saturating_add(order.units) {
            let ended = match process::run_once(&mut self.command, port, deadline, &mut self.output, spared) {
                Ok(ended) => ended,
                Err(Failed::Start(e)) => {
                    let message = not_started::told(&self.task, &e);
                    return Ok(Err(Refusal::new(ErrorCode::CannotStart, message)));
                }
                Err(Failed::Link(e)) => return Err(e),
            };
            self.left_running += ended.left_running;
            if ended.status != ExitStatus::Code(0) {
                return self.tell_end(port, ended.status);
            }
            if i >= order.lead {
                part.work += 1.0;
                part.wall_ns += ended.repetition.wall_ns;
                part.cpu_ns += ended.repetition.user_ns + ended.repetition.system_ns;
                self.used = self.used.and(ended.repetition);
            }
        }
        self.allowance.spend(begun);
        let untimed_ns = nanoseconds(begun.elapsed()).saturating_sub(part.wall_ns);
        Ok(Ok(Reply::Slice(Slice {
            parts: vec![part],
            untimed_ns,
            load: None,
        })))
    }

    fn stop(&self, port: &mut Port) -> Answered {
        self.tell_end(port, ExitStatus::Code(0))
    }

    fn tell_end(&self, port: &mut Port, status: ExitStatus) -> Answered {
        self.output.send(port)?;
        Ok(Ok(Reply::Exited(Exited {
            left_running: self.left_running,
            ..process::exited(status, self.used, Vec::new(), &self.output)
        })))
    }
}
