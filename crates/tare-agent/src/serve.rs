//! Serving requests: one at a time, until the link ends.
//!
//! It is silent until asked, serves one request at a time, and ends with its
//! link. Kernels and commands run in processes of their own, so that it stays
//! small and so that a crash of theirs is only an answer.

use crate::confined;
use crate::gate::Gates;
use crate::init::{self, MachineRoot};
use crate::inner::{Inner, Launcher};
use crate::line::Line;
use crate::port::{LinkSource, Port};
use crate::refusal::Refusal;
use crate::root::{self, HostRoot};
use crate::{facts, files, process, work};
use rustix::system::sethostname;
use std::io::Write as _;
use std::path::PathBuf;
use tare_box::places::Work;
use tare_box::{build_id, control_cpu, interface, kernel};
use tare_wire::frame::{Frame, Head, Kind};
use tare_wire::protocol::{ErrorCode, Reply, Request, VERSION};

/// How the agent is to run.
#[derive(Debug, Default)]
pub struct Options {
    pub link: LinkSource,
    /// Whether it is the first process of a VM: it then mounts, loads modules
    /// and ends the machine.
    pub init: bool,
    /// Where commands then start; absent: in the root.
    pub work: Option<Work>,
    /// The root that it then takes.
    pub machine_root: MachineRoot,
    /// Whether a VM's disks hold an image for boxes in it and their files.
    pub holds_image: bool,
    /// The root that it takes on the host's kernel; absent: it keeps its own.
    pub host_root: Option<HostRoot>,
    /// Whether it has no rights on the host and sees nothing of it: with a root it starts itself anew there,
    /// without one it is there.
    pub is_confined: bool,
    /// A file that is its `/etc/hosts` in a network of its own on the host's kernel; absent: it keeps the host's.
    pub own_network: Option<PathBuf>,
    /// What its box calls itself, where that is for it to say.
    pub hostname: Option<String>,
    /// Whether it ends the machine by powering it off rather than by a reset.
    pub power_off: bool,
    /// The address of the machine's network interface, if it has one.
    pub address: Option<interface::Address>,
}

/// Serves until the link ends or the controller says quit.
///
/// # Errors
/// If the link cannot be opened or a frame is malformed.
pub fn run(options: &Options, launcher: Option<Launcher>) -> std::io::Result<()> {
    if let Some(hosts) = &options.own_network {
        root::leave_network(hosts)?;
    }
    if options.init {
        init::prepare(&options.machine_root)?;
        options.holds_image.then(init::show_image).transpose()?;
        options.work.map_or(Ok(()), work::enter)?;
        // A machine without it runs what needs no network.
        let _ = interface::raise_loopback();
        options
            .address
            .map_or(Ok(()), interface::configure)
            .map_err(std::io::Error::other)?;
    }
    if let Some(name) = &options.hostname {
        sethostname(name.as_bytes()).map_err(|e| root::told("set the host name", &e.into()))?;
    }
    match (&options.host_root, options.is_confined) {
        (Some(root), true) => return confined::serve_in(root),
        (Some(root), false) => root.enter()?,
        (None, true) => confined::enter()?,
        (None, false) => {}
    }
    let served = Port::open(&options.link).and_then(|port| {
        Agent {
            port,
            owns_clock: options.init,
            inner: Inner::new(launcher),
            line: None,
            gates: Gates::default(),
        }
        .serve()
    });
    process::end_children(&[]);
    if options.init {
        if let Err(e) = &served {
            let _ = writeln!(std::io::stderr().lock(), "tare-agent: {e}");
        }
        init::end(options.power_off);
    }
    served
}

struct Agent {
    port: Port,
    owns_clock: bool,
    inner: Inner,
    /// A second way to the controller, while it is offered.
    line: Option<Line>,
    gates: Gates,
}

impl Agent {
    fn serve(mut self) -> std::io::Result<()> {
        // Orphans of a workload become our children, so that they can be ended with it.
        let _ = rustix::process::set_child_subreaper(rustix::process::Pid::from_raw(1));
        // A third of what the agent has in memory is text of its start.
        tare_sys::release_text();
        while let Some(frame) = self.next_frame()? {
            if frame.head.kind == Kind::Relay {
                self.inner.forward(frame.head.channel, &frame.payload);
                continue;
            }
            self.port.answer_to(frame.head.number);
            let request = match parse(&frame) {
                Ok(request) => request,
                Err(refusal) => {
                    self.answer(&Err(refusal))?;
                    continue;
                }
            };
            let answer = self.handle(&request)?;
            self.answer(&answer)?;
            if request == Request::Quit {
                break;
            }
        }
        Ok(())
    }

    /// The next frame of the controller's; what inner boxes say meanwhile is
    /// handed on to it. `None` when the link has ended.
    fn next_frame(&mut self) -> std::io::Result<Option<Frame>> {
        while !self.inner.is_empty() {
            if let Some(frame) = self.port.arrived()? {
                return Ok(Some(frame));
            }
            let (asked, said) = self.inner.wait(self.port.hang_up())?;
            for channel in said {
                let bytes = self.inner.take(channel);
                self.port.relay(channel, &bytes)?;
            }
            if asked {
                break;
            }
        }
        self.port.receive()
    }

