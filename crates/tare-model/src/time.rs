//! Time as files and messages count it.

use std::time::Duration;

/// A duration in whole nanoseconds; the most there is for one over 584 years.
pub fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
