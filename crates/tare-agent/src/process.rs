//! Processes in the box: kernels and commands, each in a fresh process.

use crate::not_started;
use crate::port::Port;
use crate::refusal::Refusal;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::Access;
use rustix::pipe::PipeFlags;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpid, kill_process, kill_process_group, pidfd_open,
    waitid,
};
use serde::Serialize;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tare_box::control_cpu;
use tare_sys::Reaped;
use tare_sys::starter::{Started, Starter};
use tare_wire::frame::{Kind, MAX_PAYLOAD};
use tare_wire::protocol::{Bounds, CommandRequest, CommandTask, ErrorCode, ExitStatus, Exited, Reply};
use tare_wire::time::nanoseconds;
use tare_wire::usage::ProcessUsage;

/// The agent's own binary, as it can be had wherever the agent is.
pub(crate) const OWN_BINARY: &str = "/proc/self/exe";

/// Where programs are without a `PATH`, as musl has it.
const DEFAULT_PATH: &str = "/usr/local/bin:/bin:/usr/bin";

/// Runs a kernel or a proof: this binary again, in a fresh process. For `spared`
/// see [`command`].
pub(crate) fn kernel(
    port: &mut Port,
    subcommand: &str,
    spec: &impl Serialize,
    bounds: &Bounds,
    spared: &[Pid],
) -> io::Result<Result<Reply, Refusal>> {
    let spec = serde_json::to_string(spec)?;
    let request = CommandRequest {
        task: CommandTask {
            argv: vec![OWN_BINARY.to_owned(), subcommand.to_owned(), spec],
            env: Vec::new(),
            cwd: None,
            user: None,
        },
        bounds: *bounds,
        min_wall_ns: 0,
        max_repetitions: 1,
    };
    let answer = command(port, &request, spared)?;
    Ok(answer.map(|reply| match reply {
        Reply::Exited(exited) => Reply::Exited(Exited {
            repetitions: Vec::new(),
            ..exited
        }),
        other => other,
    }))
}

/// Runs a command, again and again until its time has passed. Whatever it leaves
/// running is ended, but not the children `spared`: the engines of inner boxes.
pub(crate) fn command(
    port: &mut Port,
    request: &CommandRequest,
    spared: &[Pid],
) -> io::Result<Result<Reply, Refusal>> {
    let task = &request.task;
    if task.argv.is_empty() {
        let refusal = Refusal::new(ErrorCode::BadRequest, "a command needs a program");
        return Ok(Err(refusal));
    }
    let mut command = Startable::new(task, &request.bounds);
    let mut repetitions = Vec::new();
    let mut left_running = 0;
    let mut output = Output::new(&request.bounds);
    let begin = Instant::now();
    let status = loop {
        let deadline = begin + Duration::from_nanos(request.bounds.timeout_ns);
        let ended = match run_once(&mut command, port, deadline, &mut output, spared) {
            Ok(ended) => ended,
            Err(Failed::Start(e)) => {
                return Ok(Err(Refusal::new(
                    ErrorCode::CannotStart,
                    not_started::told(task, &e),
                )));
            }
            Err(Failed::Link(e)) => return Err(e),
        };
        repetitions.push(ended.repetition);
        left_running += ended.left_running;
        let enough = nanoseconds(begin.elapsed()) >= request.min_wall_ns;
        if ended.status != ExitStatus::Code(0)
            || enough
            || repetitions.len() >= request.max_repetitions as usize
        {
            break ended.status;
        }
    };
    let usage = total(&repetitions, begin.elapsed());
    output.send(port)?;
    Ok(Ok(Reply::Exited(Exited {
        left_running,
        ..exited(status, usage, repetitions, &output)
    })))
}

/// What is told of processes that ended, once their output was sent.
pub(crate) fn exited(
    status: ExitStatus,
    usage: ProcessUsage,
    repetitions: Vec<ProcessUsage>,
    output: &Output,
) -> Exited {
    let [stdout_lost_bytes, stderr_lost_bytes] = output.lost();
    Exited {
        status,
        usage,
        repetitions,
        stdout_lost_bytes,
        stderr_lost_bytes,
        left_running: 0,
    }
}

/// A command, ready to be started again and again.
pub(crate) struct Startable {
    task: CommandTask,
    bounds: Bounds,
    /// The process that starts it, which lends it no memory.
    starter: Option<Starter>,
    /// The last process of it, where the agent itself started that.
    own: Option<Child>,
}

