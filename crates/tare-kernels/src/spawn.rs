//! `spawn`: latency of making, running and reaping a trivial process.
//!
//! The process is this very binary, told to end at once, so that the kernel
//! works in a box that holds one file. Any binary that links this crate must
//! therefore call [`exit_if_noop`] first of all.

use crate::clock;
use crate::error::KernelError;
use crate::gate::{Sliced, timed};
use crate::report;
use std::ffi::{CStr, c_int};
use std::mem::MaybeUninit;
use std::ptr;
use tare_wire::gate::Part;
use tare_wire::kernel::Check;

/// First argument by which the binary is told to end at once.
pub const NOOP_ARGUMENT: &str = "noop";

/// Status with which it then ends: not 0, so that a program that ran but was
/// not ours is noticed, and not 127, which is a failed exec.
pub const NOOP_STATUS: i32 = 7;

const SELF: &CStr = c"/proc/self/exe";
const ARGUMENT: &CStr = c"noop";
const EXEC_FAILED: c_int = 127;
const WRONG: &str = "processes that did not end with status 7";

/// Ends the process with [`NOOP_STATUS`] if it was started as the trivial
/// process. To be called at the very start of `main`.
pub fn exit_if_noop() {
    if std::env::args_os()
        .nth(1)
        .is_some_and(|first| first == NOOP_ARGUMENT)
    {
        // SAFETY: ends the process; there is nothing yet to flush or to drop.
        unsafe { libc::_exit(NOOP_STATUS) }
    }
}

/// The kernel, of which a unit is a process.
#[derive(Default)]
pub struct Slices {
    wrong: u64,
}

impl Sliced for Slices {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        let part = &mut parts[0];
        self.wrong += timed(part, cpu_ns, || wrong_ends(units, SELF))?;
        part.work += units as f64;
        Ok(())
    }

    fn check(&mut self) -> Check {
        report::check(WRONG, self.wrong as f64, 0.0)
    }
}

/// CPU time of this process and of the children that it waited for.
fn cpu_ns() -> u64 {
    clock::process_cpu_ns().saturating_add(children_cpu_ns())
}

#[expect(clippy::cast_sign_loss, reason = "times of use count up from 0")]
fn children_cpu_ns() -> u64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` is valid for writing, and all zero it is a sound `rusage`: so it
    // is whether or not the call succeeds, which for these arguments it always does.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    ns(usage.ru_utime) + ns(usage.ru_stime)
}

/// Runs `program` so many times; counts the ends other than [`NOOP_STATUS`].
fn wrong_ends(processes: u64, program: &CStr) -> Result<u64, KernelError> {
    let mut wrong = 0;
    for _ in 0..processes {
        let status = spawn(program)?;
        let right = libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == NOOP_STATUS;
        wrong += u64::from(!right);
    }
    Ok(wrong)
}

/// fork, exec, wait; the status as wait gives it. The environment is empty, or
/// its length would be part of the figure.
fn spawn(program: &CStr) -> Result<c_int, KernelError> {
    let argv = [program.as_ptr(), ARGUMENT.as_ptr(), ptr::null()];
    let envp = [ptr::null()];
    // SAFETY: the child calls execve and _exit alone, which may follow a fork
    // whatever the threads of the parent hold.
    match unsafe { libc::fork() } {
        -1 => Err(KernelError::last_os("fork")),
        // SAFETY: both arrays end with null and point to strings that end with
        // NUL; all of them outlive the call. _exit runs no handlers.
        0 => unsafe {
            libc::execve(program.as_ptr(), argv.as_ptr(), envp.as_ptr());
            libc::_exit(EXEC_FAILED)
        },
        child => wait(child),
    }
}

fn wait(child: libc::pid_t) -> Result<c_int, KernelError> {
    let mut status = 0;
    loop {
        // SAFETY: `status` is valid for writing; `child` is ours and not yet reaped.
        if unsafe { libc::waitpid(child, &mut status, 0) } == child {
            return Ok(status);
        }
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(KernelError::System {
                what: "waitpid",
                source: error,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_argument_is_the_same_in_both_forms() {
        assert_eq!(ARGUMENT.to_str(), Ok(NOOP_ARGUMENT));
    }

    #[test]
    fn other_ends_are_counted() {
        // Runs, but is not ours; and cannot be run at all.
        assert_eq!(wrong_ends(2, c"/bin/true").unwrap(), 2);
        assert_eq!(wrong_ends(2, c"/nonexistent").unwrap(), 2);
    }
}
