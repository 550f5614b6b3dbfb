//! Platforms: the contract, one file or folder per platform that keeps it, and the
//! registry with the way to open them, the only place that knows them by name.
//!
//! This file hands names on to others. What is below it takes them from where they
//! are: a driver rests on the contract and on what drivers share, never on this.

mod agent_start;
mod apart;
mod child;
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
mod lxc;
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
mod storage;
mod uml;
mod vm;
mod vmware;

pub use contract::{
    ANSWER_DEADLINE, Absent, BoxError, BoxImage, BoxSpec, Capabilities, Cleaned, HELLO_DEADLINE, InnerNeeds,
    Layer, MemoryView, OnLayer, Platform, QuotaView, RunningBox, Seccomp, Security, Storage,
};
pub(crate) use docker::daemon::want as want_own_engines;
pub use elsewhere::elsewhere;
pub use engines::{EngineSocket, IMAGE_ENGINES, engine_socket};
pub use factors::{OPTION_FACTORS, OptionFactor};
pub use open::{OpenError, on_this_host, open};
pub use registry::{Entry, REGISTRY, names, untested};
