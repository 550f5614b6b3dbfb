//! The few system calls that neither the standard library nor rustix offers
//! safely: what spawning boxes and reaping processes needs.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// How a process ended and what it used, as wait4(2) tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reaped {
    /// Process id.
    pub pid: u32,
    /// Exit code, if it ended by itself.
    pub code: Option<i32>,
    /// Signal that ended it, if one did.
    pub signal: Option<i32>,
    /// User time in nanoseconds, its reaped children's included.
    pub user_ns: u64,
    /// System time in nanoseconds, its reaped children's included.
    pub system_ns: u64,
    /// Largest resident set in bytes. A child's starts at its parent's
    /// (getrusage(2) carries it over exec): spawn from small processes.
    pub max_rss_bytes: u64,
}

/// Waits for the child `pid` to end.
///
/// # Errors
/// As wait4(2), but never for an interruption by a signal.
pub fn wait4(pid: u32) -> io::Result<Reaped> {
    let pid = libc::pid_t::try_from(pid).map_err(|_| io::ErrorKind::InvalidInput)?;
    wait4_raw(pid, 0)?.ok_or_else(|| io::ErrorKind::WouldBlock.into())
}

/// Reaps any child that has ended; `None` while children live and none has ended.
///
/// # Errors
/// ECHILD when there is no child at all.
pub fn reap_any() -> io::Result<Option<Reaped>> {
    wait4_raw(-1, libc::WNOHANG)
}

fn wait4_raw(pid: libc::pid_t, options: libc::c_int) -> io::Result<Option<Reaped>> {
    let mut status = 0;
    // SAFETY: rusage is plain data for which all-zero bytes are a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to live, writable values of the right types.
        match unsafe { libc::wait4(pid, &raw mut status, options, &raw mut usage) } {
            0 => return Ok(None),
            -1 => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            reaped => return Ok(Some(reaped_from(reaped, status, &usage))),
        }
    }
}

fn reaped_from(pid: libc::pid_t, status: libc::c_int, usage: &libc::rusage) -> Reaped {
    Reaped {
        pid: pid.cast_unsigned(),
        code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
        signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
        user_ns: timeval_ns(usage.ru_utime),
        system_ns: timeval_ns(usage.ru_stime),
        max_rss_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024,
    }
}

fn timeval_ns(time: libc::timeval) -> u64 {
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    part(time.tv_sec) * 1_000_000_000 + part(time.tv_usec) * 1000
}

/// Lets the process that `command` starts be killed when the *thread* that
/// starts it ends (prctl(2), `PR_SET_PDEATHSIG`), so that a killed controller
/// leaves no engine behind. Spawn from the main thread.
pub fn die_with_parent(command: &mut Command) {
    let parent = rustix::process::getpid();
    // SAFETY: the closure runs between fork and exec and makes two system
    // calls, without allocating or locking.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
            // The parent may have died before the line above took effect.
            if rustix::process::getppid() == Some(parent) {
                Ok(())
            } else {
                Err(io::Error::from_raw_os_error(libc::ESRCH))
            }
        });
    }
}

/// Takes ownership of an inherited descriptor by its number.
///
/// # Errors
/// EBADF if it is not open.
pub fn inherited_fd(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: F_GETFD only asks; any number may be given.
    if unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it is open, as just seen, and was inherited for this purpose:
    // nothing else in this process knows its number.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_reaped_with_its_usage() {
        #[expect(
            clippy::zombie_processes,
            reason = "it is waited for by the function under test"
        )]
        let child = Command::new("sh").args(["-c", "exit 7"]).spawn().unwrap();
        let reaped = wait4(child.id()).unwrap();
        assert_eq!((reaped.code, reaped.signal), (Some(7), None));
        assert!(reaped.max_rss_bytes > 0);
    }

    #[test]
    fn a_closed_descriptor_is_refused() {
        assert!(inherited_fd(987).is_err());
    }
}
