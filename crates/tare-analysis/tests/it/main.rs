//! Analyses of results with a known truth.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod carry_over;
mod carry_over_slices;
mod common;
mod figures;
mod host_effects;
mod inference;
mod merge;
mod sizes;
mod slices;
mod tuning;
mod workload_effects;
