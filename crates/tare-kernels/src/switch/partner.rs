//! The other process, and the pipes to it and back.

use crate::clock;
use crate::error::KernelError;
use rustix::fd::OwnedFd;
use rustix::io::{Errno, read, write};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use std::io;

/// The bits of a byte that is passed back as it is.
pub const BALL: u8 = 0x7f;

/// The byte by which it is asked for the CPU time that it has used.
const TELL: u8 = 0x80;

/// A process that passes back what it gets, on the CPU of the one that made it. It ends
/// when its owner drops it or is killed, which ends the pipe to it.
pub struct Partner {
    to: OwnedFd,
    from: OwnedFd,
    id: libc::pid_t,
}

impl Partner {
    /// Makes the process, and keeps both on one CPU from now on: on two, a round trip
    /// would be wake-ups across CPUs, or not, as the scheduler likes.
    ///
    /// # Errors
    /// [`KernelError::System`] of the call that failed.
    pub fn start() -> Result<Self, KernelError> {
        stay_on_one_cpu()?;
        let (their_end, to) = pipe_with(PipeFlags::CLOEXEC).map_err(|e| failed("pipe", e))?;
        let (from, their_other_end) = pipe_with(PipeFlags::CLOEXEC).map_err(|e| failed("pipe", e))?;
        // SAFETY: the child makes plain system calls and _exit alone, which may follow a
        // fork whatever the threads of the parent hold.
        match unsafe { libc::fork() } {
            -1 => Err(KernelError::last_os("fork")),
            0 => {
                // Of its copy of this end it would never see the end.
                drop((to, from));
                pass_back(&their_end, &their_other_end);
                // SAFETY: ends the process; nothing of it is to be flushed or dropped.
                unsafe { libc::_exit(0) }
            }
            id => Ok(Self { to, from, id }),
        }
    }

    /// Passes a byte there and takes one back.
    ///
    /// # Errors
    /// [`KernelError::System`] if the other process is gone.
    pub fn pass(&self, byte: u8) -> Result<u8, KernelError> {
        let mut back = [0];
        self.send(byte)?;
        fill(&self.from, &mut back).map_err(|e| failed("reading from the other process", e))?;
        Ok(back[0])
    }

    /// CPU time that it has used so far. It is asked, since the kernel counts a child's
    /// time only when it has ended.
    ///
    /// # Errors
    /// As [`pass`](Self::pass).
    pub fn cpu_ns(&self) -> Result<u64, KernelError> {
        let mut back = [0; 8];
        self.send(TELL)?;
        fill(&self.from, &mut back).map_err(|e| failed("reading from the other process", e))?;
        Ok(u64::from_le_bytes(back))
    }

    fn send(&self, byte: u8) -> Result<(), KernelError> {
        let written = again(|| write(&self.to, &[byte]));
        written
            .map(|_| ())
            .map_err(|e| failed("writing to the other process", e))
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        // The end of the pipe would not do: a partner that was made after this one holds a
        // copy of our end, and two that were made at once would each wait for the other.
        // SAFETY: the child is ours and not yet reaped, so that its number is its own; no
        // status is wanted.
        unsafe {
            libc::kill(self.id, libc::SIGKILL);
            libc::waitpid(self.id, std::ptr::null_mut(), 0);
        }
    }
}

/// What the other process does until there is nothing more.
fn pass_back(from: &OwnedFd, to: &OwnedFd) {
    let mut byte = [0];
    while fill(from, &mut byte).is_ok() {
        let told = clock_if_asked(byte[0]);
        let answer = told.as_ref().map_or(&byte[..], |told| &told[..]);
        if again(|| write(to, answer)).is_err() {
            return;
        }
    }
}

fn clock_if_asked(byte: u8) -> Option<[u8; 8]> {
    (byte == TELL).then(|| clock::process_cpu_ns().to_le_bytes())
}

/// Reads until `bytes` is full; the end of the pipe is an error.
fn fill(from: &OwnedFd, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut got = 0;
    while got < bytes.len() {
        match again(|| read(from, &mut bytes[got..]))? {
            0 => return Err(Errno::PIPE),
            more => got += more,
        }
    }
    Ok(())
}

/// Repeats a call that a signal interrupted.
fn again(mut call: impl FnMut() -> Result<usize, Errno>) -> Result<usize, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            done => return done,
        }
    }
}

/// Keeps this thread, and what it makes from now on, on the CPU that it is on.
///
/// # Errors
/// [`KernelError::System`] if the box does not allow it.
pub fn stay_on_one_cpu() -> Result<(), KernelError> {
    let mut one = CpuSet::new();
    one.set(sched_getcpu());
    sched_setaffinity(None, &one).map_err(|e| failed("staying on one CPU (sched_setaffinity)", e))
}

fn failed(what: &'static str, errno: Errno) -> KernelError {
    let source = io::Error::from(errno);
    KernelError::System { what, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_ends_though_another_holds_the_pipe_to_it() {
        let first = Partner::start().unwrap();
        let second = Partner::start().unwrap();
        drop(first);
        assert_eq!(second.pass(7).unwrap(), 7);
    }
}
