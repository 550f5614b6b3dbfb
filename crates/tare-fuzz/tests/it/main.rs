//! The fuzzer on its corpus, and on faults that are planted.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod corpus;
mod planted;
