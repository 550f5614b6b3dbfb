//! The side of a nested box that is in the outer one: the inner box, made there by tare as the
//! agent of the outer box.

use crate::architecture::Architecture;
use crate::contract::{BoxImage, BoxSpec, RunningBox};
use crate::{agent_file, docker, open};
use rustix::event::PollFlags;
use std::fs;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tare_agent::InnerBox;
use tare_host::cgroup::{self, Weight};
use tare_host::remove;
use tare_model::protocol;

/// Time for an inner box to take what is sent to it.
const SEND_DEADLINE: Duration = Duration::from_secs(60);

/// A box's folder, removed when dropped: the outer box may be a host that stays.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = remove::folder(&self.0);
        // Not while another agent's folder is in it.
        let _ = self.0.parent().map(fs::remove_dir);
    }
}

/// A running box and its folder, which outlives it.
struct Made {
    running: Box<dyn RunningBox>,
    _folder: Folder,
}

/// Makes a box in this one.
///
/// # Errors
/// Why there is none, in words.
pub fn launch(wish: &protocol::InnerBox) -> Result<Box<dyn InnerBox>, String> {
    if !wish.on_host {
        // Else the limits of this box would not hold for the inner one.
        cgroup::stay_below_own().map_err(|e| e.to_string())?;
        docker::daemon::want();
    }
    // Others may pass, but only to folders that are theirs.
    let mut passable = fs::DirBuilder::new();
    passable
        .recursive(true)
        .mode(0o711)
        .create(&wish.folder)
        .map_err(|e| format!("make {}: {e}", wish.folder.display()))?;
    let scratch = wish.folder.join(&wish.name);
    let folder = Folder(scratch.clone());
    let binary = agent_file::for_box(wish.holds_boxes).map_err(|e| e.to_string())?;
    let mut platform = open::open(&wish.platform, &scratch).map_err(|e| e.to_string())?;
    platform.probe().map_err(|e| e.to_string())?;
    let spec = BoxSpec {
        name: wish.name.clone(),
        run: wish.run.clone(),
        hostname: wish.hostname.clone(),
        instance: wish.instance,
        provisioning: wish.provisioning,
        pinned_set: wish.pinned_set.clone(),
        host_set: wish.host_set.clone(),
        weight: Weight::Usual,
        scratch,
        binary,
        architecture: Architecture::HERE,
        holds_boxes: wish.holds_boxes,
        image: wish.image.as_ref().map(BoxImage::held),
    };
    let running = platform.launch(&spec).map_err(|e| e.to_string())?;
    Ok(Box::new(Made {
        running,
        _folder: folder,
    }))
}

impl InnerBox for Made {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let deadline = Instant::now() + SEND_DEADLINE;
        self.running.link().stream().send(bytes, deadline)
    }

    fn receive(&mut self, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let deadline = Instant::now() + SEND_DEADLINE;
        self.running.link().stream().receive(bytes, deadline)
    }

    fn readiness(&mut self) -> Vec<(BorrowedFd<'_>, PollFlags)> {
        let stream = &*self.running.link().stream();
        let said = stream.readiness().map(|fd| (fd, PollFlags::IN));
        said.into_iter().chain(stream.life()).collect()
    }

    fn set_frozen(&mut self, frozen: bool) -> Result<(), String> {
        let done = if frozen {
            self.running.freeze()
        } else {
            self.running.thaw()
        };
        done.map_err(|e| e.to_string())
    }
}
