//! Study files, and which cells of a study run.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod looks;
mod study_file;
