//! The clocks that all figures come from.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// The box's monotonic clock in nanoseconds. About 25 ns to read where the
/// clock source allows it, a system call of its own where not.
pub fn now_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// CPU time of all threads of this process in nanoseconds. A system call.
pub fn process_cpu_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::ProcessCPUTime))
}

/// CPU time of this thread in nanoseconds. A system call.
pub fn thread_cpu_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::ThreadCPUTime))
}

/// An interval in nanoseconds as seconds: by division, which gives the double
/// that prints with as few digits as the interval had.
pub fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Seconds as whole nanoseconds; out of range becomes the nearest in range.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, as it should"
)]
pub fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

/// The time at which so many seconds from now will have passed.
pub fn deadline_ns(seconds: f64) -> u64 {
    now_ns().saturating_add(nanos(seconds))
}

#[expect(clippy::cast_sign_loss, reason = "these clocks count up from 0")]
fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_advance_under_work() {
        let (wall, cpu, thread) = (now_ns(), process_cpu_ns(), thread_cpu_ns());
        while process_cpu_ns() - cpu < 2_000_000 || thread_cpu_ns() - thread < 2_000_000 {}
        assert!(now_ns() > wall);
    }

    #[test]
    fn conversions_saturate() {
        assert_eq!(nanos(1.5), 1_500_000_000);
        assert_eq!(nanos(-1.0), 0);
        assert_eq!(nanos(1e300), u64::MAX);
        assert_eq!(deadline_ns(1e300), u64::MAX);
        assert_eq!(seconds(414_173).to_string(), "0.000414173");
    }
}
