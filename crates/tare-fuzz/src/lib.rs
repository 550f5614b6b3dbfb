//! Bytes that strangers could have written, for everything in tare that reads them.
//!
//! ```text
//! fuzz/corpus/TARGET/* --mutate--> input --target--> mark --new?--> kept as a start for others
//!                                     worker, watched by its supervisor:
//!                                     panic, hang, much memory, overflow of the stack
//!                                       --> fuzz/found/TARGET/HASH, exit code 1
//! ```
//!
//! No tool chain of its own: inputs grow from examples by mutations, and where no coverage is
//! to be had, what a target says of an input tells whether it is a new one. No part of the
//! program that ships.

#![forbid(unsafe_code)]

pub mod corpus;
pub mod mutate;
pub mod supervise;
pub mod targets;
pub mod work;

/// Most bytes that a worker holds over what it held at first. The largest input, read into
/// records, analysed and made into a page, takes some 30 MiB.
pub const MEMORY_BYTES: usize = 256 << 20;

/// Bytes at which a worker is ended: the bound above, and what is kept of inputs.
pub const HARD_MEMORY_BYTES: usize = 1 << 30;

/// Longest input: more than any example, so that what grows with the square of it shows.
pub const INPUT_BYTES: usize = 256 << 10;
