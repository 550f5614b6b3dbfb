//! Boxes within the box: made here at the controller's wish, talked to by it
//! over channels of this agent's link.

use super::{Refusal, process};
use crate::cgroup::{self, Weight};
use crate::platforms::{self, BoxImage, BoxSpec, RunningBox};
use crate::remove;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::Pid;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tare_model::protocol::{ErrorCode, InnerBox, Reply};

/// Time for an inner box to take what is sent to it.
const SEND_DEADLINE: Duration = Duration::from_secs(60);

/// The inner boxes, by channel.
#[derive(Default)]
pub(super) struct Inner {
    boxes: BTreeMap<u16, Box<dyn RunningBox>>,
    /// Dropped after the boxes.
    folders: Vec<Folder>,
}

/// A box's folder, removed when dropped: the outer box may be a host that stays.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = remove::folder(&self.0);
        // Not while another agent's folder is in it.
        let _ = self.0.parent().map(fs::remove_dir);
    }
}

impl Inner {
    pub(super) fn is_empty(&self) -> bool {
        self.boxes.is_empty()
    }

    /// Makes a box that is from now on spoken to over `channel`.
    pub(super) fn launch(&mut self, channel: u16, wish: &InnerBox) -> Result<Reply, Refusal> {
        let refused = |message: String| Refusal::new(ErrorCode::CannotStart, message);
        if channel == 0 || self.boxes.contains_key(&channel) {
            return Err(refused(format!("channel {channel} is taken")));
        }
        if !wish.on_host {
            // Else the limits of this box would not hold for the inner one.
            cgroup::stay_below_own().map_err(|e| refused(e.to_string()))?;
            platforms::want_own_engines();
        }
        // Others may pass, but only to folders that are theirs.
        let mut passable = fs::DirBuilder::new();
        passable
            .recursive(true)
            .mode(0o711)
            .create(&wish.folder)
            .map_err(|e| refused(format!("make {}: {e}", wish.folder.display())))?;
        let scratch = wish.folder.join(&wish.name);
        self.folders.push(Folder(scratch.clone()));
        let binary = std::env::current_exe().map_err(|e| refused(e.to_string()))?;
        let mut platform = platforms::open(&wish.platform, &scratch).map_err(|e| refused(e.to_string()))?;
        platform.probe().map_err(|e| refused(e.to_string()))?;
        let spec = BoxSpec {
            name: wish.name.clone(),
            run: wish.run.clone(),
            instance: wish.instance,
            provisioning: wish.provisioning,
            pinned_set: wish.pinned_set.clone(),
            host_set: wish.host_set.clone(),
            weight: Weight::Usual,
            scratch,
            binary,
            holds_boxes: wish.holds_boxes,
            image: wish.image.as_ref().map(BoxImage::held),
        };
        let made = platform.launch(&spec).map_err(|e| refused(e.to_string()))?;
        self.boxes.insert(channel, made);
        Ok(Reply::Launched)
    }

    /// The processes that inner boxes consist of, as far as they are ours: all of
    /// our children while nothing else runs.
    pub(super) fn engines(&self) -> Vec<Pid> {
        if self.is_empty() {
            Vec::new()
        } else {
            process::children()
        }
    }

    /// Stops a box, or lets it go on.
    pub(super) fn set_frozen(&mut self, channel: u16, frozen: bool) -> Result<Reply, Refusal> {
        let Some(inner) = self.boxes.get_mut(&channel) else {
            let message = format!("no inner box on channel {channel}");
            return Err(Refusal::new(ErrorCode::BadRequest, message));
        };
        let (done, reply) = if frozen {
            (inner.freeze(), Reply::Frozen)
        } else {
            (inner.thaw(), Reply::Thawed)
        };
        done.map(|()| reply)
            .map_err(|e| Refusal::new(ErrorCode::Unsupported, e.to_string()))
    }

    /// Hands bytes on to a box. One that is gone takes them in silence: its end
    /// was told.
    pub(super) fn forward(&mut self, channel: u16, bytes: &[u8]) {
        if let Some(inner) = self.boxes.get_mut(&channel) {
            let _ = inner.link().stream().send(bytes, Instant::now() + SEND_DEADLINE);
        }
    }

    /// Waits until the controller or a box has something to say: whether the
    /// controller has, and the channels of the boxes that have.
    pub(super) fn wait(&mut self, port: BorrowedFd<'_>) -> io::Result<(bool, Vec<u16>)> {
        let mut channels = Vec::new();
        let mut fds = vec![PollFd::from_borrowed_fd(port, PollFlags::IN)];
        for (channel, inner) in &mut self.boxes {
            let stream = &*inner.link().stream();
            let said = stream.readiness().map(|fd| (fd, PollFlags::IN));
            for (fd, flags) in said.into_iter().chain(stream.life()) {
                channels.push(*channel);
                fds.push(PollFd::from_borrowed_fd(fd, flags));
            }
        }
        match poll(&mut fds, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
        let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
        let asked = ready.next().unwrap_or(false);
        let said = channels.into_iter().zip(ready);
        let said = said.filter_map(|(channel, ready)| ready.then_some(channel));
        let mut said: Vec<u16> = said.collect();
        // A box may both say something and be gone; its end is taken when nothing is left.
        said.dedup();
        Ok((asked, said))
    }

    /// What a box says, as far as it is there; nothing at its end, after which it
    /// is forgotten.
    pub(super) fn take(&mut self, channel: u16) -> Vec<u8> {
        let mut bytes = Vec::new();
        if let Some(inner) = self.boxes.get_mut(&channel) {
            let received = inner
                .link()
                .stream()
                .receive(&mut bytes, Instant::now() + SEND_DEADLINE);
            if !matches!(received, Ok(n) if n > 0) {
                bytes.clear();
                self.boxes.remove(&channel);
            }
        }
        bytes
    }
}
