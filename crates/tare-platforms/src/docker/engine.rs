//! The engine by its API: connection, removal.

use super::super::contract::{Absent, BoxError, END_DEADLINE};
use super::super::probe::installed;
use super::address::Address;
use super::daemon::Daemon;
use bollard::query_parameters as query;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tare_host::{cgroup, footprint};
use tokio::runtime::{Builder, Runtime};

/// Seconds that the engine has to answer.
const API_TIMEOUT_SECONDS: u64 = 120;

/// An engine that speaks Docker's API.
pub(super) struct Engine {
    pub name: &'static str,
    /// Path of its socket.
    pub socket: PathBuf,
    pub runtime: Runtime,
    pub api: bollard::Docker,
    /// The engine itself, where it is ours.
    daemon: Option<Daemon>,
}

impl Engine {
    /// Connects to the engine on a local socket, `unix://PATH`; `daemon` is what
    /// serves there, if it is ours.
    pub fn connect(name: &'static str, address: &str, daemon: Option<Daemon>) -> Result<Self, BoxError> {
        let refused = |e| refused(name, &e);
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(BoxError::host("start the runtime for the Docker API"))?;
        let api =
            bollard::Docker::connect_with_unix(address, API_TIMEOUT_SECONDS, bollard::API_DEFAULT_VERSION)
                .map_err(refused)?;
        let api = runtime.block_on(api.negotiate_version()).map_err(refused)?;
        let socket = PathBuf::from(address.trim_start_matches("unix://"));
        Ok(Self {
            name,
            socket,
            runtime,
            api,
            daemon,
        })
    }

    /// Whether it serves this process alone.
    pub fn is_ours(&self) -> bool {
        self.daemon.is_some()
    }

    /// Waits for the answer to a call.
    pub fn wait<T>(
        &self,
        call: impl Future<Output = Result<T, bollard::errors::Error>>,
    ) -> Result<T, BoxError> {
        self.runtime.block_on(call).map_err(|e| refused(self.name, &e))
    }

    /// Removes a container and waits until the engine has forgotten it and its
    /// monitor or shim, which bears its id, has ended. A shim of Docker's that missed the
    /// end of its container, as it may where a run was killed, never ends by itself.
    pub fn remove(&self, id: &str) -> Result<(), BoxError> {
        if let Err(refused) = self.forget(id) {
            // Whatever the engine says of it: it shall not work on beside the next box.
            footprint::container(id)
                .iter()
                .for_each(|process| footprint::kill(process));
            if !is_held(&refused.to_string()) {
                return Err(refused);
            }
            self.forget(id)?;
        }
        if !ended(id) {
            footprint::container(id)
                .iter()
                .for_each(|process| footprint::kill(process));
            ended(id);
        }
        // Podman leaves them when its monitor was killed.
        Ok(cgroup::remove_marked(id)?)
    }

    fn forget(&self, id: &str) -> Result<(), BoxError> {
        let deadline = Instant::now() + END_DEADLINE;
        loop {
            let options = query::RemoveContainerOptionsBuilder::new().force(true).build();
            let removed = self
                .runtime
                .block_on(self.api.remove_container(id, Some(options)));
            match removed {
                Err(e) if is_gone(&e) => return Ok(()),
                // The engine may be removing it already, since its link has ended: asked again until it is gone.
                _ if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
                Ok(()) => return Ok(()),
                Err(e) => return Err(refused(self.name, &e)),
            }
        }
    }

    /// The names of all images; asked again where another run removes one meanwhile.
    pub fn image_tags(&self) -> Result<Vec<String>, BoxError> {
        let deadline = Instant::now() + END_DEADLINE;
        loop {
            let listed = self
                .runtime
                .block_on(self.api.list_images(None::<query::ListImagesOptions>));
            match listed {
                Err(e) if is_failure(&e) && Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(e) => return Err(refused(self.name, &e)),
                Ok(images) => return Ok(images.into_iter().flat_map(|image| image.repo_tags).collect()),
            }
        }
    }

    /// Removes an image, unless a container uses it.
    ///
    /// Another run may remove the same image meanwhile: Podman then trips over parts of it
    /// that are there no more, each with a message of its own. So it is asked again, until
    /// the image is gone, whoever did it, or the deadline is over.
    pub fn remove_image(&self, tag: &str) -> Result<Removal, BoxError> {
        let deadline = Instant::now() + END_DEADLINE;
        loop {
            let call = self
                .api
                .remove_image(tag, None::<query::RemoveImageOptions>, None);
            match self.runtime.block_on(call) {
                Ok(_) => return Ok(Removal::Done),
                Err(e) if is_gone(&e) => return Ok(Removal::Gone),
                Err(e) if is_used(&e) => return Ok(Removal::Used),
                Err(e) if is_failure(&e) && Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(e) => return Err(refused(self.name, &e)),
            }
        }
    }
}

/// What became of an image that was to be removed.
pub(super) enum Removal {
    /// It is removed.
    Done,
    /// It was not there, or no longer.
    Gone,
    /// A container uses it, so the engine keeps it.
    Used,
}

