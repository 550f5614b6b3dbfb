//! Engines that keep images of their users: where they are asked for one.

use super::contract::Absent;
use super::service::Service;
use super::{docker, podman};
use std::fs;
use std::path::{Path, PathBuf};

/// The names of the engines, in the order in which an image is looked for.
pub const IMAGE_ENGINES: [&str; 2] = ["docker", "podman"];

/// Folder of a service of our own, in the state folder: that of Podman's boxes has one already,
/// which another run may use. `tare clean` removes it with the rest.
const FOLDER: &str = "podman/images";

/// A local engine that speaks Docker's API. A service that was started for it ends with this.
pub struct EngineSocket {
    address: String,
    /// Before its folder.
    service: Option<Service>,
    folder: Option<PathBuf>,
}

impl EngineSocket {
    /// Its address: `unix://PATH`.
    pub fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for EngineSocket {
    fn drop(&mut self) {
        self.service = None;
        // What stays is in nobody's way: the folder bears this process's number.
        self.folder.as_ref().map(fs::remove_dir_all);
    }
}

/// An engine of [`IMAGE_ENGINES`] on this host. `state` is the folder for the files of one that
/// is started for it.
///
/// # Errors
/// [`Absent`] with what to do.
pub fn engine_socket(engine: &str, state: &Path) -> Result<EngineSocket, Absent> {
    if engine == IMAGE_ENGINES[0] {
        return Ok(EngineSocket {
            address: docker::socket()?,
            service: None,
            folder: None,
        });
    }
    let folder = state.join(format!("{FOLDER}-{}", std::process::id()));
    let (address, service) = podman::socket(&folder)?;
    Ok(EngineSocket {
        address,
        folder: service.is_some().then_some(folder),
        service,
    })
}