impl Startable {
    pub(crate) fn new(task: &CommandTask, bounds: &Bounds) -> Self {
        Self {
            task: task.clone(),
            bounds: *bounds,
            starter: None,
            own: None,
        }
    }

    /// Sees to it that something starts it: not the agent, unless it is the agent's own binary,
    /// which goes by another name everywhere else.
    fn make_ready(&mut self) -> io::Result<()> {
        let is_own = self
            .task
            .argv
            .first()
            .is_some_and(|program| program == OWN_BINARY);
        if !is_own && !self.starter.as_ref().is_some_and(Starter::is_there) {
            // Away from the control CPU like whatever it starts.
            self.starter = Some(control_cpu::away(|| self.new_starter())?);
        }
        Ok(())
    }

    /// Starts it, once it is ready; by these pipes comes its output.
    fn start(&mut self) -> io::Result<(Started, &mut Child)> {
        if self.starter.is_none() {
            let mut command = Command::new(OWN_BINARY);
            command.args(self.task.argv.iter().skip(1));
            self.dress(&mut command);
            let since_ns = monotonic_ns();
            let child = control_cpu::away(|| command.spawn())?;
            let pid = child.id();
            return Ok((Started { pid, since_ns }, self.own.insert(child)));
        }
        let starter = self.starter.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        Ok((starter.start()?, starter.pipes()))
    }

    fn new_starter(&self) -> io::Result<Starter> {
        let task = &self.task;
        let program = task.argv.first().map_or("", String::as_str);
        let program = found(program, &task.env, task.cwd.as_deref())?;
        Starter::new(&program, &task.argv, |command| self.dress(command))
    }

    fn dress(&self, command: &mut Command) {
        dress(command, &self.task, &self.bounds);
    }

    /// The process that starts it, as long as it is there: no workload left that behind.
    pub(crate) fn pid(&self) -> Option<Pid> {
        self.starter.as_ref()?.pid()
    }
}

/// Gives a process all that its command has beside program and arguments.
pub(crate) fn dress(command: &mut Command, task: &CommandTask, bounds: &Bounds) {
    confine(command, &task.env, bounds);
    if let Some(cwd) = &task.cwd {
        command.current_dir(cwd);
    }
    if let Some(user) = task.user {
        // Other groups of the agent's are given up with this.
        command.gid(user.gid).uid(user.uid);
    }
}

/// The file of a program, looked for in the folders of its own `PATH` as execvp(3) does.
pub(crate) fn found(program: &str, env: &[(String, String)], cwd: Option<&str>) -> io::Result<PathBuf> {
    if program.contains('/') {
        return Ok(program.into());
    }
    let path = env.iter().rev().find(|(name, _)| name == "PATH");
    let folders = path.map_or(DEFAULT_PATH, |(_, folders)| folders.as_str());
    let mut why = rustix::io::Errno::NOENT;
    for folder in folders.split(':') {
        let file = Path::new(folder).join(program);
        // A folder may be named from where the program will start.
        let seen = cwd.map_or_else(|| file.clone(), |cwd| Path::new(cwd).join(&file));
        if !seen.is_file() {
            continue;
        }
        match rustix::fs::access(&seen, Access::EXEC_OK) {
            Ok(()) if folder.is_empty() => return Ok(Path::new(".").join(file)),
            Ok(()) => return Ok(file),
            Err(e) => why = e,
        }
    }
    Err(why.into())
}

/// Gives a command the environment and the output that every process in a box has.
pub(crate) fn confine(command: &mut Command, env: &[(String, String)], bounds: &Bounds) {
    let sink = |max: u64| if max == 0 { nowhere() } else { Stdio::piped() };
    command
        .env_clear()
        .envs(env.iter().map(|(name, value)| (name, value)))
        // The agent's own input and output lead nowhere.
        .stdin(Stdio::inherit())
        .stdout(sink(bounds.max_stdout_bytes))
        .stderr(sink(bounds.max_stderr_bytes))
        // A group of its own, so that all of it can be ended.
        .process_group(0);
    if bounds.padding_bytes > 0 {
        command.env("TARE_PADDING", "x".repeat(bounds.padding_bytes as usize));
    }
}

/// Takes what nobody reads. Programs know /dev/null and do less for it: grep stops at the first match.
/// This device discards what is written to it as well, without a reader whose work would be timed.
pub(crate) fn nowhere() -> Stdio {
    let zero = File::options().write(true).open("/dev/zero");
    zero.map_or_else(|_| Stdio::null(), Stdio::from)
}

