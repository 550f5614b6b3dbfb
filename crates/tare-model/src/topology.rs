//! The two ends of a network kernel: which of them is in the box of the cell.

use crate::place::Place;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Where the two ends of a network kernel are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topology {
    /// Both in the box, over its own loopback.
    #[default]
    Loopback,
    /// The server in the box; the client, which is timed, on the host.
    ClientOutside,
    /// The client, which is timed, in the box; the server on the host.
    ServerOutside,
    /// The client, which is timed, in the box; the server in another one beside it, of the same kind.
    ServerApart,
}

impl Topology {
    /// All, in the order in which they are told.
    pub const ALL: [Self; 4] = [
        Self::Loopback,
        Self::ClientOutside,
        Self::ServerOutside,
        Self::ServerApart,
    ];
    /// The name of the parameter.
    pub const PARAMETER: &'static str = "ends";

    /// Its name as the parameter's value.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loopback => "loopback",
            Self::ClientOutside => "client-outside",
            Self::ServerOutside => "server-outside",
            Self::ServerApart => "server-apart",
        }
    }

    /// Whether both are in the box.
    pub fn are_together(&self) -> bool {
        *self == Self::Loopback
    }

    /// Where the client is.
    pub const fn client(self) -> Place {
        match self {
            Self::Loopback | Self::ServerOutside | Self::ServerApart => Place::Tested,
            Self::ClientOutside => Place::Outside,
        }
    }

    /// Where the server is.
    pub const fn server(self) -> Place {
        match self {
            Self::Loopback | Self::ClientOutside => Place::Tested,
            Self::ServerOutside => Place::Outside,
            Self::ServerApart => Place::Apart,
        }
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Topology {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|ends| ends.name() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("'{text}' is not a value of ends: choose one of {names}")
        })
    }
}
