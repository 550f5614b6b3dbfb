//! The choice of a run's addresses.

use std::net::Ipv4Addr;

/// A range of IPv4 addresses, by its first and the bits that all share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Subnet {
    pub base: Ipv4Addr,
    pub prefix: u8,
}

/// Bits of a run's subnet: room for 4093 boxes at a time.
pub(super) const PREFIX: u8 = 20;
const SIZE: u32 = 1 << (32 - PREFIX);

/// Where subnets are taken from. First the range set aside for measurements
/// (RFC 2544), which nobody routes; then the largest private one.
const RANGES: [Subnet; 2] = [
    Subnet {
        base: Ipv4Addr::new(198, 18, 0, 0),
        prefix: 15,
    },
    Subnet {
        base: Ipv4Addr::new(10, 0, 0, 0),
        prefix: 8,
    },
];

impl Subnet {
    /// Whether an address is in both.
    fn overlaps(self, other: Self) -> bool {
        let bits = u32::from(self.prefix.min(other.prefix));
        let differ = self.base.to_bits() ^ other.base.to_bits();
        differ.checked_shr(32 - bits).unwrap_or(0) == 0
    }

    /// The host's own address in it.
    pub fn host(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.base.to_bits() + 1)
    }

    /// The address of the box of this number.
    pub fn of_box(self, number: u32) -> Ipv4Addr {
        // Neither the subnet itself, nor the host, nor all at once. Numbers only
        // grow: who had an address before is long gone.
        Ipv4Addr::from_bits(self.base.to_bits() + 2 + number % (SIZE - 3))
    }

    /// The subnet of a run's bridge, which has this address.
    pub fn around(host: Ipv4Addr) -> Self {
        Self {
            base: Ipv4Addr::from_bits(host.to_bits() & !(SIZE - 1)),
            prefix: PREFIX,
        }
    }

    /// The subnets of a run's size in it, from the one of this number on.
    fn parts(self, first: u32) -> impl Iterator<Item = Self> {
        let count = 1u32 << (PREFIX - self.prefix);
        (0..count).map(move |n| {
            let at = (first % count + n) % count;
            Self {
                base: Ipv4Addr::from_bits(self.base.to_bits() + at * SIZE),
                prefix: PREFIX,
            }
        })
    }
}

/// A subnet that has no address in common with those taken. Two runs that begin
/// at a time look at different ones first, by `start`.
pub(super) fn choose(taken: &[Subnet], start: u32) -> Option<Subnet> {
    let mut all = RANGES.into_iter().flat_map(|range| range.parts(start));
    all.find(|part| !taken.iter().any(|one| one.overlaps(*part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subnet(text: &str) -> Subnet {
        let (base, prefix) = text.split_once('/').unwrap();
        Subnet {
            base: base.parse().unwrap(),
            prefix: prefix.parse().unwrap(),
        }
    }

    #[test]
    fn what_the_host_uses_is_left_alone() {
        assert_eq!(choose(&[], 0), Some(subnet("198.18.0.0/20")));
        assert_eq!(choose(&[], 33), Some(subnet("198.18.16.0/20")));
        assert_eq!(choose(&[], 31), Some(subnet("198.19.240.0/20")));
        // An address of an interface counts with its whole network.
        assert_eq!(
            choose(&[subnet("198.18.3.7/24")], 0),
            Some(subnet("198.18.16.0/20"))
        );
        assert_eq!(
            choose(&[subnet("198.19.255.1/32")], 31),
            Some(subnet("198.18.0.0/20"))
        );
        assert_eq!(choose(&[subnet("198.18.0.0/15")], 0), Some(subnet("10.0.0.0/20")));
        assert_eq!(
            choose(&[subnet("198.0.0.0/8"), subnet("10.0.0.0/9")], 0),
            Some(subnet("10.128.0.0/20"))
        );
        assert_eq!(choose(&[subnet("198.18.0.0/15"), subnet("10.0.0.0/8")], 5), None);
        assert_eq!(choose(&[subnet("0.0.0.0/0")], 0), None);
    }

    #[test]
    fn every_box_has_an_address_of_its_own_in_the_subnet() {
        let net = subnet("198.18.16.0/20");
        let all: std::collections::BTreeSet<_> = (0..SIZE - 3).map(|n| net.of_box(n)).collect();
        assert_eq!(all.len(), 4093);
        assert_eq!(net.host().to_string(), "198.18.16.1");
        assert_eq!(all.first().unwrap().to_string(), "198.18.16.2");
        assert_eq!(all.last().unwrap().to_string(), "198.18.31.254");
        assert_eq!(net.of_box(u32::MAX).to_string().split('.').next(), Some("198"));
        assert!(all.iter().all(|address| Subnet::around(*address) == net));
    }
}
