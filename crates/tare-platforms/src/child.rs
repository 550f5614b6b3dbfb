//! Boxes that are a child process of the controller: native, LXC, QEMU.

use super::contract::{ANSWER_DEADLINE, BoxError, BoxSpec, END_DEADLINE, RunningBox};
use super::directory::BoxDirectory;
use crate::link::{FdStream, Link, LinkError, Stream};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tare_host::capture::Capture;
use tare_host::carry;
use tare_host::cgroup::{Cgroup, Layout, Limits, Meter};
use tare_host::control_cpu;
use tare_host::host::with_noexec;
use tare_host::net::Network;
use tare_host::net::{HostReach, Port};

/// Bytes of an engine's last words that an error repeats.
const LAST_WORDS: usize = 400;
/// Bytes that are kept of what an engine or a console says, from the beginning on: more than
/// any says that fails, and nothing to fill a host with.
const SAID: usize = 64 << 10;
/// Time that an engine has to end whose agent never answered; a guest that spins for ever
/// does not end by itself.
const END_OF_THE_SILENT: Duration = Duration::from_secs(1);

/// A child process with its cgroup and its folder, killed and removed if it is
/// dropped on the way.
pub(super) struct ChildBox {
    child: Child,
    link: Option<Link>,
    cgroup: Option<Cgroup>,
    directory: BoxDirectory,
    /// Where files are put by the host.
    root: Option<PathBuf>,
    /// Where the agent copies files from.
    shared: Option<PathBuf>,
    address: Option<IpAddr>,
    /// What leads to it from the run's bridge.
    port: Option<Port>,
    hello_after: Duration,
    /// Whether its agent let all of its time pass without an answer.
    silent: bool,
    gone: bool,
}

/// What a box says beside its link.
pub(super) struct Said {
    /// Messages of its engine.
    stderr: Capture,
    /// The console of a machine whose engine is handed it.
    console: Option<Capture>,
}

impl Said {
    /// By a box that has no console, or writes it to a file in its folder.
    pub(super) fn by_engine() -> Result<Self, BoxError> {
        Ok(Self {
            stderr: words()?,
            console: None,
        })
    }

    /// By a machine, with what its engine is to write the console to.
    pub(super) fn by_machine() -> Result<(Self, OwnedFd), BoxError> {
        let console = words()?;
        let end = console.write_only().map_err(BoxError::host(NO_WORDS))?;
        let said = Self {
            console: Some(console),
            ..Self::by_engine()?
        };
        Ok((said, end))
    }

    /// The last words of all, the console's first.
    pub(super) fn last(&self, folder: &Path) -> String {
        let console = self.console.as_ref().map(Capture::written);
        let console = console.unwrap_or_else(|| end_of_file(&folder.join("console")));
        joined([console, self.stderr.written()])
    }
}

const NO_WORDS: &str = "make room for messages";

fn words() -> Result<Capture, BoxError> {
    Capture::of_at_most(SAID).map_err(BoxError::host(NO_WORDS))
}

/// How to start a child that is a box.
pub(super) struct Start<'a> {
    /// The program with its arguments; its standard error is kept.
    pub command: Command,
    /// Its files on the host, under the name of the box and of its cgroup.
    pub directory: BoxDirectory,
    /// Limits of a cgroup to start it in; absent where the engine makes its own.
    pub limits: Option<&'a Limits>,
    /// The build of the program in the box.
    pub build_id: &'static str,
    /// Time that the agent has to answer.
    pub hello_within: Duration,
    /// When the box was requested.
    pub requested: Instant,
}

impl ChildBox {
    /// Starts a child whose standard input and output are its agent's pipe.
    pub(super) fn over_pipes(mut start: Start<'_>) -> Result<Self, BoxError> {
        start.command.stdin(Stdio::piped()).stdout(Stdio::piped());
        Self::start(start, Said::by_engine()?, control_cpu::cpu(), |child, _| {
            pipes(child)
        })
    }

