//! Locks of the store: `flock` on files and folders, which ends with the process.

use crate::{ImageError, Stop};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

/// How often a lock is asked for that another process holds.
const ASK: Duration = Duration::from_millis(20);

/// How long and until when a lock is waited for.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// The deadline.
    pub most: Duration,
    /// The user's wish to stop.
    pub stop: Stop,
}

/// Opens a folder to lock it.
pub fn folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(open(path, flags, Mode::empty())?)
}

/// Opens a file to lock it, and makes it if need be.
pub fn file(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(open(path, flags, Mode::RUSR | Mode::WUSR)?)
}

/// Whether the lock could be had at once.
pub fn try_lock(fd: &OwnedFd, shared: bool) -> io::Result<bool> {
    let operation = match shared {
        true => FlockOperation::NonBlockingLockShared,
        false => FlockOperation::NonBlockingLockExclusive,
    };
    match flock(fd, operation) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

/// Waits for a lock of one's own; `what` says what the other process does that has it.
pub fn wait(fd: &OwnedFd, path: &Path, patience: Patience, what: &str) -> Result<(), ImageError> {
    wait_for(fd, false, path, patience, what)
}

/// Waits for a lock that is shared with others that use the same.
pub fn wait_shared(fd: &OwnedFd, path: &Path, patience: Patience, what: &str) -> Result<(), ImageError> {
    wait_for(fd, true, path, patience, what)
}

fn wait_for(
    fd: &OwnedFd,
    shared: bool,
    path: &Path,
    patience: Patience,
    what: &str,
) -> Result<(), ImageError> {
    let begin = Instant::now();
    while !try_lock(fd, shared).map_err(ImageError::file("lock", path))? {
        if (patience.stop)() {
            return Err(ImageError::Stopped);
        }
        if begin.elapsed() >= patience.most {
            return Err(ImageError::Busy {
                what: what.to_owned(),
                waited: patience.most,
            });
        }
        std::thread::sleep(ASK);
    }
    Ok(())
}
