//! From a study and its plan to a results file.
//!
//! ```text
//! plan -> preflight: platforms opened and probed
//!      -> runner: box -> limits proven -> settle -> trial -> append
//! ```
//!
//! Nothing here knows a platform by name.

#![forbid(unsafe_code)]

pub mod collect;
pub mod density;
pub mod doctor;
mod failures;
mod figures;
mod identity;
mod kept_checks;
mod load;
mod plausibility;
pub mod preflight;
pub mod printed_plan;
pub mod resume;
pub mod runner;
pub mod safe_file;
pub mod session;
mod settle;
mod trial;
pub mod versions;
mod writer;

pub use writer::{WriteError, Writer, is_written};
