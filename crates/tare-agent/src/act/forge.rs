//! A command that writes to the link of its agent, in every way that is known.

use rustix::fs::OFlags;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, getppid, pidfd_getfd, pidfd_open};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tare_box::precautions;
use tare_wire::frame::{Head, Kind, encode};
use tare_wire::protocol::{ExitStatus, Exited, Reply};
use tare_wire::usage::ProcessUsage;

/// Exit status of a command that never ran.
pub const FORGED: i32 = 99;
/// Said by a process that has shut itself.
const SHUT: &[u8] = b"shut\n";
/// Said of one that can be opened all the same.
pub const OPEN: &str = "open";
/// Descriptors of the agent that are tried.
const DESCRIPTORS: i32 = 64;
/// The host by vsock(7).
const VSOCK_HOST: u32 = 2;
/// Time that what was written has to arrive before the true answer.
const HEAD_START: Duration = Duration::from_millis(300);

/// Starts a process that shuts itself as the agent does, and prints whether it can be opened.
pub fn trespass() -> io::Result<()> {
    let mut shut = Command::new("/proc/self/exe")
        .args(["run-act", "shut"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut ready = [0; SHUT.len()];
    let waited = shut
        .stdout
        .as_mut()
        .map_or(Ok(()), |lines| lines.read_exact(&mut ready));
    let memory = File::open(format!("/proc/{}/mem", shut.id()));
    let input = fs::metadata(format!("/proc/{}/fd/0", shut.id()));
    shut.stdin = None;
    shut.wait()?;
    waited?;
    let is_open = memory.is_ok() || input.is_ok();
    writeln!(io::stdout(), "{}", if is_open { OPEN } else { "shut" })
}

/// Shuts itself, says so and waits for the end of its input.
pub fn shut() -> io::Result<()> {
    precautions::inside()?;
    io::stdout().write_all(SHUT)?;
    io::stdout().flush()?;
    io::stdin().read(&mut [0]).map(drop)
}

/// Writes an answer in the agent's name in every way that is known, the agent being this
/// process's parent, and prints the ways that were there.
pub fn forge() -> io::Result<()> {
    let agent = getppid().ok_or(io::ErrorKind::NotFound)?;
    let answer = answer()?;
    let mut ways: Vec<String> = Vec::new();
    for (way, end) in in_proc(agent)
        .into_iter()
        .chain(out_of(agent))
        .chain(devices(agent))
    {
        let _ = rustix::io::write(&end, &answer);
        ways.push(way);
    }
    let memory = format!("/proc/{}/mem", agent.as_raw_nonzero());
    if File::options().write(true).open(&memory).is_ok() {
        ways.push(memory);
    }
    std::thread::sleep(HEAD_START);
    writeln!(io::stdout(), "{}", ways.join(" "))
}

/// What the agent would say of a command that ended at once.
fn answer() -> io::Result<Vec<u8>> {
    let reply = Reply::Exited(Exited {
        status: ExitStatus::Code(FORGED),
        usage: ProcessUsage {
            wall_ns: 7000,
            user_ns: 7000,
            system_ns: 0,
            max_rss_bytes: 4096,
            ..ProcessUsage::default()
        },
        repetitions: Vec::new(),
        stdout_lost_bytes: 0,
        stderr_lost_bytes: 0,
        left_running: 0,
    });
    let mut bytes = Vec::new();
    encode(Head::of(Kind::Reply, 1), &serde_json::to_vec(&reply)?, &mut bytes);
    Ok(bytes)
}

type Way = (String, OwnedFd);

/// The agent's pipes and terminals, opened by their names in /proc.
fn in_proc(agent: Pid) -> Vec<Way> {
    let folder = format!("/proc/{}/fd", agent.as_raw_nonzero());
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| open(&entry.path())).collect()
}

/// A pipe or a device that is open for writing without waiting; not /dev/null and its kind.
fn open(path: &Path) -> Option<Way> {
    /// Major number of /dev/null, in `st_rdev`.
    const MEMORY_DEVICES: u32 = 1;
    let about = fs::metadata(path).ok()?;
    // What this process prints is led to the agent by such a pipe, and may be.
    let printed = [fs::metadata("/proc/self/fd/1"), fs::metadata("/proc/self/fd/2")];
    if printed.iter().flatten().any(|own| own.ino() == about.ino()) {
        return None;
    }
    let kind = about.file_type();
    let device = kind.is_char_device() && rustix::fs::major(about.rdev()) != MEMORY_DEVICES;
    if !kind.is_fifo() && !device {
        return None;
    }
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let end = File::options().write(true).custom_flags(flags).open(path).ok()?;
    Some((path.display().to_string(), end.into()))
}

/// Copies of the agent's descriptors, taken out of it.
fn out_of(agent: Pid) -> Vec<Way> {
    let Ok(process) = pidfd_open(agent, PidfdFlags::empty()) else {
        return Vec::new();
    };
    let copy = |number: i32| {
        let copy = pidfd_getfd(&process, number, PidfdGetfdFlags::empty()).ok()?;
        let kind = File::from(copy.try_clone().ok()?).metadata().ok()?.file_type();
        let speaks = kind.is_fifo() || kind.is_socket() || kind.is_char_device();
        speaks.then(|| (format!("descriptor {number}"), copy))
    };
    (0..DESCRIPTORS).filter_map(copy).collect()
}

/// The device that the agent was told to serve, if it was told one.
fn devices(agent: Pid) -> Vec<Way> {
    let line = fs::read(format!("/proc/{}/cmdline", agent.as_raw_nonzero())).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).into_owned();
    let words: Vec<&str> = line.split('\0').collect();
    let told = |option: &str| {
        let at = words.iter().position(|word| *word == option)?;
        words.get(at + 1).copied()
    };
    let mut ways: Vec<Way> = Vec::new();
    ways.extend(told("--tty").and_then(|path| open(Path::new(path))));
    ways.extend(
        told("--port")
            .into_iter()
            .flat_map(|_| ports())
            .filter_map(|port| open(&port)),
    );
    let vsock = told("--vsock").and_then(|port| port.parse().ok());
    ways.extend(vsock.and_then(|port| {
        let socket = tare_sys::connect_vsock(VSOCK_HOST, port).ok()?;
        Some((format!("vsock {port}"), socket))
    }));
    ways
}

/// All virtio-serial ports.
fn ports() -> Vec<PathBuf> {
    let entries = fs::read_dir("/sys/class/virtio-ports")
        .into_iter()
        .flatten()
        .flatten();
    entries
        .map(|entry| Path::new("/dev").join(entry.file_name()))
        .collect()
}
