//! What a server is started as, and how it tells that it serves.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a server tells that it serves.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ready {
    /// It prints a line with this pattern, whose group, if there is one, is its port.
    Line(String),
    /// It takes a connection at this port of its address.
    Tcp(String),
    /// This command, run where it runs, ends with status 0.
    Command(Vec<String>),
    /// What only a later version knows, as it stands in the file.
    #[serde(untagged)]
    Later(serde_json::Value),
}

/// A user by number, without other groups than its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct User {
    /// The user.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
}

/// For people: `it takes a connection at port 80`.
impl fmt::Display for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(pattern) => write!(f, "it prints '{pattern}'"),
            Self::Tcp(port) => write!(f, "it takes a connection at port {port}"),
            Self::Command(argv) => write!(f, "'{}' ends with status 0", argv.join(" ")),
            Self::Later(_) => f.write_str("it signals that in a way unknown to this version of tare"),
        }
    }
}
