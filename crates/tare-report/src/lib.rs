//! From an analysis to what people read: text, page, Markdown, CSV, JSON, pictures.
//!
//! ```text
//! Results --analyze--> Analysis --sections--> Document --text::render-----> terminal
//!                                                      --html::render-----> one page, no network
//!                                                      --markdown::render-> pull request
//!                                                      --tabular::render--> CSV
//!                               --json::render--> machine
//!                               --benchmarks----> Bencher, github-action-benchmark
//! ```
//!
//! Invariants: nothing here reads a file, a clock or the system; no figure is
//! printed without its n; what is missing is printed as a dash, never as 0;
//! whatever a results file holds, no control character of it reaches a
//! terminal and no markup of it reaches a page.

#![forbid(unsafe_code)]

pub mod benchmarks;
pub mod chart;
pub mod document;
pub mod export;
pub mod glossary;
pub mod html;
pub mod json;
pub mod markdown;
pub mod sections;
mod show;
pub mod tabular;
pub mod text;
pub mod words;
