//! The host: control groups, networks, facts and conditions, and the processes, files and folders
//! that boxes are made of. Nothing here knows a platform.

#![forbid(unsafe_code)]

pub mod build_id;
pub mod carry;
pub mod cgroup;
pub mod conditions;
pub mod footprint;
pub mod host;
pub mod interrupt;
pub mod jail;
pub mod net;
pub mod oom;
pub mod places;
pub mod precautions;
pub mod program;
pub mod remove;
pub mod seat;
pub mod words;
