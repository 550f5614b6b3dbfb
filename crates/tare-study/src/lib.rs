//! From what a user asks, by options or by files, to a study and its plan.
//!
//! ```text
//! study file, workload files, options -> StudyRequest -> Study (validated)
//!                                      -> plan: blocks of trials in seeded order
//! ```
//!
//! Nothing here makes a box, and nothing knows a platform by name.

#![forbid(unsafe_code)]

pub mod addresses;
pub mod command;
pub mod design;
pub mod extract;
pub mod images;
pub mod looks;
pub mod mechanisms;
pub mod placement;
pub mod plan;
pub mod printed;
pub mod shares;
pub mod study_file;
mod tuning;
pub mod workload_file;
pub mod workloads;
