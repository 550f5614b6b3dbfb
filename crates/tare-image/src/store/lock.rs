//! Locks of the store: `flock` on files and folders, which ends with the process.

use crate::{ImageError, Stop};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
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

/// A file or folder that is locked until this is dropped: also where a process that was forked
/// meanwhile, and did not start its program yet, holds the same descriptor.
#[derive(Debug)]
pub struct Lock(OwnedFd);

impl AsFd for Lock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing it may unlock it too: there is nobody to tell.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// Opens a folder to lock it.
pub fn folder(path: &Path) -> io::Result<Lock> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(Lock(open(path, flags, Mode::empty())?))
}

/// Opens a file to lock it, and makes it if need be.
pub fn file(path: &Path) -> io::Result<Lock> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(Lock(open(path, flags, Mode::RUSR | Mode::WUSR)?))
}

/// Whether the lock could be had at once.
pub fn try_lock(lock: &Lock, shared: bool) -> io::Result<bool> {
    let operation = match shared {
        true => FlockOperation::NonBlockingLockShared,
        false => FlockOperation::NonBlockingLockExclusive,
    };
    match flock(lock, operation) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

/// Waits for a lock of one's own; `what` says what the other process does that has it.
pub fn wait(lock: &Lock, path: &Path, patience: Patience, what: &str) -> Result<(), ImageError> {
    wait_for(lock, false, path, patience, what)
}

/// Waits for a lock that is shared with others that use the same.
pub fn wait_shared(lock: &Lock, path: &Path, patience: Patience, what: &str) -> Result<(), ImageError> {
    wait_for(lock, true, path, patience, what)
}

fn wait_for(
    lock: &Lock,
    shared: bool,
    path: &Path,
    patience: Patience,
    what: &str,
) -> Result<(), ImageError> {
    let begin = Instant::now();
    while !try_lock(lock, shared).map_err(ImageError::file("lock", path))? {
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
