//! What controller and agent say to one another, and the words for it: frames, requests and
//! replies, kernels, loads, sizes, platforms.
//!
//! Nothing here touches the system. The agent rests on no other vocabulary, so that it changes with
//! nothing else; [`protocol::VERSION`] is its version.

#![forbid(unsafe_code)]

pub mod brief;
pub mod digits;
pub mod frame;
pub mod gate;
pub mod host;
pub mod kernel;
pub mod load;
pub mod metric;
pub mod output;
pub mod platform;
pub mod protocol;
pub mod server;
pub mod size;
pub mod suggest;
pub mod template;
pub mod text;
pub mod time;
pub mod usage;

/// The released version of tare, for people.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
