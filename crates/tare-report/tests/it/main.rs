//! Reports on results with a known truth.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod advice;
mod benchmarks;
mod causes;
mod change;
mod common;
mod export;
mod foreign;
mod forms;
mod golden;
mod html;
mod json;
mod layers;
mod pairs;
mod passages;
mod published;
mod robust;
mod schemas;
mod scores;
mod stops;
mod text;
mod trust;
mod verdicts;
mod why;
