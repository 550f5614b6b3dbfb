//! The program as a user runs it. `TARE_BIN` names it; see `make test`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod against;
mod agent;
mod analyze;
mod bad_input;
mod browser;
mod check;
mod cold;
mod common;
mod compare;
mod density;
mod devtools;
mod disk;
mod ends;
mod engine;
mod forms;
mod gate;
mod hostile;
mod images;
mod later_version;
mod links;
mod load;
mod memory;
mod mistakes;
mod pilot;
mod platforms;
mod printed;
mod privacy;
mod published;
mod readers;
mod roles;
mod rooted;
mod schemas;
mod selftest;
mod serve;
mod slice_failures;
mod slices;
mod stopping;
mod study;
mod study_files;
mod sweep;
mod terminal;
mod tutorial;
mod why;
mod workloads;
