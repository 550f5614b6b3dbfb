//! What processes used, as their kernel counted it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Resource usage of a workload's processes, or of one repetition of a command, by wait4(2) in
/// the box. What is absent was not counted: by an older version of tare.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct ProcessUsage {
    /// From before the spawn of the first to after the wait for the last, by the box's monotonic clock.
    pub wall_ns: u64,
    /// User time.
    pub user_ns: u64,
    /// System time.
    pub system_ns: u64,
    /// Largest resident set of any process.
    pub max_rss_bytes: u64,
    /// Page faults that found their page in memory, or made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minor_faults: Option<u64>,
    /// Page faults that waited for a disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub major_faults: Option<u64>,
    /// Times that a process gave up its CPU by itself, to wait for something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voluntary_switches: Option<u64>,
    /// Times that its CPU was taken from a process that would have gone on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub involuntary_switches: Option<u64>,
    /// Bytes that were read from storage for it, not from the page cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// Bytes of pages that it changed and that storage is to get, whenever that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<u64>,
}

impl ProcessUsage {
    /// Of no process yet: all counts are 0, and [`and`](Self::and) adds to them.
    pub const NONE: Self = Self {
        wall_ns: 0,
        user_ns: 0,
        system_ns: 0,
        max_rss_bytes: 0,
        minor_faults: Some(0),
        major_faults: Some(0),
        voluntary_switches: Some(0),
        involuntary_switches: Some(0),
        read_bytes: Some(0),
        written_bytes: Some(0),
    };

    /// What all of these used together.
    pub fn total(each: &[Self]) -> Self {
        each.iter().fold(Self::NONE, |all, one| all.and(*one))
    }

    /// CPU time.
    pub const fn cpu_ns(&self) -> u64 {
        self.user_ns.saturating_add(self.system_ns)
    }

    /// Page faults of both kinds.
    pub fn faults(&self) -> Option<u64> {
        both(self.minor_faults, self.major_faults)
    }

    /// Context switches of both kinds.
    pub fn switches(&self) -> Option<u64> {
        both(self.voluntary_switches, self.involuntary_switches)
    }

    /// What these and then others used.
    #[must_use]
    pub fn and(self, then: Self) -> Self {
        Self {
            wall_ns: self.wall_ns.saturating_add(then.wall_ns),
            user_ns: self.user_ns.saturating_add(then.user_ns),
            system_ns: self.system_ns.saturating_add(then.system_ns),
            max_rss_bytes: self.max_rss_bytes.max(then.max_rss_bytes),
            minor_faults: both(self.minor_faults, then.minor_faults),
            major_faults: both(self.major_faults, then.major_faults),
            voluntary_switches: both(self.voluntary_switches, then.voluntary_switches),
            involuntary_switches: both(self.involuntary_switches, then.involuntary_switches),
            read_bytes: both(self.read_bytes, then.read_bytes),
            written_bytes: both(self.written_bytes, then.written_bytes),
        }
    }
}

/// The sum of two counts where both were counted. A box may tell anything.
fn both(first: Option<u64>, then: Option<u64>) -> Option<u64> {
    Some(first?.saturating_add(then?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_did_not_count_is_not_the_sum_of_the_others() {
        let counted = ProcessUsage {
            minor_faults: Some(3),
            major_faults: Some(1),
            ..ProcessUsage::NONE
        };
        assert_eq!(ProcessUsage::NONE.and(counted).faults(), Some(4));
        let older = ProcessUsage::default();
        assert_eq!(counted.and(older).faults(), None);
        let forged = ProcessUsage {
            read_bytes: Some(u64::MAX),
            ..ProcessUsage::NONE
        };
        assert_eq!(forged.and(forged).read_bytes, Some(u64::MAX));
    }
}
