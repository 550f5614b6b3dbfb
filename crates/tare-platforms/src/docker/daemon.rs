//! An engine of our own in a box that has none: the host's, carried in.

use super::super::contract::BoxError;
use super::super::service::Service;
use super::engine::Engine;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use tare_host::places::INNER_BOXES;
use tare_host::{carry, remove};

/// What an engine without networks consists of.
pub(super) const PROGRAMS: [&str; 4] = ["dockerd", "containerd", "containerd-shim-runc-v2", "runc"];

/// Memory for it: its programs take 150 MiB as files, and as much as processes.
pub(super) const MEMORY: u64 = 640 << 20;

/// Its folder in that of its box.
const FOLDER: &str = "docker";

/// Whether this process serves in a box whose engines are for it to start.
static WANTED: AtomicBool = AtomicBool::new(false);

/// From now on an engine is started where none answers.
pub(crate) fn want() {
    WANTED.store(true, Ordering::Relaxed);
}

pub(super) fn is_wanted() -> bool {
    WANTED.load(Ordering::Relaxed)
}

/// The service of the engine, and then its files: both go when dropped.
pub(super) struct Daemon {
    _service: Service,
    _folder: Folder,
}

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left is swept by the name of its box.
        let _ = remove::folder(&self.0);
        let above = self.0.ancestors().skip(1).take(2);
        above.for_each(|folder| drop(fs::remove_dir(folder)));
    }
}

/// Starts the engine of a box, whose files are in `scratch`, and connects to it.
pub(super) fn start(scratch: &Path) -> Result<Engine, BoxError> {
    // Not below `scratch`, wherever that is: paths of sockets have at most 107 bytes.
    let of_box = Path::new(INNER_BOXES).join(scratch.file_name().unwrap_or_default());
    let folder = of_box.join(FOLDER);
    fs::create_dir_all(&folder).map_err(BoxError::host("make the folder of the Docker engine"))?;
    let kept = Folder(folder.clone());
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
    let daemon = Daemon {
        _service: service,
        _folder: kept,
    };
    Engine::connect("docker", &address, Some(daemon))
}
