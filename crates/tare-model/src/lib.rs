//! The vocabulary of tare, and every file and wire format.
//!
//! Nothing here touches the system: these are plain types with their text and
//! JSON forms. The names follow the field's standard terms (see
//! `docs/GLOSSARY.md`); the two formats that leave the process carry versions
//! of their own: [`results::SCHEMA`] and [`protocol::VERSION`].

#![forbid(unsafe_code)]

pub mod brief;
pub mod catalogue;
pub mod conditions;
pub mod density;
pub mod digits;
pub mod ends;
pub mod finding;
#[cfg(test)]
mod fixture;
pub mod frame;
pub mod gate;
pub mod group;
pub mod host;
pub mod kernel;
pub mod load;
pub mod looks;
pub mod measuring;
pub mod metric;
pub mod output;
pub mod place;
pub mod plain;
pub mod platform;
pub mod protocol;
pub mod regular;
pub mod results;
pub mod rounds;
pub mod shell;
pub mod size;
pub mod sound;
pub mod study;
pub mod suggest;
pub mod template;
pub mod time;
pub mod unit_words;
pub mod workload;

/// The released version of tare, for people.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
