//! Time as files and messages count it.

use std::time::Duration;

/// A duration in whole nanoseconds; the most there is for one over 584 years.
pub fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// All of these added up, in nanoseconds; the most there is where a box or a file tells of more.
pub fn total(times_ns: impl IntoIterator<Item = u64>) -> u64 {
    times_ns.into_iter().fold(0, u64::saturating_add)
}
