//! The vocabulary of tare, and every file and wire format.
//!
//! Nothing here touches the system: these are plain types with their text and
//! JSON forms. The names follow the field's standard terms (see
//! `docs/GLOSSARY.md`); the two formats that leave the process carry versions
//! of their own: [`results::SCHEMA`] and [`protocol::VERSION`].

#![forbid(unsafe_code)]

pub mod catalogue;
pub mod conditions;
pub mod density;
pub mod evidence;
pub mod family;
pub mod finding;
#[cfg(test)]
mod fixture;
pub mod group;
pub mod looks;
pub mod measuring;
pub mod mechanism;
pub mod peak;
pub mod place;
pub mod plain;
pub mod results;
pub mod rounds;
pub mod shell;
pub mod sound;
pub mod study;
pub mod topology;
pub mod tuning;
pub mod unit_words;
pub mod workload;

// What is said to agents is in a crate of its own, and handed on to all that deal with more.
pub use tare_wire::{
    VERSION, brief, digits, frame, gate, host, kernel, load, metric, output, platform, protocol, size,
    suggest, template, text, time,
};
