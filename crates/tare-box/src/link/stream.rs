//! Byte streams under a link, with a deadline on every operation.

use crate::interrupt;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

/// One end of the byte stream to an agent.
pub trait Stream {
    /// Sends all bytes before the deadline.
    ///
    /// # Errors
    /// `TimedOut`, `Interrupted` when the user asked to stop, or the stream's own.
    fn send(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()>;

    /// Appends at least one byte to `buffer`, or returns 0 at the end of the stream.
    ///
    /// # Errors
    /// As [`Stream::send`].
    fn receive(&mut self, buffer: &mut Vec<u8>, deadline: Instant) -> io::Result<usize>;

    /// The descriptor that is readable when something can be received; `None`
    /// where there is no such one.
    fn readiness(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

/// A stream over descriptors: a pair of pipes, or one socket twice.
#[derive(Debug)]
pub struct FdStream {
    read: OwnedFd,
    write: OwnedFd,
}

/// Bytes asked for at a time: the usual capacity of a pipe.
const CHUNK: usize = 64 << 10;

impl FdStream {
    /// A stream that reads from one descriptor and writes to the other. Both are
    /// made non-blocking.
    ///
    /// # Errors
    /// If a descriptor is not open.
    pub fn new(read: OwnedFd, write: OwnedFd) -> io::Result<Self> {
        for fd in [&read, &write] {
            let flags = rustix::fs::fcntl_getfl(fd)?;
            rustix::fs::fcntl_setfl(fd, flags | rustix::fs::OFlags::NONBLOCK)?;
        }
        Ok(Self { read, write })
    }

    /// A stream over a connected socket.
    ///
    /// # Errors
    /// If the descriptor cannot be duplicated.
    pub fn over_socket(socket: OwnedFd) -> io::Result<Self> {
        let twin = socket.try_clone()?;
        Self::new(socket, twin)
    }
}

impl Stream for FdStream {
    fn send(&mut self, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            match rustix::io::write(&self.write, bytes) {
                Ok(n) => bytes = &bytes[n..],
                Err(rustix::io::Errno::AGAIN) => wait(self.write.as_fd(), PollFlags::OUT, deadline)?,
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
        Ok(())
    }

    fn readiness(&self) -> Option<BorrowedFd<'_>> {
        Some(self.read.as_fd())
    }

    fn receive(&mut self, buffer: &mut Vec<u8>, deadline: Instant) -> io::Result<usize> {
        buffer.reserve(CHUNK);
        loop {
            match rustix::io::read(&self.read, rustix::buffer::spare_capacity(buffer)) {
                Ok(n) => return Ok(n),
                Err(rustix::io::Errno::AGAIN) => wait(self.read.as_fd(), PollFlags::IN, deadline)?,
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }
}

/// Waits until the descriptor is ready (or broken: the next call tells), the
/// deadline has passed or the user asked to stop.
fn wait(fd: BorrowedFd<'_>, flags: PollFlags, deadline: Instant) -> io::Result<()> {
    loop {
        let left = interrupt::next_slice(deadline)?;
        let slice = Timespec::try_from(left).unwrap_or(Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        });
        match poll(&mut [PollFd::from_borrowed_fd(fd, flags)], Some(&slice)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(e) => return Err(e.into()),
        }
    }
}
