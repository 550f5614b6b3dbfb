//! Sockets on which the controller waits for a machine's agent, where the VMM
//! cannot be handed a descriptor.

use super::contract::{BoxError, HELLO_DEADLINE};
use crate::link::{FdStream, Stream};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Instant;
use tare_host::interrupt;

/// A socket that a VMM connects to for its guest. It listens before the machine
/// starts, so that nobody has to try again and again while it boots.
pub(super) struct Listener(UnixListener);

impl Listener {
    /// Listens on this path, which the system limits to 107 bytes.
    pub(super) fn at(path: &Path) -> Result<Self, BoxError> {
        let listener = UnixListener::bind(path)
            .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
            .map_err(BoxError::host(format!("listen on {}", path.display())))?;
        Ok(Self(listener))
    }

    /// The first connection. `lives` tells whether the VMM does: without it
    /// nobody will come.
    pub(super) fn accept(
        &self,
        deadline: Instant,
        mut lives: impl FnMut() -> bool,
    ) -> io::Result<UnixStream> {
        loop {
            match self.0.accept() {
                Ok((stream, _)) => return Ok(stream),
                Err(e) if e.kind() != io::ErrorKind::WouldBlock => return Err(e),
                Err(_) if !lives() => return Err(io::ErrorKind::BrokenPipe.into()),
                Err(_) => self.wait(deadline)?,
            }
        }
    }

    fn wait(&self, deadline: Instant) -> io::Result<()> {
        let slice = Timespec::try_from(interrupt::next_slice(deadline)?).unwrap_or_default();
        match poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&slice)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }
}

/// The stream to an agent that serves a terminal, once that is raw.
pub(super) fn raw_terminal(ours: UnixStream) -> io::Result<FdStream> {
    let mut stream = FdStream::over_socket(ours.into())?;
    // One byte, whose value does not matter: nothing else can come before it.
    match stream.receive(&mut Vec::new(), Instant::now() + HELLO_DEADLINE)? {
        0 => Err(io::ErrorKind::BrokenPipe.into()),
        _ => Ok(stream),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::time::Duration;

    fn listener() -> (tempfile::TempDir, std::path::PathBuf, Listener) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vsock_1");
        let listener = Listener::at(&path).unwrap();
        (folder, path, listener)
    }

    #[test]
    fn a_connection_is_taken_when_it_comes() {
        let (_folder, path, listener) = listener();
        let guest = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            UnixStream::connect(path).unwrap().write_all(b"x").unwrap();
        });
        let stream = listener
            .accept(Instant::now() + Duration::from_secs(10), || true)
            .unwrap();
        guest.join().unwrap();
        raw_terminal(stream).unwrap();
    }

    #[test]
    fn nobody_is_waited_for_once_the_vmm_is_gone() {
        let (_folder, _path, listener) = listener();
        let gone = listener.accept(Instant::now() + Duration::from_secs(60), || false);
        assert_eq!(gone.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_machine_that_never_connects_is_given_up() {
        let (_folder, _path, listener) = listener();
        let late = listener.accept(Instant::now() + Duration::from_millis(20), || true);
        assert_eq!(late.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn a_path_that_is_too_long_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x".repeat(120));
        let error = Listener::at(&path).err().unwrap().to_string();
        assert!(error.contains("listen on"), "{error}");
    }
}
