//! Requests of the controller and replies of the agent.
//!
//! The controller speaks first; the agent is silent until asked, and ends with
//! its link. One request is under way at a time, while any number of processes may
//! wait at their gates: the agent answers it with any number of data frames ([`Kind::File`](crate::frame::Kind::File),
//! [`Stdout`](crate::frame::Kind::Stdout), [`Stderr`](crate::frame::Kind::Stderr))
//! and then exactly one [`Reply`]. Nothing is sent while a clock runs.

use crate::gate::{Order, Slice};
use crate::host::BoxFacts;
use crate::kernel::{KernelSpec, ProofSpec};
use crate::load::LoadSpec;
use crate::platform::{PlatformPath, Provisioning};
use crate::server::{Ready, User};
use crate::size::InstanceType;
use crate::usage::ProcessUsage;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Version of the protocol.
pub const VERSION: u32 = 3;

/// What the controller asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "kebab-case")]
pub enum Request {
    /// Who are you? Protocol and build must match.
    Hello {
        /// [`VERSION`].
        protocol: u32,
        /// Build ID of the agent that the controller carries.
        build: String,
        /// CPU on which the agent is to wait, where it runs on the controller's kernel.
        control_cpu: Option<u32>,
    },
    /// What does the box look like from inside?
    Facts,
    /// Counters of the box's kernel.
    Counters,
    /// Which processes did the box's kernel kill since there was no memory?
    Killed,
    /// Run a kernel in a fresh process; its report comes as standard output.
    Kernel {
        /// The run.
        spec: KernelSpec,
        bounds: Bounds,
    },
    /// Run a proof in a fresh process; its report comes as standard output.
    Proof {
        /// The run.
        spec: ProofSpec,
        bounds: Bounds,
    },
    /// Run a command.
    Command(CommandRequest),
    /// Start a process that works in slices and bring it to its gate: set up, its
    /// clock not yet running. Others may be under way at the same time.
    Start {
        /// Number by which it is spoken of until it was stopped.
        process: u16,
        /// What runs.
        task: Task,
        /// Bounds of everything that it does until it is stopped; its time counts
        /// while it works or sets up, not while it waits at its gate.
        bounds: Bounds,
    },
    /// Let a process do one slice of work.
    Go {
        /// Its number.
        process: u16,
        /// How much work.
        order: Order,
    },
    /// Tell whether a server still serves.
    Look {
        /// Its number.
        process: u16,
    },
    /// End a process; the report of a kernel comes as standard output.
    Stop {
        /// Its number.
        process: u16,
    },
    /// Send a file: data frames, then [`Reply::FileRead`].
    ReadFile {
        /// Absolute path in the box.
        path: String,
        /// Longer files are refused.
        max_bytes: u64,
    },
    /// Take a file: as many data frames as make `bytes` follow at once.
    WriteFile {
        /// Absolute path in the box; missing folders are made. One that ends with a slash, of no bytes,
        /// is a folder.
        path: String,
        /// Permission bits.
        mode: u32,
        /// Length.
        bytes: u64,
    },
    /// Copy a file out of the folder that the host shares with a machine, where the link takes no
    /// long files.
    TakeFile {
        /// Its name in that folder.
        name: String,
        /// Absolute path in the box; missing folders are made.
        path: String,
        /// Permission bits.
        mode: u32,
    },
    /// Make a box within the box. Its agent is then spoken to by frames of kind
    /// [`Relay`](crate::frame::Kind::Relay) on this channel, each with the next
    /// bytes of the stream; an empty one is the end of it.
    Launch {
        /// Number of the channel; not 0.
        channel: u16,
        inner: InnerBox,
    },
    /// Stop the box within the box, so that it uses no CPU.
    Freeze { channel: u16 },
    /// Let it go on.
    Thaw { channel: u16 },
    /// Set the box's wall clock, where the box has one of its own.
    SetClock {
        /// Nanoseconds since the epoch.
        unix_ns: u64,
    },
    /// Write out what waits for that, and drop the caches of the kernel that the agent is on.
    DropCaches,
    /// Offer a second way to speak, for a controller that can take descriptors out of the
    /// agent's process: where the first way leads through an engine that relays each message.
    OfferLine,
    /// Speak over the second way from the answer to this on, or forget it.
    TakeLine {
        /// Whether the controller has the other end of it.
        taken: bool,
        /// As in [`Request::Hello`]: who has the other end is on the agent's kernel.
        control_cpu: Option<u32>,
    },
    /// End: the agent answers, ends its children and exits (and powers a VM off).
    Quit,
}

/// What a process that works in slices does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "kebab-case")]
pub enum Task {
    /// A kernel: one process that waits at its gate between slices.
    Kernel(KernelSpec),
    /// The same of a network kernel, as the client of a server elsewhere.
    Client {
        spec: KernelSpec,
        /// Where its server is.
        server: SocketAddr,
    },
    /// A client that loads a server.
    Load {
        /// What it asks.
        spec: LoadSpec,
        /// Where the server is.
        server: SocketAddr,
    },
    /// What others talk to. It does no slice; its output comes as standard error when it is
    /// stopped, or did not come to serve.
    Server {
        run: Served,
        /// How it tells that it serves; an address with a port where that is a connection.
        ready: Ready,
    },
    /// A command: a unit of work is one repetition of it, in a process of its own.
    Command(CommandTask),
}

/// What a server is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Served {
    /// The end of a network kernel that answers.
    Kernel {
        spec: KernelSpec,
        /// Where it listens; at port 0, at one that nobody else has.
        at: SocketAddr,
    },
    Command(CommandTask),
}

