//! What a box and whoever makes it have agreed on, and what is done alike on both sides: places,
//! the CPU on which both wait, jails, files that are carried in, what kernels show.

#![forbid(unsafe_code)]

pub mod build_id;
pub mod capture;
pub mod carry;
pub mod control_cpu;
pub mod interface;
pub mod jail;
pub mod kernel;
mod libraries;
mod linked;
pub mod oom;
pub mod places;
pub mod precautions;
pub mod script;
