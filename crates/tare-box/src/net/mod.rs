//! Networks between boxes and the host: for engines that bring none, a bridge
//! per run, which leads nowhere else.
//!
//! What is made bears the run's name and is removed at the run's end, or by the
//! next start's sweep: see [`clear`].

mod bridge;
mod filter;
mod inside;
mod names;
mod netlink;
mod subnet;

pub use bridge::{Port, clear};
pub use inside::{Address, configure};
pub use names::{interfaces, leads_to};

/// The network that a box is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Network {
    /// None.
    #[default]
    None,
    /// The host's own.
    Host,
    /// One that the box shares with the host and with other boxes of the run.
    Bridge,
}

impl Network {
    /// Every value of the option.
    pub const ALL: [Self; 3] = [Self::None, Self::Host, Self::Bridge];
    /// The option's name.
    pub const OPTION: &'static str = "network";

    /// Its name as the option's value.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Host => "host",
            Self::Bridge => "bridge",
        }
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
    "run tare as root on a host whose kernel has bridge, veth and tun, or ask for network=none";

impl NetError {
    fn new(what: impl Into<String>, why: impl ToString) -> Self {
        Self {
            what: what.into(),
            why: why.to_string(),
            fix: ASK_FOR_NONE,
        }
    }
}
