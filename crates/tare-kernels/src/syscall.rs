//! `syscall`: latency of the cheapest system call, getppid.
//!
//! getppid does next to nothing in the kernel and no libc caches it, so what is
//! left is the way into the kernel and back: where a seccomp filter, a user-space
//! kernel or mitigations show.

use crate::batch;
use std::convert::Infallible;
use std::os::unix::process::parent_id;
use tare_model::kernel::{KernelReport, KernelSpec};

/// Runs the kernel.
pub fn run(spec: &KernelSpec) -> KernelReport {
    let parent = i64::from(parent_id());
    let calls = |calls| Ok::<_, Infallible>(mismatches(calls, parent));
    match batch::run(spec, "calls that returned another parent id", calls) {
        Ok(report) => report,
        Err(never) => match never {},
    }
}

/// Asks so many times for the parent's id; counts the answers other than `parent`.
fn mismatches(calls: u64, parent: i64) -> u64 {
    let mut wrong = 0;
    for _ in 0..calls {
        // SAFETY: getppid takes no arguments, touches no memory and cannot fail.
        let id = unsafe { libc::syscall(libc::SYS_getppid) };
        wrong += u64::from(id != parent);
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_answers_are_counted() {
        let parent = i64::from(parent_id());
        assert_eq!(mismatches(100, parent), 0);
        assert_eq!(mismatches(100, parent + 1), 100);
    }
}