    /// Starts a child in its cgroup; `connect` gives the stream to its agent, which
    /// waits on `control_cpu`.
    pub(super) fn start<S: Stream + 'static>(
        mut start: Start<'_>,
        said: Said,
        control_cpu: Option<u32>,
        connect: impl FnOnce(&mut Child, &Said) -> io::Result<S>,
    ) -> Result<Self, BoxError> {
        let program = start.command.get_program().to_string_lossy().into_owned();
        let stderr = said.stderr.writer().map_err(BoxError::host(NO_WORDS))?;
        // Nothing of the host's environment goes into a box but what a driver set by
        // itself, and the terminal, with its Ctrl-C, is the controller's alone.
        let set: Vec<_> = start.command.get_envs().map(owned).collect();
        start
            .command
            .env_clear()
            .envs(set.into_iter().flatten())
            .env("PATH", carry::PATH)
            .stderr(stderr);
        tare_sys::leave_terminal(&mut start.command);
        tare_sys::die_with_parent(&mut start.command);
        let cgroup = start
            .limits
            .map(|limits| Cgroup::create(&Layout::detect()?, &start.directory.name, limits))
            .transpose()?;
        if let Some(cgroup) = &cgroup {
            cgroup.hold(&mut start.command);
        }
        let mut child = control_cpu::away(|| start.command.spawn())
            .map_err(|e| with_noexec(e, Path::new(&program)))
            .map_err(BoxError::host(format!("start {program}")))?;
        // The command holds the child's ends of sockets: while it lives, their end is not seen.
        drop(start.command);
        let stream = connect(&mut child, &said);
        let mut made = Self {
            child,
            link: None,
            cgroup,
            directory: start.directory,
            root: None,
            shared: None,
            address: None,
            port: None,
            hello_after: Duration::ZERO,
            silent: false,
            gone: false,
        };
        let within = start.hello_within;
        let pid = made.pid();
        let mut link = stream
            .map(|stream| Link::new(stream.ending_with(pid)))
            .map_err(|e| LinkError::of_stream(e, "hello", within))
            .map_err(|source| no_hello(source, said.last(&made.directory.path)))?;
        if let Err(source) = link.hello(start.build_id, control_cpu, within) {
            made.silent = matches!(source, LinkError::Timeout { .. });
            return Err(no_hello(source, said.last(&made.directory.path)));
        }
        made.link = Some(link);
        made.hello_after = start.requested.elapsed();
        Ok(made)
    }

    /// The child: an engine, or the agent itself.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Reads and freezes this cgroup from now on.
    pub(super) fn use_cgroup(&mut self, cgroup: Cgroup) {
        self.cgroup = Some(cgroup);
    }

    /// Speaks to the agent past an engine that relays each message.
    pub(super) fn shorten(&mut self) -> Result<(), BoxError> {
        let agent = self.processes().first().copied();
        if let (Some(pid), Some(link)) = (agent, &mut self.link) {
            link.shorten(pid, control_cpu::cpu(), ANSWER_DEADLINE)?;
        }
        Ok(())
    }

    /// Files are carried into this folder, the box's root, instead of over the link.
    pub(super) fn use_root(&mut self, root: PathBuf) {
        self.root = Some(root);
    }

    /// Files are copied by the agent out of this folder, which its machine sees.
    pub(super) fn use_shared(&mut self, folder: PathBuf) {
        self.shared = Some(folder);
    }

    /// Gives it its network; a bridge wants its cgroup to be known, and its agent
    /// in a network of its own.
    pub(super) fn connect(&mut self, network: Network, spec: &BoxSpec) -> Result<(), BoxError> {
        match network {
            // One that is published is an engine's.
            Network::None | Network::Published | Network::Pasta | Network::Slirp4netns => {}
            Network::Host => self.address = Some(Ipv4Addr::LOCALHOST.into()),
            Network::Bridge => self.use_port(Port::veth(&spec.name, &spec.run, &self.processes())?),
            Network::Macvlan => self.use_port(Port::macvlan(&spec.name, &spec.run, &self.processes())?),
        }
        Ok(())
    }

    pub(super) fn processes(&self) -> Vec<u32> {
        self.cgroup.as_ref().map(Cgroup::processes).unwrap_or_default()
    }

    /// Is reached by this port of the bridge, which goes with it.
    pub(super) fn use_port(&mut self, port: Port) {
        self.address = Some(port.address().ip.into());
        self.port = Some(port);
    }

    fn set_frozen(&self, frozen: bool) -> Result<(), BoxError> {
        self.cgroup
            .as_ref()
            .map_or(Ok(()), |cgroup| Ok(cgroup.outermost().freeze(frozen)?))
    }

    fn end(&mut self) -> Result<(), BoxError> {
        if std::mem::replace(&mut self.gone, true) {
            return Ok(());
        }
        // A frozen process neither sees the end of its link nor dies.
        let _ = self.set_frozen(false);
        self.link = None;
        let patience = if self.silent {
            END_OF_THE_SILENT
        } else {
            END_DEADLINE
        };
        let deadline = Instant::now() + patience;
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() > deadline {
                let _ = self.child.kill();
                let _ = self.child.wait();
                break;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        if matches!(self.child.try_wait(), Ok(Some(status)) if status.success()) {
            // It removed the box by itself.
            self.directory.remove_from_engine = None;
        }
        self.port = None;
        self.directory.clear()
    }
}

