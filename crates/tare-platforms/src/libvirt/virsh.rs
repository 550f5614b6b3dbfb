//! What is asked of libvirt, by its program.

use super::super::contract::{BoxError, HELLO_DEADLINE};
use crate::link::{FdStream, Stream};
use std::io::{self, Write};
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStdin, Command};
use std::time::{Duration, Instant};
use tare_host::interrupt;
use tare_host::program;

pub(super) const VIRSH: &str = "virsh";
/// Names the connection, as for all of libvirt's programs.
pub(super) const URI: &str = "LIBVIRT_DEFAULT_URI";
/// The connection where none is named.
pub(super) const SYSTEM: &str = "qemu:///system";
/// Time for one command of virsh's.
const DEADLINE: Duration = Duration::from_secs(30);
/// What a session is told: the domain goes when the session does. The file lies
/// in the session's working folder, so that no path has to be quoted.
const CREATE: &[u8] = b"create domain.xml --autodestroy\n";

pub(super) fn fails(message: String) -> BoxError {
    BoxError::Engine {
        engine: "libvirt",
        message,
    }
}

pub(super) fn uri() -> String {
    let named = std::env::var(URI).ok().filter(|uri| !uri.is_empty());
    named.unwrap_or_else(|| SYSTEM.to_owned())
}

pub(super) fn virsh() -> Command {
    let mut command = Command::new(VIRSH);
    command.args(["-q", "-c", &uri()]);
    command
}

/// Has one thing done; the names in it are ours.
pub(super) fn execute(arguments: &[&str]) -> Result<String, BoxError> {
    let doing = arguments.join(" ");
    let ended = program::output(virsh().args(arguments), DEADLINE)
        .map_err(BoxError::host(format!("have 'virsh {doing}' done")))?;
    if ended.status.success() {
        return Ok(String::from_utf8_lossy(&ended.stdout).into_owned());
    }
    let words = String::from_utf8_lossy(&ended.stderr);
    let words: Vec<&str> = words.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    Err(fails(format!("'virsh {doing}': {}", words.join(" | "))))
}

/// Has the domain made by a session of virsh's, and connects to its port; `said` tells what
/// it printed.
pub(super) fn connect(session: &mut Child, folder: &Path, said: impl Fn() -> String) -> io::Result<Held> {
    let mut orders = session.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    orders.write_all(CREATE)?;
    let deadline = Instant::now() + HELLO_DEADLINE;
    loop {
        if let Ok(port) = UnixStream::connect(folder.join("link")) {
            let port = FdStream::over_socket(port.into())?;
            return Ok(Held {
                port,
                _orders: orders,
            });
        }
        let words = said();
        if words.contains("error:") || session.try_wait()?.is_some() {
            return Err(io::Error::other(words));
        }
        interrupt::next_slice(deadline)?;
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The stream to the agent, and the session that holds the domain: both end together.
pub(super) struct Held {
    port: FdStream,
    _orders: ChildStdin,
}

impl Stream for Held {
    fn send(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        self.port.send(bytes, deadline)
    }

    fn receive(&mut self, buffer: &mut Vec<u8>, deadline: Instant) -> io::Result<usize> {
        self.port.receive(buffer, deadline)
    }

    fn readiness(&self) -> Option<BorrowedFd<'_>> {
        self.port.readiness()
    }

    fn ending_with(self, pid: u32) -> Self {
        Self {
            port: self.port.ending_with(pid),
            ..self
        }
    }
}
