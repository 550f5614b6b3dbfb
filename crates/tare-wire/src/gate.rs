//! The gate: what a process that works in slices is asked, and what it answers.
//!
//! Between slices the process waits. Orders and answers are JSON, one line each,
//! on the process's standard input and output; a kernel whose standard input ends
//! checks its answer and prints its [report](crate::kernel::KernelReport).

use crate::time::total;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// No slice takes so long, some ten days: thousands of such times can be added up.
const LONGEST_NS: u64 = 1 << 50;

/// One slice of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Order {
    /// Units of work that are timed; at least 1.
    pub units: u64,
    /// Units of work before the clock starts, by which caches are refilled.
    pub lead: u64,
}

/// What was done in one slice.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Slice {
    /// The timed parts, in the order in which the workload names them; never empty.
    pub parts: Vec<Part>,
    /// Wall time from the order to the answer that no part has: the lead-in, new data,
    /// answers that were checked.
    pub untimed_ns: u64,
    /// What a client that loads a server tells beside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Box<LoadSlice>>,
}

/// What a client that loads a server tells of a slice.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct LoadSlice {
    /// How long each request took: an HDR histogram in nanoseconds, as text.
    pub latencies: String,
    /// Requests that were due.
    pub due: u64,
    /// Time from the beginning until the last of them was due; 0 in a closed loop.
    pub due_ns: u64,
    /// Connections that were made again since the slice before, as the server had closed them.
    #[serde(default)]
    pub reconnects: u64,
}

/// One timed part of a slice; as JSON a list of its three figures.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(from = "(f64, u64, u64)", into = "(f64, u64, u64)")]
pub struct Part {
    /// Work done: operations, bytes, flops, repetitions. The same kind in every slice.
    pub work: f64,
    /// Wall time by the box's monotonic clock.
    pub wall_ns: u64,
    /// CPU time of the process and of the children that it waited for.
    pub cpu_ns: u64,
}

impl From<(f64, u64, u64)> for Part {
    fn from((work, wall_ns, cpu_ns): (f64, u64, u64)) -> Self {
        Self {
            work,
            wall_ns,
            cpu_ns,
        }
    }
}

impl From<Part> for (f64, u64, u64) {
    fn from(part: Part) -> Self {
        (part.work, part.wall_ns, part.cpu_ns)
    }
}

impl Slice {
    /// Wall time of all parts; the most there is, where a box tells more than that.
    pub fn wall_ns(&self) -> u64 {
        total(self.parts.iter().map(|part| part.wall_ns))
    }

    /// CPU time of all parts, likewise.
    pub fn cpu_ns(&self) -> u64 {
        total(self.parts.iter().map(|part| part.cpu_ns))
    }

    /// Whether requests were due in it and none was answered.
    pub fn is_unanswered(&self) -> bool {
        let due = self.load.as_ref().is_some_and(|load| load.due > 0);
        due && self.parts.iter().all(|part| part.work == 0.0)
    }

    /// Whether every part has work that can be told by a positive number, and times that
    /// add up.
    pub fn is_sound(&self) -> bool {
        let works = |part: &Part| part.work.is_finite() && part.work > 0.0;
        let lasts = |part: &Part| (1..LONGEST_NS).contains(&part.wall_ns) && part.cpu_ns < LONGEST_NS;
        let sound = |part: &Part| works(part) && lasts(part);
        !self.parts.is_empty() && self.parts.iter().all(sound) && self.untimed_ns < LONGEST_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_add_up_to_more_than_there_is_are_the_most_there_is() {
        let slice: Slice = serde_json::from_str(
            r#"{"parts":[[1.0,18446744073709551615,18446744073709551615],[1.0,1,1]],"untimed_ns":0}"#,
        )
        .unwrap();
        assert_eq!((slice.wall_ns(), slice.cpu_ns()), (u64::MAX, u64::MAX));
    }

    #[test]
    fn a_slice_is_a_short_line() {
        let slice = Slice {
            parts: vec![Part {
                work: 1000.0,
                wall_ns: 10_000_000,
                cpu_ns: 9_990_000,
            }],
            untimed_ns: 7,
            load: None,
        };
        let line = serde_json::to_string(&slice).unwrap();
        assert_eq!(line, r#"{"parts":[[1000.0,10000000,9990000]],"untimed_ns":7}"#);
        assert_eq!(serde_json::from_str::<Slice>(&line).unwrap(), slice);
    }

    #[test]
    fn work_that_is_no_positive_number_is_unsound() {
        let slice = |work: f64, wall_ns| Slice {
            parts: vec![Part {
                work,
                wall_ns,
                cpu_ns: 0,
            }],
            untimed_ns: 0,
            load: None,
        };
        assert!(slice(1.0, 1).is_sound());
        for bad in [
            slice(0.0, 1),
            slice(-1.0, 1),
            slice(f64::NAN, 1),
            slice(1.0, 0),
            slice(1.0, u64::MAX),
            Slice {
                parts: vec![],
                untimed_ns: 0,
                load: None,
            },
        ] {
            assert!(!bad.is_sound(), "{bad:?}");
        }
        let loaded = |work, due| Slice {
            load: Some(Box::new(LoadSlice {
                latencies: String::new(),
                due,
                due_ns: 1,
                reconnects: 1,
            })),
            ..slice(work, 1)
        };
        assert!(loaded(0.0, 5).is_unanswered());
        assert!(!loaded(0.0, 0).is_unanswered() && !loaded(1.0, 5).is_unanswered());
        assert!(!slice(0.0, 1).is_unanswered());
    }
}