/// What repetitions used together, over `elapsed` in all.
pub(crate) fn total(repetitions: &[ProcessUsage], elapsed: Duration) -> ProcessUsage {
    ProcessUsage {
        wall_ns: nanoseconds(elapsed),
        ..ProcessUsage::total(repetitions)
    }
}

/// A process that ended.
pub(crate) struct Ended {
    pub status: ExitStatus,
    pub repetition: ProcessUsage,
    /// Processes that went on when it had ended by itself, and were killed.
    pub left_running: u32,
}

/// Why a process has no end to tell of.
pub(crate) enum Failed {
    /// It could not be started.
    Start(io::Error),
    /// The controller is gone, or the system refused something basic.
    Link(io::Error),
}

/// Runs a command once and waits for its end.
pub(crate) fn run_once(
    command: &mut Startable,
    port: &Port,
    deadline: Instant,
    output: &mut Output,
    spared: &[Pid],
) -> Result<Ended, Failed> {
    command.make_ready().map_err(Failed::Start)?;
    let spared: Vec<Pid> = spared.iter().copied().chain(command.pid()).collect();
    let (started, pipes) = command.start().map_err(Failed::Start)?;
    attend(started, pipes, port, deadline, output, &spared).map_err(Failed::Link)
}

/// Waits for the end of a process that was started, and ends what it left running. Its
/// output comes by these pipes. An error if the link hung up.
fn attend(
    started: Started,
    pipes: &mut Child,
    port: &Port,
    deadline: Instant,
    output: &mut Output,
    spared: &[Pid],
) -> io::Result<Ended> {
    let pid = pid_from(started.pid).ok_or(io::ErrorKind::InvalidData)?;
    let in_time = watch(pid, pipes, port, deadline, output).inspect_err(|_| end_group(pid))?;
    if !in_time {
        end_group(pid);
    }
    let reaped = tare_sys::wait4(started.pid)?;
    let wall_ns = monotonic_ns().saturating_sub(started.since_ns);
    let killed = end_children(spared);
    output.drain(pipes);
    Ok(Ended {
        left_running: if in_time { killed } else { 0 },
        ..ended(&reaped, in_time, wall_ns)
    })
}

/// Time by the clock of [`Started`].
fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    part(now.tv_sec) * 1_000_000_000 + part(now.tv_nsec)
}

fn ended(reaped: &Reaped, in_time: bool, wall_ns: u64) -> Ended {
    let status = match (in_time, reaped.code, reaped.signal) {
        (false, ..) => ExitStatus::TimedOut,
        (true, Some(code), _) => ExitStatus::Code(code),
        (true, None, signal) => ExitStatus::Signal(signal.unwrap_or(0)),
    };
    let repetition = ProcessUsage {
        wall_ns,
        user_ns: reaped.user_ns,
        system_ns: reaped.system_ns,
        max_rss_bytes: reaped.max_rss_bytes,
        minor_faults: Some(reaped.minor_faults),
        major_faults: Some(reaped.major_faults),
        voluntary_switches: Some(reaped.voluntary_switches),
        involuntary_switches: Some(reaped.involuntary_switches),
        read_bytes: Some(reaped.read_bytes),
        written_bytes: Some(reaped.written_bytes),
    };
    Ended {
        status,
        repetition,
        left_running: 0,
    }
}

/// Reaps a process that has ended, or was killed since it ran over its time, and
/// takes what it left in its pipes.
pub(crate) fn reap(child: &mut Child, in_time: bool, started: Instant, output: &mut Output) -> Ended {
    // One that died unseen may have been reaped with what a workload left behind.
    let reaped = tare_sys::wait4(child.id()).unwrap_or_else(|_| Reaped::unknown(child.id()));
    output.drain(child);
    ended(&reaped, in_time, nanoseconds(started.elapsed()))
}

/// What came of waiting for a process.
pub(crate) enum Waited {
    /// It printed this.
    Said(Vec<u8>),
    /// It has ended, or closed its output.
    Ended,
    /// Neither before the deadline.
    TooLate,
}

