//! From a results file to an analysis, and from an analysis to text, JSON and HTML.
//!
//! ```text
//! Results --analyze--> Analysis --text::render--> terminal
//!                               --json::render--> machine
//!                               --html::render--> one page, no network
//! ```
//!
//! Invariants: nothing here reads a file, a clock or the system; no figure is
//! printed without its n; what is missing is printed as a dash, never as 0;
//! whatever a results file holds, no control character of it reaches a
//! terminal and no markup of it reaches a page.

#![forbid(unsafe_code)]

pub mod analysis;
pub mod change;
mod chart;
pub mod density;
mod effects;
mod facts;
pub mod foreign;
mod hosts;
pub mod html;
pub mod json;
pub mod pilot;
pub mod published;
mod remarks;
mod show;
mod sizes;
pub mod text;

pub use analysis::{Analysis, analyze};
