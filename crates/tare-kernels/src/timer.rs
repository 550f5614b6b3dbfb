//! `timer`: how late a sleeping thread wakes up.
//!
//! It sleeps until a time of the monotonic clock, by clock_nanosleep, and reads the clock
//! when it is awake. What is timed is the lateness alone: the timer's interrupt, the wake-up
//! and the way back from the kernel.

use crate::clock;
use crate::error::KernelError;
use crate::gate::Sliced;
use crate::report;
use rustix::io::Errno;
use rustix::thread::{ClockId, clock_nanosleep_absolute};
use rustix::time::Timespec;
use std::io;
use tare_wire::gate::Part;
use tare_wire::kernel::Check;

/// Time from setting the timer to its end. As short as a CPU can sleep at all, so that a
/// slice holds many; a longer sleep may let the CPU into deeper states, from which it wakes
/// up later.
const SLEEP_NS: u64 = 50_000;

/// The kernel, of which a unit is a wake-up.
pub struct Slices {
    /// Wake-ups before their time.
    early: u64,
}

impl Slices {
    /// # Errors
    /// As [`make_exact`].
    pub fn new() -> Result<Self, KernelError> {
        make_exact()?;
        Ok(Self { early: 0 })
    }
}

/// Has the kernel end timers when they are due: it may else put off those of a thread
/// by 50 microseconds, to end several at once. A kernel that does not know the call,
/// such as gVisor's, puts none off.
///
/// # Errors
/// [`KernelError::System`] if the box does not allow it.
pub fn make_exact() -> Result<(), KernelError> {
    // SAFETY: takes a number and changes nothing but the calling thread's slack.
    if unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) } != 0 {
        let source = io::Error::last_os_error();
        if source.raw_os_error() != Some(libc::EINVAL) {
            let what = "making timers exact (prctl PR_SET_TIMERSLACK)";
            return Err(KernelError::System { what, source });
        }
    }
    Ok(())
}

impl Sliced for Slices {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        let part = &mut parts[0];
        let cpu_start_ns = clock::process_cpu_ns();
        for _ in 0..units {
            let due_ns = clock::now_ns() + SLEEP_NS;
            sleep_until(due_ns)?;
            let awake_ns = clock::now_ns();
            self.early += u64::from(awake_ns < due_ns);
            part.wall_ns += awake_ns.saturating_sub(due_ns);
        }
        part.cpu_ns += clock::process_cpu_ns().saturating_sub(cpu_start_ns);
        part.work += units as f64;
        Ok(())
    }

    fn check(&mut self) -> Check {
        report::check("wake-ups before their time", self.early as f64, 0.0)
    }
}

#[expect(clippy::cast_possible_wrap, reason = "some hundred years of nanoseconds")]
fn sleep_until(due_ns: u64) -> Result<(), KernelError> {
    let due = Timespec {
        tv_sec: (due_ns / 1_000_000_000) as i64,
        tv_nsec: (due_ns % 1_000_000_000) as i64,
    };
    loop {
        match clock_nanosleep_absolute(ClockId::Monotonic, &due) {
            Ok(()) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(errno) => {
                return Err(KernelError::System {
                    what: "clock_nanosleep",
                    source: io::Error::from(errno),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::NOTHING;
    use std::time::Instant;

    #[test]
    fn no_wake_up_is_early_and_lateness_alone_is_timed() {
        let mut slices = Slices::new().unwrap();
        let mut parts = [NOTHING];
        let begun = Instant::now();
        slices.work(100, &mut parts).unwrap();
        let all_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap();
        assert!(parts[0].wall_ns > 0 && parts[0].wall_ns <= all_ns - 100 * SLEEP_NS);
        assert_eq!((parts[0].work, slices.check().found), (100.0, 0.0));
    }
}
