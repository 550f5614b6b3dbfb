//! Networks between boxes and the host: for engines that bring none, a bridge
//! per run, which leads nowhere else.
//!
//! What is made bears the run's name and is removed at the run's end, or by the
//! next start's sweep: see [`clear`].

mod beside;
mod bridge;
mod carrier;
mod closed;
mod filter;
mod inside;
mod names;
mod netlink;
mod subnet;

pub use beside::Beside;
pub use bridge::{Port, clear};
pub use closed::{closed_links, forwards, gateway_of, v6_of};
pub use names::leads_to;
pub use netlink::{makes_macvlan, without_bridges};

use std::net::SocketAddr;

/// The network that a box is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Network {
    #[default]
    None,
    /// The host's own.
    Host,
    /// One that the box shares with the host and with other boxes of the run.
    Bridge,
    /// A hardware address of its own on the run's bridge, from which boxes reach one
    /// another but not the host: the kernel keeps the two apart.
    Macvlan,
    /// The engine's bridge, and a port of the host, on its loopback alone, that leads to
    /// the box's port [`PORT`].
    Published,
    /// A port of the host as with [`Self::Published`], by pasta: an ordinary user's process that passes connections on.
    Pasta,
    /// The same by slirp4netns, a network stack in a process.
    Slirp4netns,
}

/// The port of a box that is published.
pub const PORT: u16 = 7411;

/// How the host reaches what listens in a box with an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HostReach {
    /// At the box's address.
    #[default]
    Direct,
    /// Not at all.
    Never,
    /// What listens at the box's port [`PORT`], here; its address serves as well.
    Published(SocketAddr),
}

impl Network {
    /// What engines can give their containers.
    pub const OF_ENGINES: [Self; 4] = [Self::None, Self::Host, Self::Bridge, Self::Published];
    /// What those of an ordinary user can: their bridge is out of the host's reach.
    pub const OF_ROOTLESS: [Self; 4] = [Self::None, Self::Host, Self::Pasta, Self::Slirp4netns];
    /// What tare gives containers whose engine brings no network.
    pub const OF_TOOLS: [Self; 4] = [Self::None, Self::Host, Self::Bridge, Self::Macvlan];
    /// What a box in another can have, which is made there with nothing else.
    pub const OF_INNER: [Self; 2] = [Self::None, Self::Host];
    /// The option's name.
    pub const OPTION: &'static str = "network";

    /// Its name as the option's value.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Host => "host",
            Self::Bridge => "bridge",
            Self::Macvlan => "macvlan",
            Self::Published => "published",
            Self::Pasta => "pasta",
            Self::Slirp4netns => "slirp4netns",
        }
    }

    /// Whether the host reaches a box by the port that is published, and by nothing else.
    pub const fn is_published(self) -> bool {
        matches!(self, Self::Published | Self::Pasta | Self::Slirp4netns)
    }
}

/// Why a box has no network.
#[derive(Debug, thiserror::Error)]
#[error("cannot {what}: {why}; {fix}")]
pub struct NetError {
    what: String,
    why: String,
    fix: &'static str,
}

/// What to do where the kernel refuses.
const ASK_FOR_NONE: &str =
    "run tare as root on a host whose kernel has bridge, veth and tun, or use network=none";

impl NetError {
    fn new(what: impl Into<String>, why: impl ToString) -> Self {
        Self {
            what: what.into(),
            why: why.to_string(),
            fix: ASK_FOR_NONE,
        }
    }
}
