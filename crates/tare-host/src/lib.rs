//! The host: control groups, networks, facts and conditions, and the processes, files and folders
//! that boxes are made of. Nothing here knows a platform.

#![forbid(unsafe_code)]

pub mod cgroup;
pub mod conditions;
pub mod footprint;
pub mod host;
pub mod interrupt;
pub mod net;
pub mod owner;
pub mod program;
pub mod remove;
pub mod scope;
pub mod settings;

// What is the same in boxes, handed on to those who deal with both.
pub use tare_box::{build_id, capture, carry, control_cpu, jail, kernel, oom, places, precautions};
