//! Why a kernel or a proof could not be carried out.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use tare_wire::kernel::{Isa, Kernel};

/// Why a kernel or a proof could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// The CPU, as the box shows it, lacks the instruction set that was asked for.
    #[error("this CPU lacks the instruction set {0}: choose a level for the study that every box has")]
    UnsupportedIsa(Isa),
    /// Not a positive length of time.
    #[error("{0} is not a duration in seconds: give a positive number")]
    Seconds(f64),
    /// Not a number of threads.
    #[error("{0} is not a number of threads: give 1 to {max}", max = Self::MAX_THREADS)]
    Threads(u32),
    /// A size that the kernel cannot take.
    #[error("{kernel} cannot take size {size}: give {least} to {most} ({unit})")]
    Size {
        kernel: Kernel,
        /// Requested size, in the unit of the kernel.
        size: u64,
        /// The smallest size it takes.
        least: u64,
        /// The largest size it takes.
        most: u64,
        /// What the size is counted in.
        unit: &'static str,
    },
    /// The box is too slow even for the set-up.
    #[error("setting up {kernel} takes too long here for {seconds} s: allow more time or reduce the size")]
    TooSlow {
        kernel: Kernel,
        /// Intended duration in seconds.
        seconds: f64,
    },
    /// No memory for the arrays.
    #[error("cannot map {bytes} B: {source}; give a smaller size or a larger box")]
    Map {
        /// Requested bytes.
        bytes: usize,
        source: io::Error,
    },
    /// A worker thread could not be started.
    #[error("cannot start thread {number} of {threads}: {source}")]
    Thread {
        /// Which thread, from 1.
        number: u32,
        /// How many were asked for.
        threads: u32,
        source: io::Error,
    },
    /// A line that orders no slice of work.
    #[error(
        "{line:?} is not an order ({reason}): send {{\"units\":N,\"lead\":M}} in one line, with at least one unit"
    )]
    Order {
        /// The line, or as much of it as was read.
        line: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A kernel that uses files cannot.
    #[error("{kernel} cannot {what} in {}: {source}{}", folder.display(), next_step(source))]
    Disk {
        kernel: Kernel,
        /// What it cannot do.
        what: &'static str,
        /// The folder in which it works.
        folder: PathBuf,
        source: io::Error,
    },
    /// A folder whose files are on no disk, for a kernel that measures one.
    #[error(
        "{kernel} measures a disk, but {} is on {file_system}, {why}: start it in a folder on a disk; boxes get one with a platform option such as storage=volume (docs/platforms.md)",
        folder.display()
    )]
    NoDisk {
        kernel: Kernel,
        /// The folder in which it works.
        folder: PathBuf,
        /// The file system that it is on.
        file_system: String,
        /// Why that is no disk.
        why: &'static str,
    },
    /// The other end of a network kernel, elsewhere.
    #[error("cannot {what} {peer}: {source}")]
    Peer {
        /// What it cannot do.
        what: &'static str,
        /// Address of the other end.
        peer: SocketAddr,
        source: io::Error,
    },
    /// A system call that the work consists of, or rests on, failed.
    #[error("{what} failed: {source}")]
    System {
        /// What was done, to what.
        what: &'static str,
        source: io::Error,
    },
}

/// What to do about an error of files, where there is something.
fn next_step(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => "; free disk space there, or reduce --size",
        Some(libc::EROFS | libc::EACCES | libc::EPERM) => {
            "; start it in a folder where it may create files; boxes get one with a platform option such as storage=own (docs/platforms.md)"
        }
        Some(libc::EAGAIN) => "; the limit /proc/sys/fs/aio-max-nr, or that of open files, may be too low",
        Some(libc::ENOSYS) => "; its kernel has no such call",
        _ => "",
    }
}

impl KernelError {
    /// The largest number of threads that makes sense: beyond it stacks alone
    /// would fill a small box.
    pub const MAX_THREADS: u32 = 4096;

    /// The error of the system call that has just failed.
    pub(crate) fn last_os(what: &'static str) -> Self {
        Self::System {
            what,
            source: io::Error::last_os_error(),
        }
    }

    /// Refuses numbers of threads that make no sense.
    pub(crate) fn check_threads(threads: u32) -> Result<u32, Self> {
        if (1..=Self::MAX_THREADS).contains(&threads) {
            Ok(threads)
        } else {
            Err(Self::Threads(threads))
        }
    }
}
