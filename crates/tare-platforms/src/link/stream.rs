//! Byte streams under a link, with a deadline on every operation.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;
use tare_host::interrupt;

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

    /// What is to be watched beside it, and for what: the stream ends with it.
    fn life(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        None
    }

    /// Lets the stream end with this process, also where others hold its far end:
    /// what an engine leaves running when it is killed. Kernels before 5.3 cannot tell.
    #[must_use]
    fn ending_with(self, _pid: u32) -> Self
    where
        Self: Sized,
    {
        self
    }
}

/// A stream over descriptors: a pair of pipes, or one socket twice.
#[derive(Debug)]
pub struct FdStream {
    read: OwnedFd,
    write: OwnedFd,
    /// What the stream is worth nothing without, and how it tells that it is gone.
    life: Option<(OwnedFd, PollFlags)>,
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
        Ok(Self {
            read,
            write,
            life: None,
        })
    }

    /// Lets the stream end with another, of which this is what it is read from. What that
    /// says is left there. The end of a pipe is told whatever is asked for.
    pub(super) fn ending_with_stream(mut self, other: OwnedFd) -> Self {
        self.life = Some((other, PollFlags::RDHUP));
        self
    }

    /// A stream over a connected socket.
    ///
    /// # Errors
    /// If the descriptor cannot be duplicated.
    pub fn over_socket(socket: OwnedFd) -> io::Result<Self> {
        let twin = socket.try_clone()?;
        Self::new(socket, twin)
    }

    /// Waits until a descriptor of ours is ready (or broken: the next call tells),
    /// the deadline has passed or the user asked to stop. False if it never will
    /// be, since the process behind it has ended.
    fn wait(&self, fd: &OwnedFd, flags: PollFlags, deadline: Instant) -> io::Result<bool> {
        loop {
            let left = interrupt::next_slice(deadline)?;
            let slice = Timespec::try_from(left).unwrap_or(Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            });
            let mut fds = vec![PollFd::new(fd, flags)];
            fds.extend(self.life.iter().map(|(life, gone)| PollFd::new(life, *gone)));
            match poll(&mut fds, Some(&slice)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                // What came before the end counts.
                Ok(_) => return Ok(!fds[0].revents().is_empty()),
                Err(e) => return Err(e.into()),
            }
        }
    }
}

impl Stream for FdStream {
    fn send(&mut self, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            match rustix::io::write(&self.write, bytes) {
                Ok(n) => bytes = &bytes[n..],
                Err(rustix::io::Errno::AGAIN) => {
                    if !self.wait(&self.write, PollFlags::OUT, deadline)? {
                        return Err(io::ErrorKind::BrokenPipe.into());
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
        Ok(())
    }

    fn readiness(&self) -> Option<BorrowedFd<'_>> {
        Some(self.read.as_fd())
    }

    fn life(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        self.life.as_ref().map(|(life, gone)| (life.as_fd(), *gone))
    }

    fn ending_with(mut self, pid: u32) -> Self {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let process = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        self.life = process.map(|process| (process, PollFlags::IN));
        self
    }

    fn receive(&mut self, buffer: &mut Vec<u8>, deadline: Instant) -> io::Result<usize> {
        // Also where bytes are always there: whoever floods the link shall not outlast the
        // deadline or the user's patience.
        interrupt::next_slice(deadline)?;
        buffer.reserve(CHUNK);
        loop {
            match rustix::io::read(&self.read, rustix::buffer::spare_capacity(buffer)) {
                Ok(n) => return Ok(n),
                Err(rustix::io::Errno::AGAIN) => {
                    if !self.wait(&self.read, PollFlags::IN, deadline)? {
                        return Ok(0);
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }
}
