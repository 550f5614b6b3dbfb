//! The simulated table of coverage.

mod table;
