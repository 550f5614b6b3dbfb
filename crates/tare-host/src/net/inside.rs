//! The box's end of its network: set by the agent in a machine, and from outside
//! in a container, whose agent may not.

use super::NetError;
use super::netlink::{ask, bring_up, index};
use rtnetlink::Handle;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fmt;
use std::fs::{self, File};
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// What a container's interface is called: as in any machine with one.
pub(super) const INTERFACE: &str = "eth0";
/// What it may be called in a machine: `vec0` in User-Mode Linux.
const INTERFACES: [&str; 2] = [INTERFACE, "vec0"];

/// Time for the interface to appear after its driver was loaded.
const INTERFACE_DEADLINE: Duration = Duration::from_secs(10);

/// An address with the bits of it that its network shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// The address.
    pub ip: Ipv4Addr,
    /// Bits of the network.
    pub prefix: u8,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.ip, self.prefix)
    }
}

impl std::str::FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/');
        let parsed = parts.and_then(|(ip, prefix)| {
            Some(Self {
                ip: ip.parse().ok()?,
                prefix: prefix.parse().ok().filter(|bits| *bits <= 32)?,
            })
        });
        parsed.ok_or_else(|| format!("'{text}' is not an address such as 198.18.0.2/20"))
    }
}

/// Puts the loopback of the network that the calling thread is in into use, as engines do
/// for their containers.
///
/// # Errors
/// [`NetError`].
pub fn raise_loopback() -> Result<(), NetError> {
    ask("put the loopback into use", async |handle| {
        loopback_up(&handle).await
    })
}

async fn loopback_up(handle: &Handle) -> Result<(), rtnetlink::Error> {
    match index(handle, "lo").await? {
        Some(loopback) => bring_up(handle, loopback, None).await,
        None => Ok(()),
    }
}

/// Puts the interface of the network that the calling thread is in into use, with
/// this address.
///
/// # Errors
/// [`NetError`].
pub fn configure(address: Address) -> Result<(), NetError> {
    ask("give the box its address", async |handle| {
        let deadline = Instant::now() + INTERFACE_DEADLINE;
        loopback_up(&handle).await?;
        loop {
            for name in INTERFACES {
                if let Some(found) = index(&handle, name).await? {
                    return bring_up(&handle, found, Some((address.ip, address.prefix))).await;
                }
            }
            if Instant::now() > deadline {
                let none = format!("the box has no interface {}", INTERFACES.join(" or "));
                return Err(rtnetlink::Error::NamespaceError(none));
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
}

/// The network of a box, by the first of its processes that is not in ours.
pub(super) fn namespace(processes: &[u32]) -> Option<File> {
    let of = |process: &str| fs::read_link(format!("/proc/{process}/ns/net")).ok();
    let ours = of("self")?;
    let theirs = processes.iter().find(|pid| {
        let theirs = of(&pid.to_string());
        theirs.is_some_and(|theirs| theirs != ours)
    })?;
    File::open(format!("/proc/{theirs}/ns/net")).ok()
}

/// As [`configure`], in the network of a box. Only a thread that ends afterwards
/// goes there.
pub(super) fn configure_in(namespace: File, address: Address) -> Result<(), NetError> {
    let there = std::thread::spawn(move || {
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))
            .map_err(|e| NetError::new("enter the network of the box", e))?;
        configure(address)
    });
    let lost = |_| {
        Err(NetError::new(
            "give the box its address",
            "the thread for it failed",
        ))
    };
    there.join().unwrap_or_else(lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_is_written() {
        let address: Address = "198.18.0.2/20".parse().unwrap();
        assert_eq!(address.to_string(), "198.18.0.2/20");
        for text in ["198.18.0.2", "198.18.0.2/33", "/20", "a/b", ""] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_process_in_our_own_network_shows_no_other() {
        assert!(namespace(&[std::process::id()]).is_none());
        assert!(namespace(&[]).is_none());
    }
}
