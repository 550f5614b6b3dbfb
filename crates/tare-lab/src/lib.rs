//! From what a user asks to a results file: study, plan, preflight, trials.
//!
//! ```text
//! options -> Study (validated) -> plan: blocks of trials in seeded order
//!         -> preflight: platforms opened and probed
//!         -> runner: box -> limits proven -> settle -> trial -> append
//! ```
//!
//! Nothing here knows a platform by name.

#![forbid(unsafe_code)]

mod addresses;
pub mod collect;
pub mod density;
pub mod design;
pub mod doctor;
mod extract;
mod faults;
mod figures;
pub mod images;
mod kept_checks;
mod load;
pub mod looks;
mod placement;
pub mod plan;
mod plausibility;
pub mod preflight;
pub mod resume;
pub mod runner;
pub mod safe_file;
pub mod session;
mod settle;
pub mod study_file;
mod trial;
pub mod versions;
pub mod workload_file;
pub mod workloads;
mod writer;

pub use writer::{WriteError, Writer, is_written};
