//! The method held against known truths: by simulation, and by campaigns on real
//! boxes whose scores are kept here.
//!
//! Whatever judges a simulated series is the function of `tare-stats` that judges
//! a measured one. Nothing here touches the system.

#![forbid(unsafe_code)]

pub mod binomial;
pub mod campaign;
mod experiments;
pub mod log;
pub mod noise;
pub mod promise;
pub mod score;
pub mod simulate;
mod slices;
pub mod sums;
pub mod table;

pub use experiments::all;