/// Whether the engine keeps what was to be removed since a container uses it.
fn is_used(error: &bollard::errors::Error) -> bool {
    matches!(
        error,
        bollard::errors::Error::DockerResponseServerError { status_code: 409, .. }
    )
}

/// Whether what was asked for is not there, or no longer.
fn is_gone(error: &bollard::errors::Error) -> bool {
    matches!(
        error,
        bollard::errors::Error::DockerResponseServerError { status_code: 404, .. }
    )
}

/// Whether the engine failed at what was asked, which is how Podman answers when parts of an
/// image go while it looks at them: "image not known", "layer not known", ...
fn is_failure(error: &bollard::errors::Error) -> bool {
    matches!(
        error,
        bollard::errors::Error::DockerResponseServerError { status_code: 500, .. }
    )
}

/// Waits until nothing of a container runs; whether that came before the deadline.
fn ended(id: &str) -> bool {
    let deadline = Instant::now() + END_DEADLINE;
    while !footprint::container(id).is_empty() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

/// Whether the engine gave up on a process that was killed and whose parent, the shim,
/// does not take note of it: seen of gVisor's when a run was killed.
fn is_held(refusal: &str) -> bool {
    refusal.contains("is zombie") || refusal.contains("did not receive an exit event")
}

pub(super) fn refused(engine: &'static str, error: &bollard::errors::Error) -> BoxError {
    BoxError::Engine {
        engine,
        message: error.to_string(),
    }
}

/// Whether the engine's socket is there and open to us, and if not, what to do.
pub(super) fn reachable(address: &Address) -> Result<(), Absent> {
    let Some(path) = address.url.strip_prefix("unix://") else {
        let by = address.by.as_deref().unwrap_or("its address");
        return Err(Absent::new(
            format!(
                "the Docker engine is at '{}' by {by}, which is not a local socket",
                address.url
            ),
            "name a unix:// socket of an engine on this host: export DOCKER_HOST=unix:///var/run/docker.sock",
        ));
    };
    std::os::unix::net::UnixStream::connect(path)
        .map(drop)
        .map_err(|e| match e.kind() {
            io::ErrorKind::PermissionDenied => Absent::new(
                format!("no permission for the engine's socket {path}"),
                own_engine().unwrap_or_else(|| {
                    "run tare as root, or join the group docker and log in again: sudo usermod -aG docker $USER"
                        .to_owned()
                }),
            ),
            io::ErrorKind::ConnectionRefused => {
                Absent::new(format!("the Docker engine does not answer on {path}"), START)
            }
            _ => Absent::new(format!("no Docker engine: {path}: {e}"), without_socket(address)),
        })
}

/// How to take the engine that a user runs without root, where there is one.
fn own_engine() -> Option<String> {
    let socket = Path::new(&std::env::var_os("XDG_RUNTIME_DIR")?).join("docker.sock");
    let has_one = std::os::unix::net::UnixStream::connect(&socket).is_ok();
    has_one.then(|| {
        format!(
            "use your own engine: export DOCKER_HOST=unix://{}",
            socket.display()
        )
    })
}

/// How a stopped engine is started.
const START: &str = "start it: sudo systemctl start docker";

/// What to do where there is no socket: it ends with a command.
fn without_socket(address: &Address) -> &'static str {
    if address.by.as_deref() == Some("DOCKER_HOST") {
        "DOCKER_HOST names this socket; use the usual one: unset DOCKER_HOST"
    } else if address.by.is_some() {
        "docker's context names this socket; use the usual one: docker context use default"
    } else if installed("dockerd", "").is_err() {
        "install and start it (Debian): sudo apt-get install docker.io"
    } else if Path::new("/run/systemd/system").exists() {
        START
    } else {
        "start it (or a private one for a command, by scripts/with-engines in tare's sources): sudo dockerd &"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_removed_is_told_from_what_is_used_and_from_what_the_engine_failed_at() {
        let answer = |status_code, message: &str| bollard::errors::Error::DockerResponseServerError {
            status_code,
            message: message.to_owned(),
        };
        assert!(is_gone(&answer(404, "No such image: tare-box-1:latest")));
        for half_gone in [
            "locating image: image not known",
            "retrieving parent of image: layer not known",
        ] {
            let failed = answer(500, half_gone);
            assert!(is_failure(&failed) && !is_gone(&failed), "{half_gone}");
        }
        let used = answer(409, "image is being used");
        assert!(!is_gone(&used) && !is_failure(&used) && is_used(&used));
    }

    #[test]
    fn a_process_that_its_shim_forgot_is_told_from_other_refusals() {
        assert!(is_held(
            "Docker responded with status code 500: Could not kill running container 1f, cannot remove - \
             container 1f PID 2413 is zombie and can not be killed. Use the --init option"
        ));
        assert!(!is_held(
            "Docker responded with status code 409: removal of container 1f is already in progress"
        ));
    }
}
