//! The box's end of its network: set by the agent in a machine, and from outside
//! in a container, whose agent may not.

use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};
use tare_sys::interface::{set_address, up};

/// What a container's interface is called: as in any machine with one.
pub const INTERFACE: &str = "eth0";
/// What it may be called in a machine: `vec0` in User-Mode Linux.
const INTERFACES: [&str; 2] = [INTERFACE, "vec0"];

/// Time for the interface to appear after its driver was loaded.
const INTERFACE_DEADLINE: Duration = Duration::from_secs(10);
/// Between two looks for it.
const AGAIN: Duration = Duration::from_millis(5);

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

/// A hardware address of those that anyone may give (its second bit), by the
/// address that goes with it.
pub fn hardware_address(ip: Ipv4Addr) -> [u8; 6] {
    let [a, b, c, d] = ip.octets();
    [0x02, 0x74, a, b, c, d]
}

/// Puts the loopback of the network that the calling thread is in into use, as engines do
/// for their containers.
///
/// # Errors
/// Those of the kernel.
pub fn raise_loopback() -> io::Result<()> {
    if interfaces().iter().any(|name| name == "lo") {
        up("lo")?;
    }
    Ok(())
}

/// Puts the interface of the network that the calling thread is in into use, with
/// this address.
///
/// # Errors
/// Those of the kernel; `NotFound` if no interface appears.
pub fn configure(address: Address) -> io::Result<()> {
    let deadline = Instant::now() + INTERFACE_DEADLINE;
    raise_loopback()?;
    loop {
        let there = interfaces();
        if let Some(name) = INTERFACES
            .iter()
            .find(|name| there.iter().any(|one| one == *name))
        {
            set_address(name, address.ip, address.prefix)?;
            return up(name);
        }
        if Instant::now() > deadline {
            let none = format!("the box has no interface {}", INTERFACES.join(" or "));
            return Err(io::Error::new(io::ErrorKind::NotFound, none));
        }
        std::thread::sleep(AGAIN);
    }
}

/// The names of the interfaces of the network that the calling thread is in. By the table in /proc,
/// which a box has even where it has no sysfs, or that of another network.
pub fn interfaces() -> Vec<String> {
    // A thread may have gone to another network than its process; gVisor knows processes alone.
    let tables = ["/proc/thread-self/net/dev", "/proc/self/net/dev"];
    let table = tables.iter().find_map(|path| std::fs::read_to_string(path).ok());
    parse(&table.unwrap_or_default())
}

/// The table has two lines of headings.
fn parse(table: &str) -> Vec<String> {
    let names = table.lines().skip(2).filter_map(|line| line.split_once(':'));
    names.map(|(name, _)| name.trim().to_owned()).collect()
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
    fn interfaces_are_read_from_the_table() {
        let table = "Inter-|   Receive\n face |bytes\n    lo: 1 2 3\n  eth0:4 5\n";
        assert_eq!(parse(table), ["lo", "eth0"]);
    }
}
