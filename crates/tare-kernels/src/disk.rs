//! The kernels that touch a disk.
//!
//! They work on files in the folder in which their process was started: a box's work
//! folder, or its root. Files are made and filled before the clock starts, and have no
//! names, so that a process that is killed leaves none behind.

mod aio;
mod block;
mod buffer;
pub mod cached;
mod facts;
mod folder;
mod jobs;
pub mod queue;
mod scratch;
pub mod small;
pub mod sync;