/// Waits until a child has printed something, and takes its errors meanwhile. An error
/// if the link hung up.
pub(crate) fn wait_for_output(
    child: &mut Child,
    port: &Port,
    deadline: Instant,
    output: &mut Output,
) -> io::Result<Waited> {
    loop {
        let Some(stdout) = &mut child.stdout else {
            return Ok(Waited::Ended);
        };
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Waited::TooLate);
        }
        let stderr = child.stderr.as_ref();
        let mut fds = vec![
            PollFd::from_borrowed_fd(stdout.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(port.hang_up(), PollFlags::empty()),
        ];
        fds.extend(stderr.map(|s| PollFd::from_borrowed_fd(s.as_fd(), PollFlags::IN)));
        match poll(&mut fds, Timespec::try_from(left).ok().as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
        let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        if ready[1] {
            return Err(controller_is_gone());
        }
        if ready[0] {
            let mut buffer = vec![0; 16 << 10];
            let n = stdout.read(&mut buffer)?;
            buffer.truncate(n);
            return Ok(if n == 0 {
                Waited::Ended
            } else {
                Waited::Said(buffer)
            });
        }
        output.take_errors(child)?;
    }
}

pub(crate) fn controller_is_gone() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the controller is gone")
}

/// Waits for the child to end and takes its output meanwhile; false if it ran
/// over its time. An error if the link hung up.
fn watch(
    pid: Pid,
    pipes: &mut Child,
    port: &Port,
    deadline: Instant,
    output: &mut Output,
) -> io::Result<bool> {
    let ended = end_of(pid)?;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        let mut fds = vec![
            PollFd::new(&ended, PollFlags::IN),
            PollFd::from_borrowed_fd(port.hang_up(), PollFlags::empty()),
        ];
        fds.extend(
            pipes
                .stdout
                .as_ref()
                .map(|s| PollFd::from_borrowed_fd(s.as_fd(), PollFlags::IN)),
        );
        fds.extend(
            pipes
                .stderr
                .as_ref()
                .map(|s| PollFd::from_borrowed_fd(s.as_fd(), PollFlags::IN)),
        );
        let timeout = Timespec::try_from(left).ok();
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
        let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        if ready[0] {
            return Ok(true);
        }
        if ready[1] {
            return Err(controller_is_gone());
        }
        output.take(pipes)?;
    }
}

/// A descriptor that is ready when the child has ended; the child is not reaped.
fn end_of(pid: Pid) -> io::Result<OwnedFd> {
    match pidfd_open(pid, PidfdFlags::empty()) {
        // Kernels before 5.3, and gVisor for long: a thread waits instead.
        Err(rustix::io::Errno::NOSYS) => {
            let (ready, ends) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
            std::thread::Builder::new().spawn(move || {
                let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
                drop(ends);
            })?;
            Ok(ready)
        }
        opened => Ok(opened?),
    }
}

/// A child's process id.
pub(crate) fn pid_of(child: &Child) -> Option<Pid> {
    pid_from(child.id())
}

fn pid_from(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

/// Asks a child to end.
pub(crate) fn ask_to_end(child: &Child) {
    if let Some(pid) = pid_of(child) {
        let _ = kill_process(pid, Signal::TERM);
    }
}

/// Kills a child with its group.
pub(crate) fn end_child(child: &Child) {
    if let Some(pid) = pid_of(child) {
        end_group(pid);
    }
}

fn end_group(pid: Pid) {
    let _ = kill_process_group(pid, Signal::KILL);
    let _ = kill_process(pid, Signal::KILL);
}

/// Children to be spared that had ended by themselves, and were reaped with what a workload left.
static REAPED: Mutex<Vec<Reaped>> = Mutex::new(Vec::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How a child ended that was reaped with what a workload left.
pub(crate) fn reaped_before(child: &Child) -> Option<ExitStatus> {
    let mut reaped = lock(&REAPED);
    let at = reaped.iter().position(|reaped| reaped.pid == child.id())?;
    let reaped = reaped.swap_remove(at);
    Some(match reaped.code {
        Some(code) => ExitStatus::Code(code),
        None => ExitStatus::Signal(reaped.signal.unwrap_or(0)),
    })
}

/// Ends whatever a workload left running, but not those `spared`: orphans come to
/// us, as first process or as subreaper. Costs one system call when there is nothing. How many
/// had to be killed: what was about to end keeps the status that it ended with.
pub(crate) fn end_children(spared: &[Pid]) -> u32 {
    let deadline = Instant::now() + Duration::from_secs(5);
    let mut killed = 0;
    while let Ok(reaped) = tare_sys::reap_any() {
        if let Some(reaped) = reaped {
            // A server that died under its client is reaped here, whoever asks for it later.
            if pid_from(reaped.pid).is_some_and(|pid| spared.contains(&pid)) {
                lock(&REAPED).push(reaped);
            } else if reaped.signal == Some(Signal::KILL.as_raw()) {
                killed += 1;
            }
            continue;
        }
        let left: Vec<Pid> = children()
            .into_iter()
            .filter(|pid| !spared.contains(pid))
            .collect();
        if left.is_empty() || Instant::now() > deadline {
            break;
        }
        for pid in left {
            let _ = kill_process(pid, Signal::KILL);
        }
        let _ = rustix::thread::nanosleep(&Timespec {
            tv_sec: 0,
            tv_nsec: 200_000,
        });
    }
    killed
}

/// Children of this process.
pub(crate) fn children() -> Vec<Pid> {
    let pid = |text: &str| text.parse().ok().and_then(Pid::from_raw);
    if let Ok(listed) = std::fs::read_to_string("/proc/thread-self/children") {
        return listed.split_whitespace().filter_map(pid).collect();
    }
    // gVisor has no such list.
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| pid(entry.file_name().to_str()?));
    numbers.filter(|pid| parent(*pid) == Some(getpid())).collect()
}

fn parent(pid: Pid) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // `pid (name) state parent ...`, and the name may hold anything.
    let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?;
    Pid::from_raw(parent.parse().ok()?)
}

