//! Platforms: the contract, one file or folder per platform that keeps it, the registry with the
//! way to open them, and what is proven and kept of their boxes.
//!
//! A platform is a way to start the agent in a box and to hold both ends of its pipe; see
//! [`Platform`]. A driver rests on the contract and on what drivers share; only [`open`] and the
//! registry know a platform by name.

#![forbid(unsafe_code)]

pub mod agent_file;
mod agent_start;
mod apart;
mod architecture;
mod child;
pub mod conformance;
pub(crate) mod contract;
mod directory;
mod disk;
mod docker;
mod elsewhere;
mod engines;
#[cfg(test)]
mod example;
#[cfg(test)]
mod example_tests;
mod factors;
mod fake;
mod guest;
mod image_root;
mod libvirt;
pub mod limits;
pub mod link;
mod lxc;
mod mechanisms;
mod microvmm;
mod native;
mod nested;
mod nspawn;
mod oci;
mod open;
mod options;
mod overlay;
mod podman;
mod probe;
mod registry;
mod security;
mod service;
mod shared;
mod sockets;
mod ssh;
pub mod state;
mod storage;
mod uml;
mod vm;
mod vmware;

pub use architecture::{Architecture, PerArchitecture};
pub use contract::{
    ANSWER_DEADLINE, Absent, BoxError, BoxImage, BoxSpec, Capabilities, Cleaned, HELLO_DEADLINE, InnerNeeds,
    Layer, MemoryView, OnLayer, Platform, QuotaView, RunningBox, Seccomp, Security, Storage, Support,
};
pub use elsewhere::elsewhere;
pub use engines::{EngineSocket, IMAGE_ENGINES, engine_socket};
pub use factors::{OPTION_FACTORS, OptionFactor};
pub use mechanisms::mechanisms_of;
pub use nested::launch as launch_inner;
pub use open::{OpenError, isolates_nothing, on_this_host, open};
pub use registry::{Entry, REGISTRY, names, untested};