/// A command that is run again and again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandTask {
    /// Program and arguments; the program is looked up in PATH if it has no slash.
    pub argv: Vec<String>,
    /// The whole environment.
    pub env: Vec<(String, String)>,
    /// Working folder; absent: the agent's.
    pub cwd: Option<String>,
    /// Who runs it; absent: the agent's user, root of the box.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<User>,
}

/// A box to be made within a box.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InnerBox {
    /// What is below the outer box's platform in the path.
    pub platform: PlatformPath,
    /// Unique name, with the run's.
    pub name: String,
    /// The run's name.
    pub run: String,
    /// What it calls itself.
    pub hostname: String,
    /// CPUs and memory.
    pub instance: InstanceType,
    /// How the CPUs are granted.
    pub provisioning: Provisioning,
    /// CPUs for a pinned box, as the outer box numbers them.
    pub pinned_set: Vec<u32>,
    /// The CPUs that a box with a quota may run on, numbered likewise; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host_set: Vec<u32>,
    /// Whether boxes are to be made in it in turn.
    pub holds_boxes: bool,
    /// Whether the outer box is a host of its own, with its own engines and no limits.
    pub on_host: bool,
    /// The folder in which its files go into one of its name.
    pub folder: PathBuf,
    /// The image that is its root, or that it holds for boxes in it; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<InnerImage>,
}

/// An image of the host's store, as the outer box has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InnerImage {
    /// The folder of its root filesystem. Nothing may be written there.
    pub rootfs: PathBuf,
    /// The digits of its digest.
    pub digest: String,
}

/// Bounds of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Killed after so long.
    pub timeout_ns: u64,
    /// Standard output beyond this many bytes is counted, not kept.
    pub max_stdout_bytes: u64,
    /// Standard error beyond this many bytes is counted, not kept.
    pub max_stderr_bytes: u64,
    /// The environment is padded by a variable of so many bytes, so that the
    /// position of the stack differs from trial to trial.
    pub padding_bytes: u32,
}

/// A command to run, perhaps several times back to back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandRequest {
    #[serde(flatten)]
    pub task: CommandTask,
    /// Bounds of all repetitions together.
    pub bounds: Bounds,
    /// Repeated until so much time has passed.
    pub min_wall_ns: u64,
    /// Never repeated more often than this; at least 1.
    pub max_repetitions: u32,
}

/// What the agent answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "kebab-case")]
pub enum Reply {
    /// I am of the same protocol and build.
    Hello {
        /// [`VERSION`].
        protocol: u32,
        /// Build ID of the agent.
        build: String,
        /// Process id as the box numbers it.
        pid: u32,
    },
    /// The box from inside.
    Facts(BoxFacts),
    /// Counters of the box's kernel.
    Counters(Counters),
    /// The processes that it killed.
    Killed {
        /// They, the last one at the end; none where the box's kernel does not tell.
        processes: Vec<KilledProcess>,
    },
    /// A process, or its repetitions, ended.
    Exited(Exited),
    /// A process is set up and waits at its gate.
    Started,
    /// A server serves.
    Serves {
        /// The port that it told, if it told one.
        port: Option<u16>,
    },
    /// A server was ended, which had served until then.
    Stopped,
    /// A slice of work was done.
    Slice(Slice),
    /// A file was sent.
    FileRead {
        /// Its length.
        bytes: u64,
    },
    /// A file was written.
    FileWritten,
    /// A box was made within the box.
    Launched,
    /// The box within the box is stopped.
    Frozen,
    /// It goes on.
    Thawed,
    /// The clock was set.
    ClockSet,
    /// The caches are dropped.
    CachesDropped,
    /// A second way is offered: one of two connected sockets.
    LineOffered {
        /// Its descriptor in the agent's process.
        fd: i32,
        /// Its inode, by which it is known again.
        inode: u64,
    },
    /// The agent speaks over the second way, or has forgotten it.
    LineTaken,
    /// Goodbye.
    Bye,
    /// The request failed.
    Error {
        /// The kind of failure.
        code: ErrorCode,
        /// What failed, with the path or name.
        message: String,
    },
}

/// Kinds of failure of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorCode {
    /// The request could not be read.
    BadRequest,
    /// A program could not be started.
    CannotStart,
    /// Another program serves where a server was to.
    Taken,
    /// A file could not be read or written.
    File,
    /// The box lacks something (an instruction set, a privilege).
    Unsupported,
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exited {
    /// Status of the first repetition that did not end with 0, else 0.
    pub status: ExitStatus,
    /// All repetitions together.
    pub usage: ProcessUsage,
    /// Each of them; empty for kernels.
    pub repetitions: Vec<ProcessUsage>,
    /// Bytes of standard output that were not kept.
    pub stdout_lost_bytes: u64,
    /// Bytes of standard error that were not kept.
    pub stderr_lost_bytes: u64,
    /// Processes of all repetitions that went on when the command had ended, and were killed.
    #[serde(default)]
    pub left_running: u32,
}

/// Exit status of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExitStatus {
    /// Ended by itself with this code.
    Code(i32),
    /// Ended by this signal.
    Signal(i32),
    /// Killed since it ran over its time.
    TimedOut,
}

/// A process that a kernel killed for want of memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KilledProcess {
    pub name: String,
    /// Whether it was the limit of a cgroup that was full, rather than all memory.
    pub by_limit: bool,
}

/// Counters of the box's kernel since its boot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// The box's monotonic clock.
    pub monotonic_ns: u64,
    /// The box's wall clock, since the epoch.
    pub unix_ns: u64,
    /// Steal as the box's kernel counts it.
    pub steal_ns: Option<u64>,
    pub context_switches: Option<u64>,
    /// Pages swapped in and out.
    pub swapped_pages: Option<u64>,
    /// Processes that it killed since there was no memory.
    pub oom_kills: Option<u64>,
}