/// Output of a process, kept up to a bound and counted beyond it.
pub(crate) struct Output {
    streams: [Kept; 2],
}

struct Kept {
    bytes: Vec<u8>,
    max: u64,
    lost: u64,
}

impl Kept {
    fn keep(&mut self, bytes: &[u8]) {
        let room = usize::try_from(self.max)
            .unwrap_or(usize::MAX)
            .saturating_sub(self.bytes.len());
        let (kept, lost) = bytes.split_at(bytes.len().min(room));
        self.bytes.extend_from_slice(kept);
        self.lost += lost.len() as u64;
    }
}

impl Output {
    pub(crate) fn new(bounds: &Bounds) -> Self {
        let kept = |max| Kept {
            bytes: Vec::new(),
            max,
            lost: 0,
        };
        Self {
            streams: [kept(bounds.max_stdout_bytes), kept(bounds.max_stderr_bytes)],
        }
    }

    /// Takes what is there; a stream at its end is closed. Whether there was anything.
    fn take(&mut self, child: &mut Child) -> io::Result<bool> {
        let taken = take_ready(&mut child.stdout, &mut self.streams[0])?;
        Ok(self.take_errors(child)? || taken)
    }

    /// Takes what is there of its errors alone.
    fn take_errors(&mut self, child: &mut Child) -> io::Result<bool> {
        take_ready(&mut child.stderr, &mut self.streams[1])
    }

    /// Counts these bytes as standard output.
    pub(crate) fn keep_stdout(&mut self, bytes: &[u8]) {
        self.streams[0].keep(bytes);
    }

    /// Takes what the ended child left in its pipes, which others may hold open.
    fn drain(&mut self, child: &mut Child) {
        // More than any pipe holds: whoever still writes is not waited for.
        let mut rounds = 0..1000;
        while rounds.next().is_some() && matches!(self.take(child), Ok(true)) {}
    }

    pub(crate) fn send(&self, port: &mut Port) -> io::Result<()> {
        for (kind, kept) in [Kind::Stdout, Kind::Stderr].into_iter().zip(&self.streams) {
            kept.bytes
                .chunks(MAX_PAYLOAD)
                .try_for_each(|chunk| port.send(kind, chunk))?;
        }
        Ok(())
    }

    fn lost(&self) -> [u64; 2] {
        [self.streams[0].lost, self.streams[1].lost]
    }
}

/// Reads once if there is something to read, and closes the stream at its end; whether there
/// was anything.
fn take_ready(stream: &mut Option<impl Read + AsFd>, kept: &mut Kept) -> io::Result<bool> {
    let Some(open) = stream else { return Ok(false) };
    let mut fds = [PollFd::from_borrowed_fd(open.as_fd(), PollFlags::IN)];
    if poll(&mut fds, Some(&Timespec::default())).unwrap_or(0) == 0 {
        return Ok(false);
    }
    let mut buffer = [0; 16 << 10];
    let n = open.read(&mut buffer)?;
    kept.keep(&buffer[..n]);
    if n == 0 {
        *stream = None;
    }
    Ok(n > 0)
}
