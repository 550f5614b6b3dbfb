//! The way past an engine that relays each message between controller and agent: one of
//! two connected sockets of the agent's, taken out of its process. No name of it is in any
//! file system, so nobody else can connect.

use super::stream::{FdStream, Stream};
use rustix::fs::{FileType, fstat};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::io;

/// Takes the descriptor `fd` of the process `pid`, which must be the socket of this inode.
/// The stream to it ends when the socket does, or the stream `before`.
///
/// # Errors
/// If the kernel has no such call (before 5.6), does not allow it, or the process is not the
/// agent's: that of a sandbox with a kernel of its own.
pub(super) fn take(pid: u32, fd: i32, inode: u64, before: &dyn Stream) -> io::Result<FdStream> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or(io::ErrorKind::InvalidInput)?;
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    let taken = pidfd_getfd(&process, fd, PidfdGetfdFlags::empty())?;
    let found = fstat(&taken)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::Socket || found.st_ino != inode {
        return Err(io::ErrorKind::NotFound.into());
    }
    let life = before.readiness().ok_or(io::ErrorKind::Unsupported)?;
    Ok(FdStream::over_socket(taken)?.ending_with_stream(life.try_clone_to_owned()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;
    use std::time::{Duration, Instant};

    fn pair() -> (UnixStream, UnixStream) {
        UnixStream::pair().unwrap()
    }

    fn stream(socket: UnixStream) -> FdStream {
        FdStream::over_socket(socket.into()).unwrap()
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(5)
    }

    #[test]
    fn a_socket_of_a_process_is_taken_and_ends_with_the_stream_before() {
        let (old, engine) = pair();
        let (offered, agent) = pair();
        let inode = fstat(&offered).unwrap().st_ino;
        let mut line = take(std::process::id(), offered.as_raw_fd(), inode, &stream(old)).unwrap();
        drop(offered);
        stream(agent.try_clone().unwrap()).send(b"hello", soon()).unwrap();
        let mut read = Vec::new();
        assert_eq!(line.receive(&mut read, soon()).unwrap(), 5);
        drop(engine);
        assert_eq!(line.receive(&mut read, soon()).unwrap(), 0, "the engine is gone");
        drop(agent);
    }

    #[test]
    fn what_the_old_stream_says_does_not_end_it() {
        let (old, engine) = pair();
        let (offered, agent) = pair();
        let inode = fstat(&offered).unwrap().st_ino;
        let mut line = take(std::process::id(), offered.as_raw_fd(), inode, &stream(old)).unwrap();
        stream(engine).send(b"words", soon()).unwrap_or_default();
        drop((offered, agent));
        let mut read = Vec::new();
        assert_eq!(line.receive(&mut read, soon()).unwrap(), 0);
        assert!(read.is_empty());
    }

    #[test]
    fn another_file_than_the_one_offered_is_left_alone() {
        let (old, _engine) = pair();
        let (offered, _agent) = pair();
        let inode = fstat(&offered).unwrap().st_ino;
        let (pid, before) = (std::process::id(), stream(old));
        assert!(take(pid, offered.as_raw_fd(), inode + 1, &before).is_err());
        let file = tempfile::tempfile().unwrap();
        let inode = fstat(&file).unwrap().st_ino;
        assert!(take(pid, file.as_raw_fd(), inode, &before).is_err());
        assert!(take(pid, i32::MAX, inode, &before).is_err());
    }
}
