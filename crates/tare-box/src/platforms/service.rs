//! A service of an engine that tare runs for itself, where none is there.

use super::contract::BoxError;
use crate::{interrupt, seat};
use std::fs;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time for a service to answer; Docker's takes seconds on an emulated CPU.
const START_DEADLINE: Duration = Duration::from_secs(120);

/// Bytes of a service's last words that an error repeats.
const LAST_WORDS: usize = 400;

/// A service, stopped when dropped.
pub(super) struct Service(Child);

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Service {
    /// Starts a service of `engine` with its messages in `folder` and waits until
    /// it answers on `socket`.
    pub(super) fn start(
        engine: &'static str,
        mut command: Command,
        folder: &Path,
        socket: &Path,
    ) -> Result<Self, BoxError> {
        let messages = folder.join("messages");
        let words =
            fs::File::create(&messages).map_err(BoxError::host(format!("make {}", messages.display())))?;
        command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(words);
        tare_sys::die_with_parent(&mut command);
        // That of a dead run's service, which may still answer while it ends.
        let _ = fs::remove_file(socket);
        // What it starts shall run wherever this process could.
        let started = seat::away(|| command.spawn());
        let mut service = Self(started.map_err(BoxError::host(format!("start the service of {engine}")))?);
        let deadline = Instant::now() + START_DEADLINE;
        while UnixStream::connect(socket).is_err() {
            let ended = service.0.try_wait().ok().flatten();
            if ended.is_some() || Instant::now() > deadline || interrupt::requested() {
                let words = fs::read(&messages).unwrap_or_default();
                let last = String::from_utf8_lossy(&words[words.len().saturating_sub(LAST_WORDS)..]);
                return Err(BoxError::Engine {
                    engine,
                    message: format!("its service does not come up: {}", last.trim()),
                });
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(service)
    }
}
