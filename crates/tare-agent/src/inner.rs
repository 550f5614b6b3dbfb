//! Boxes within the box: made here at the controller's wish, talked to by it over channels of this
//! agent's link.

use crate::process;
use crate::refusal::Refusal;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::Pid;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::BorrowedFd;
use tare_wire::protocol::{self, ErrorCode, Reply};

/// A box that this agent made, as the agent deals with it; removed when dropped.
pub trait InnerBox {
    /// Hands bytes on to its agent.
    ///
    /// # Errors
    /// If the box is gone.
    fn send(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Takes what its agent says, as far as it is there: how many bytes, 0 at its end.
    ///
    /// # Errors
    /// If the box is gone.
    fn receive(&mut self, bytes: &mut Vec<u8>) -> io::Result<usize>;

    /// What is ready when it says something or ends.
    fn readiness(&mut self) -> Vec<(BorrowedFd<'_>, PollFlags)>;

    /// Stops it, or lets it go on.
    ///
    /// # Errors
    /// Why that cannot be, in words.
    fn set_frozen(&mut self, frozen: bool) -> Result<(), String>;
}

/// Makes a box; an error says in words why there is none.
pub type Launcher = fn(&protocol::InnerBox) -> Result<Box<dyn InnerBox>, String>;

/// The inner boxes, by channel.
pub(crate) struct Inner {
    boxes: BTreeMap<u16, Box<dyn InnerBox>>,
    /// Absent in the agent that measures, which makes no boxes.
    launcher: Option<Launcher>,
}

impl Inner {
    pub(crate) fn new(launcher: Option<Launcher>) -> Self {
        Self {
            boxes: BTreeMap::new(),
            launcher,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.boxes.is_empty()
    }

    /// Makes a box that is from now on spoken to over `channel`.
    pub(crate) fn launch(&mut self, channel: u16, wish: &protocol::InnerBox) -> Result<Reply, Refusal> {
        let refused = |message: String| Refusal::new(ErrorCode::CannotStart, message);
        if channel == 0 || self.boxes.contains_key(&channel) {
            return Err(refused(format!("channel {channel} is taken")));
        }
        let launcher = self
            .launcher
            .ok_or_else(|| refused("this agent makes no boxes".to_owned()))?;
        let made = launcher(wish).map_err(refused)?;
        self.boxes.insert(channel, made);
        Ok(Reply::Launched)
    }

    /// The processes that inner boxes consist of, as far as they are ours: all of
    /// our children while nothing else runs.
    pub(crate) fn engines(&self) -> Vec<Pid> {
        if self.is_empty() {
            Vec::new()
        } else {
            process::children()
        }
    }

    /// Stops a box, or lets it go on.
    pub(crate) fn set_frozen(&mut self, channel: u16, frozen: bool) -> Result<Reply, Refusal> {
        let Some(inner) = self.boxes.get_mut(&channel) else {
            let message = format!("no inner box on channel {channel}");
            return Err(Refusal::new(ErrorCode::BadRequest, message));
        };
        inner
            .set_frozen(frozen)
            .map(|()| if frozen { Reply::Frozen } else { Reply::Thawed })
            .map_err(|why| Refusal::new(ErrorCode::Unsupported, why))
    }

    /// Hands bytes on to a box. One that is gone takes them in silence: its end
    /// was told.
    pub(crate) fn forward(&mut self, channel: u16, bytes: &[u8]) {
        if let Some(inner) = self.boxes.get_mut(&channel) {
            let _ = inner.send(bytes);
        }
    }

    /// Waits until the controller or a box has something to say: whether the
    /// controller has, and the channels of the boxes that have.
    pub(crate) fn wait(&mut self, port: BorrowedFd<'_>) -> io::Result<(bool, Vec<u16>)> {
        let mut channels = Vec::new();
        let mut fds = vec![PollFd::from_borrowed_fd(port, PollFlags::IN)];
        for (channel, inner) in &mut self.boxes {
            for (fd, flags) in inner.readiness() {
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
    pub(crate) fn take(&mut self, channel: u16) -> Vec<u8> {
        let mut bytes = Vec::new();
        if let Some(inner) = self.boxes.get_mut(&channel)
            && !matches!(inner.receive(&mut bytes), Ok(n) if n > 0)
        {
            bytes.clear();
            self.boxes.remove(&channel);
        }
        bytes
    }
}
