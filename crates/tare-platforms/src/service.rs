//! A service of an engine that tare runs for itself, where none is there.

use super::child::tail;
use super::contract::BoxError;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tare_host::capture::Capture;
use tare_host::{control_cpu, interrupt};

/// Time for a service to answer; Docker's takes seconds on an emulated CPU.
const START_DEADLINE: Duration = Duration::from_secs(120);

/// Bytes that are kept of a service's messages.
const MESSAGES: usize = 1 << 20;

/// Time for a service to give up what it is at.
const END_DEADLINE: Duration = Duration::from_secs(10);

/// A service, stopped when dropped.
///
/// Killed while it takes in an image, Podman keeps one that nobody can read, and then lists none at all: it is asked to
/// end, also by the end of this process.
pub(super) struct Service(Child);

impl Drop for Service {
    fn drop(&mut self) {
        self.signal(Signal::TERM);
        let deadline = Instant::now() + END_DEADLINE;
        while self.0.try_wait().is_ok_and(|ended| ended.is_none()) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.signal(Signal::KILL);
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Service {
    /// To what it started in its group, too: Podman's goes on in a process of its own wherever it needs a user namespace.
    fn signal(&self, signal: Signal) {
        if let Some(group) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, signal);
        }
    }

    /// Starts a service of `engine` and waits until it answers on `socket`, in a folder of its own.
    pub(super) fn start(engine: &'static str, mut command: Command, socket: &Path) -> Result<Self, BoxError> {
        // Whoever gets at the socket is root.
        socket.parent().map_or(Ok(()), |folder| close(folder, 0o700))?;
        let no_room = "make room for messages";
        let messages = Capture::of_at_most(MESSAGES).map_err(BoxError::host(no_room))?;
        let stderr = messages.writer().map_err(BoxError::host(no_room))?;
        command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr);
        tare_sys::end_with_parent(&mut command);
        // That of a dead run's service, which may still answer while it ends.
        let _ = fs::remove_file(socket);
        // What it starts shall run wherever this process could.
        let started = control_cpu::away(|| command.spawn());
        let mut service = Self(started.map_err(BoxError::host(format!("start the service of {engine}")))?);
        let deadline = Instant::now() + START_DEADLINE;
        while UnixStream::connect(socket).is_err() {
            let ended = service.0.try_wait().ok().flatten();
            if ended.is_some() || Instant::now() > deadline || interrupt::requested() {
                let last = tail(&messages.written());
                return Err(BoxError::Engine {
                    engine,
                    message: format!("its service does not start: {last}"),
                });
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        close(socket, 0o600)?;
        Ok(service)
    }
}

fn close(path: &Path, mode: u32) -> Result<(), BoxError> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .map_err(BoxError::host(format!("close {} to others", path.display())))
}
