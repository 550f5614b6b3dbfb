//! An engine of our own in a box that has none: the host's, carried in.

use super::super::contract::BoxError;
use super::super::service::Service;
use super::engine::Engine;
use crate::carry;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// What an engine without networks consists of.
pub(super) const PROGRAMS: [&str; 4] = ["dockerd", "containerd", "containerd-shim-runc-v2", "runc"];

/// Memory for it: its programs take 150 MiB as files, and as much as processes.
pub(super) const MEMORY: u64 = 640 << 20;

/// Folder for its files.
const FOLDER: &str = "/run/tare/docker";

/// Whether this process serves in a box whose engines are for it to start.
static WANTED: AtomicBool = AtomicBool::new(false);

/// From now on an engine is started where none answers.
pub(crate) fn want() {
    WANTED.store(true, Ordering::Relaxed);
}

pub(super) fn is_wanted() -> bool {
    WANTED.load(Ordering::Relaxed)
}

/// Starts the engine and connects to it.
pub(super) fn start() -> Result<Engine, BoxError> {
    let folder = Path::new(FOLDER);
    fs::create_dir_all(folder).map_err(BoxError::host("make the folder of the Docker engine"))?;
    let socket = folder.join("socket");
    let address = format!("unix://{}", socket.display());
    let mut command = Command::new("dockerd");
    command
        .env("PATH", carry::PATH)
        .args(["--host", &address])
        .arg("--data-root")
        .arg(folder.join("data"))
        .arg("--exec-root")
        .arg(folder.join("exec"))
        .arg("--pidfile")
        .arg(folder.join("pid"))
        // Boxes have no network: rules and bridges would only need more programs.
        .args(["--iptables=false", "--bridge=none"]);
    let service = Service::start("docker", command, &socket)?;
    Engine::connect("docker", &address, Some(service))
}
