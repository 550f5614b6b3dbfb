//! What a server prints: the beginning is kept, and the rest read as well, since a program whose
//! words are refused fails.

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use std::io;
use std::os::fd::OwnedFd;
use std::thread::JoinHandle;

/// Bytes that are kept.
const KEPT: usize = 256 << 10;
/// Bytes that a pipe takes between two looks at it.
const PIPE: usize = 256 << 10;
/// Time between two looks: a server that prints a line for each request wakes nobody for each.
const LOOK_EVERY: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 10_000_000,
};
/// Reads in one look.
const READS: usize = 64;
/// Stack of the thread that reads.
const STACK: usize = 64 << 10;

/// The words of a process, of which the agent reads some when it looks at them.
pub(crate) struct Words {
    pipe: Option<OwnedFd>,
    kept: Vec<u8>,
    lost: u64,
}

/// Words that a thread reads, on the CPU of the agent.
pub(crate) struct Reading {
    thread: JoinHandle<Words>,
    stop: OwnedFd,
}

impl Words {
    /// None yet, and what a process writes its words to.
    pub(crate) fn new() -> io::Result<(Self, OwnedFd)> {
        let (pipe, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        fcntl_setfl(&pipe, OFlags::NONBLOCK)?;
        // A smaller one does as well, with more looks.
        let _ = fcntl_setpipe_size(&pipe, PIPE);
        let words = Self {
            pipe: Some(pipe),
            kept: Vec::with_capacity(KEPT),
            lost: 0,
        };
        Ok((words, writer))
    }

    /// What there is, and was kept.
    pub(crate) fn look(&mut self) -> &[u8] {
        self.take();
        &self.kept
    }

    /// The words, and how many bytes of more of them were not kept.
    pub(crate) fn all(mut self) -> (Vec<u8>, u64) {
        self.take();
        (self.kept, self.lost)
    }

    /// Takes what there is; whether there may be more.
    fn take(&mut self) -> bool {
        let Some(pipe) = &self.pipe else { return false };
        let mut room = [0; 16 << 10];
        for _ in 0..READS {
            match rustix::io::read(pipe, &mut room) {
                Ok(n @ 1..) => {
                    let kept = n.min(KEPT - self.kept.len());
                    self.kept.extend_from_slice(&room[..kept]);
                    self.lost += (n - kept) as u64;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return false,
                Ok(_) | Err(_) => {
                    self.pipe = None;
                    return false;
                }
            }
        }
        true
    }

    /// Has a thread read them from now on.
    pub(crate) fn read(mut self) -> io::Result<Reading> {
        let stop = eventfd(0, EventfdFlags::CLOEXEC)?;
        let stopped = stop.try_clone()?;
        let builder = std::thread::Builder::new().stack_size(STACK);
        let thread = builder.spawn(move || {
            while !self.wait(&stopped) {
                let more = self.take();
                let mut fds = [PollFd::new(&stopped, PollFlags::IN)];
                if !more && !matches!(poll(&mut fds, Some(&LOOK_EVERY)), Ok(0)) {
                    break;
                }
            }
            self
        })?;
        Ok(Reading { thread, stop })
    }

    /// Waits for words; true if it is told to stop.
    fn wait(&self, stopped: &OwnedFd) -> bool {
        let mut fds = vec![PollFd::new(stopped, PollFlags::IN)];
        fds.extend(self.pipe.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        while let Err(Errno::INTR) = poll(&mut fds, None) {}
        !fds[0].revents().is_empty()
    }
}

impl Reading {
    /// Ends the thread.
    pub(crate) fn end(self) -> Option<Words> {
        // A count that is not full takes one more.
        let _ = rustix::io::write(&self.stop, &1_u64.to_ne_bytes());
        self.thread.join().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;
    use std::time::Duration;

    #[test]
    fn what_is_beyond_the_bound_is_read_and_counted() {
        let (mut words, writer) = Words::new().unwrap();
        let mut writer = File::from(writer);
        writer.write_all(b"listening\n").unwrap();
        assert_eq!(words.look(), b"listening\n");
        let reading = words.read().unwrap();
        let line = [b'x'; 1000];
        for _ in 0..2000 {
            writer.write_all(&line).unwrap();
        }
        let (kept, lost) = reading.end().unwrap().all();
        assert_eq!((kept.len(), lost), (KEPT, 2_000_010 - KEPT as u64));
        assert!(kept.starts_with(b"listening\nxxx"));
    }

    #[test]
    fn a_process_that_closes_its_output_is_not_waited_for() {
        let (words, writer) = Words::new().unwrap();
        let reading = words.read().unwrap();
        File::from(writer).write_all(b"bye").unwrap();
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(reading.end().unwrap().all(), (b"bye".to_vec(), 0));
    }
}