/// The stream over a child's standard input and output.
pub(super) fn pipes(child: &mut Child) -> io::Result<FdStream> {
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    FdStream::new(stdout.into(), stdin.into())
}

/// A variable of an environment; `None` for one that is to be removed.
fn owned((key, value): (&OsStr, Option<&OsStr>)) -> Option<(OsString, OsString)> {
    Some((key.to_owned(), value?.to_owned()))
}

/// The error of a box whose agent did not come up.
pub(super) fn no_hello(source: LinkError, console: String) -> BoxError {
    BoxError::NoHello { source, console }
}

/// The last words on the console that a machine's engine wrote to its folder.
pub(super) fn last_words(folder: &Path) -> String {
    joined([end_of_file(&folder.join("console"))])
}

/// The last bytes of a file, which may be long.
fn end_of_file(path: &Path) -> Vec<u8> {
    let mut end = Vec::new();
    if let Ok(mut file) = File::open(path) {
        let length = file.metadata().map_or(0, |about| about.len());
        let from = length.saturating_sub(LAST_WORDS as u64);
        let _ = file.seek(SeekFrom::Start(from));
        let _ = file.take(LAST_WORDS as u64).read_to_end(&mut end);
    }
    end
}

/// The end of each of these, in one line.
fn joined<const N: usize>(texts: [Vec<u8>; N]) -> String {
    let tails = texts.map(|bytes| tail(&bytes));
    let tails: Vec<String> = tails.into_iter().filter(|tail| !tail.is_empty()).collect();
    tails.join(" | ")
}

/// The last words of a text, in one line.
pub(super) fn tail(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(LAST_WORDS)..]).into_owned();
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    lines.join(" | ")
}

impl RunningBox for ChildBox {
    fn link(&mut self) -> &mut Link {
        self.link
            .as_mut()
            .expect("a box has its link from launch to destroy")
    }

    fn hello_after(&self) -> Duration {
        self.hello_after
    }

    fn marks(&self) -> Vec<String> {
        vec![self.directory.name.clone()]
    }

    fn meter(&self) -> Option<Meter> {
        self.cgroup.as_ref()?.meter().ok()
    }

    fn host_allowed_cpus(&self) -> Option<Vec<u32>> {
        self.cgroup.as_ref()?.allowed_cpus()
    }

    fn host_memory_limit(&self) -> Option<u64> {
        self.cgroup.as_ref()?.memory_limit().ok()?
    }

    fn address(&self) -> Option<IpAddr> {
        self.address
    }

    fn host_address(&self) -> Option<IpAddr> {
        match &self.port {
            Some(port) => port.host_address().map(IpAddr::from),
            // In the host's own network the two are one.
            None => self.address,
        }
    }

    fn host_reach(&self) -> HostReach {
        self.port.as_ref().map(Port::host_reach).unwrap_or_default()
    }

    fn host_root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    fn shared_folder(&self) -> Option<&Path> {
        self.shared.as_deref()
    }

    fn freeze(&mut self) -> Result<(), BoxError> {
        self.set_frozen(true)
    }

    fn thaw(&mut self) -> Result<(), BoxError> {
        self.set_frozen(false)
    }

    fn destroy(&mut self) -> Result<(), BoxError> {
        self.end()
    }
}

impl Drop for ChildBox {
    fn drop(&mut self) {
        let _ = self.end();
    }
}
