//! `syscall`: latency of the cheapest system call, getppid.
//!
//! getppid does next to nothing in the kernel and no libc caches it, so what is
//! left is the way into the kernel and back: where a seccomp filter, a user-space
//! kernel or mitigations show.

use crate::error::KernelError;
use crate::gate::{Sliced, timed_alone};
use crate::report;
use std::os::unix::process::parent_id;
use tare_wire::gate::Part;
use tare_wire::kernel::Check;

const WRONG: &str = "calls that returned a wrong parent id";

/// The kernel, of which a unit is a call.
pub struct Slices {
    parent: i64,
    wrong: u64,
}

impl Slices {
    pub fn new() -> Self {
        Self {
            parent: i64::from(parent_id()),
            wrong: 0,
        }
    }
}

impl Sliced for Slices {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        self.wrong += timed_alone(parts, units as f64, || mismatches(units, self.parent));
        Ok(())
    }

    fn check(&mut self) -> Check {
        report::check(WRONG, self.wrong as f64, 0.0)
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

    #[test]
    fn a_wrong_answer_in_any_slice_is_told() {
        let mut slices = Slices::new();
        let mut parts = [Part::from((0.0, 0, 0))];
        slices.work(5, &mut parts).unwrap();
        slices.parent += 1;
        slices.work(2, &mut parts).unwrap();
        slices.parent -= 1;
        slices.work(1, &mut parts).unwrap();
        assert_eq!(parts[0].work, 8.0);
        assert_eq!(slices.check().found, 2.0);
    }
}