    fn answer(&mut self, answer: &Result<Reply, Refusal>) -> std::io::Result<()> {
        let reply = match answer {
            Ok(reply) => reply,
            Err(Refusal { code, message }) => &Reply::Error {
                code: *code,
                message: message.clone(),
            },
        };
        self.port.send(Kind::Reply, &serde_json::to_vec(reply)?)
    }

    /// Carries out a request. The outer error is the link's and ends the agent.
    fn handle(&mut self, request: &Request) -> std::io::Result<Result<Reply, Refusal>> {
        Ok(match request {
            // The answer names this build whatever the question named: the controller judges.
            Request::Hello { control_cpu, .. } => {
                control_cpu.iter().copied().for_each(control_cpu::take);
                Ok(hello())
            }
            Request::Facts => Ok(Reply::Facts(control_cpu::away(facts::facts))),
            Request::Counters => Ok(Reply::Counters(facts::counters())),
            Request::Killed => Ok(Reply::Killed {
                processes: facts::killed(),
            }),
            Request::Kernel { spec, bounds } => {
                let spared = self.spared();
                return process::kernel(&mut self.port, "run-kernel", spec, bounds, &spared);
            }
            Request::Proof { spec, bounds } => {
                let spared = self.spared();
                return process::kernel(&mut self.port, "run-proof", spec, bounds, &spared);
            }
            Request::Command(command) => {
                let spared = self.spared();
                return process::command(&mut self.port, command, &spared);
            }
            Request::Start {
                process,
                task,
                bounds,
            } => {
                return self.gates.start(&mut self.port, *process, task, bounds);
            }
            Request::Go { process, order } => {
                let spared = self.spared();
                return self.gates.go(&mut self.port, *process, *order, &spared);
            }
            Request::Look { process } => return self.gates.look(&mut self.port, *process),
            Request::Stop { process } => {
                let spared = self.spared();
                return self.gates.stop(&mut self.port, *process, &spared);
            }
            Request::ReadFile { path, max_bytes } => return files::send(&mut self.port, path, *max_bytes),
            Request::WriteFile { path, mode, bytes } => {
                return files::take(&mut self.port, path, *mode, *bytes);
            }
            Request::TakeFile { name, path, mode } => files::take_shared(name, path, *mode),
            Request::Launch { channel, inner } => self.inner.launch(*channel, inner),
            Request::Freeze { channel } => self.inner.set_frozen(*channel, true),
            Request::Thaw { channel } => self.inner.set_frozen(*channel, false),
            Request::SetClock { unix_ns } => self.set_clock(*unix_ns),
            Request::DropCaches => drop_caches(),
            Request::OfferLine => self.offer_line(),
            Request::TakeLine { taken, control_cpu } => {
                if let Some(line) = self.line.take().filter(|_| *taken) {
                    self.port.move_to(line.taken())?;
                    control_cpu.iter().copied().for_each(control_cpu::take);
                }
                Ok(Reply::LineTaken)
            }
            Request::Quit => Ok(Reply::Bye),
        })
    }

    /// Children that no workload left behind: engines of inner boxes, processes at
    /// their gates.
    fn spared(&self) -> Vec<rustix::process::Pid> {
        let mut spared = self.inner.engines();
        spared.extend(self.gates.pids());
        spared
    }

    fn offer_line(&mut self) -> Result<Reply, Refusal> {
        let line = Line::new()
            .map_err(|e| Refusal::new(ErrorCode::Unsupported, format!("connect two sockets: {e}")))?;
        let reply = line.offer();
        self.line = Some(line);
        Ok(reply)
    }

    fn set_clock(&self, unix_ns: u64) -> Result<Reply, Refusal> {
        if !self.owns_clock {
            return Ok(Reply::ClockSet);
        }
        facts::set_wall_clock(unix_ns)
            .map(|()| Reply::ClockSet)
            .map_err(|e| Refusal::new(ErrorCode::Unsupported, format!("set the wall clock: {e}")))
    }
}

fn drop_caches() -> Result<Reply, Refusal> {
    kernel::drop_caches()
        .map(|()| Reply::CachesDropped)
        .map_err(|e| Refusal::new(ErrorCode::Unsupported, e.to_string()))
}

fn hello() -> Reply {
    Reply::Hello {
        protocol: VERSION,
        build: build_id::own().to_owned(),
        pid: std::process::id(),
    }
}

fn parse(frame: &Frame) -> Result<Request, Refusal> {
    let bad = |message: String| Refusal::new(ErrorCode::BadRequest, message);
    let Head { kind, channel, .. } = frame.head;
    if channel != 0 {
        return Err(bad(format!("no inner box on channel {channel}")));
    }
    if kind != Kind::Request {
        return Err(bad(format!("a {kind:?} frame instead of a request")));
    }
    serde_json::from_slice(&frame.payload).map_err(|e| bad(format!("unreadable request: {e}")))
}
