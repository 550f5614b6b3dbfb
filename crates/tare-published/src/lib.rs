//! Published results: what studies of containers and virtual machines measured
//! and said, compiled into the program, so that its own analysis can be held
//! against them.
//!
//! ```text
//! published/*.toml --read, strictly--> Library --check--> every claim, re-derived
//!                                              --beside--> own figures beside the study's
//! ```
//!
//! Nothing here is measured by tare. What a study only draws has no figure.

#![forbid(unsafe_code)]

mod beside;
mod brief;
mod check;
mod claim;
mod definitions;
mod derive;
mod digits;
mod file;
mod library;
mod mapping;
mod table;
mod workload;

pub use beside::{
    Beside, Detectable, Difference, Own, Row as BesideRow, StudyRow, TheirFigure, Verdict, beside, beside_all,
};
pub use brief::Brief;
pub use check::{Agreement, Checked, CheckedClaim, CheckedFigure, CheckedStudy, Said, Tally, check, tally};
pub use claim::{Claim, FigureOfClaim, Formula, Sense, Take};
pub use definitions::{DEFINITIONS, Definition};
pub use digits::Digits;
pub use file::{About, Contradiction, Erratum, Platform, Protocol, Published};
pub use library::{Library, LibraryError, UnknownStudy};
pub use mapping::Mapping;
pub use table::{Row, Spread, Table};
pub use workload::{UnknownWorkload, WorkloadView, workload};
