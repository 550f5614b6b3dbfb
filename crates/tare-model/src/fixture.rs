//! Groups of cells for tests.

use crate::group::{GroupRecord, Member};
use crate::platform::Provisioning;
use crate::study::{BoxKind, Cell};
use std::collections::BTreeMap;

/// A cell on this platform.
pub fn cell(platform: &str) -> Cell {
    Cell {
        kind: BoxKind {
            platform: platform.parse().unwrap(),
            provisioning: Provisioning::Pinned,
            instance: None,
        },
        workload: "syscall".to_owned(),
    }
}

/// A member with one process and without slices.
pub fn member(platform: &str) -> Member {
    Member {
        cell: cell(platform),
        box_id: 0,
        every: 1,
        units: 1,
        lead: 0,
        places: Vec::new(),
        gate_ns: 0,
        turns: 0,
        frozen: false,
        processes: 1,
        parts: BTreeMap::new(),
    }
}

/// A group of these members.
pub fn group(members: Vec<Member>) -> GroupRecord {
    GroupRecord {
        group: 0,
        block: 0,
        slice_ns: 1,
        rounds: 5,
        members,
    }
}
