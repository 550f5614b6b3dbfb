//! A second way to the controller: two connected sockets, one of which it takes out of
//! this process, past an engine that relays each message.

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use tare_wire::protocol::Reply;

/// A line that is offered.
pub(crate) struct Line {
    offered: OwnedFd,
    inode: u64,
    own: OwnedFd,
}

impl Line {
    pub(crate) fn new() -> io::Result<Self> {
        let kind = SocketType::STREAM;
        let (offered, own) = socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)?;
        let inode = rustix::fs::fstat(&offered)?.st_ino;
        Ok(Self { offered, inode, own })
    }

    pub(crate) fn offer(&self) -> Reply {
        Reply::LineOffered {
            fd: self.offered.as_raw_fd(),
            inode: self.inode,
        }
    }

    /// This end, once the controller has the other: the agent's copy of that is closed,
    /// or it would never see its end.
    pub(crate) fn taken(self) -> OwnedFd {
        self.own
    }
}
