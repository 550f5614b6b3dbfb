//! Boxes: how to make one on each platform, how to talk to the agent in it,
//! and how to leave nothing behind.
//!
//! A platform is a way to start the agent in a box and to hold both ends of
//! its pipe; see [`platforms::Platform`]. Only `platforms/` knows a platform
//! by name.

#![forbid(unsafe_code)]

pub mod agent;
pub mod carry;
pub mod cgroup;
pub mod conditions;
pub mod conformance;
pub mod footprint;
pub mod host;
pub mod interrupt;
pub mod jail;
pub mod limits;
pub mod link;
pub mod net;
pub mod oom;
mod places;
pub mod platforms;
pub mod precautions;
pub mod program;
mod remove;
pub mod seat;
pub mod state;
mod words;
