//! The bridge of a run and the links that lead from it to boxes.

use super::inside::{configure_in, namespace};
use super::names::{number_of, of_run, port_of};
use super::netlink::{add, address, ask, bring_up, index, remove, taken};
use super::subnet::{PREFIX, Subnet, choose};
use super::{HostReach, NetError, carrier, closed, filter};
use rtnetlink::packet_route::link::{InfoData, InfoKind, InfoVeth, LinkMessage, MacVlanMode};
use rtnetlink::{Handle, LinkBridge, LinkMacVlan, LinkMessageBuilder, LinkUnspec, LinkVeth};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use tare_box::interface::{Address, INTERFACE, hardware_address, interfaces};

/// The run's bridge.
struct Bridge {
    index: u32,
    subnet: Subnet,
}

impl Bridge {
    /// That of this run, made for its first box. The kernel alone remembers it.
    fn of(run: &str) -> Result<Self, NetError> {
        let found = ask(&format!("look up the bridge {run}"), async |handle| {
            let Some(index) = index(&handle, run).await? else {
                return Ok(None);
            };
            let host = address(&handle, index).await?;
            Ok(host.map(|host| Self {
                index,
                subnet: Subnet::around(host),
            }))
        })?;
        match found {
            Some(bridge) => Ok(bridge),
            None => Self::make(run).inspect_err(|_| {
                // Half a bridge is none; what cannot be removed now is swept.
                let _ = clear(run);
            }),
        }
    }

    fn make(run: &str) -> Result<Self, NetError> {
        let what = format!("make the bridge {run}");
        let taken = ask(&what, async |handle| taken(&handle).await)?;
        let start = run
            .rsplit('-')
            .next()
            .and_then(|id| u32::from_str_radix(id, 16).ok());
        let subnet = choose(&taken, start.unwrap_or_default()).ok_or_else(|| NetError {
            what: what.clone(),
            why: "the host has routes to all of 198.18.0.0/15 and of 10.0.0.0/8".to_owned(),
            fix: "remove a route that is not needed, or use network=none",
        })?;
        let index = ask(&what, async |handle| {
            // A bridge without an address of its own takes the lowest of its links',
            // which changes under boxes that know it as they come and go.
            let link = LinkBridge::new(run).address(hardware_address(subnet.host()).to_vec());
            add(&handle, run, link.build()).await
        })?;
        // While it is down: from the moment that it is up, boxes of any kind may be on it.
        closed::link(run)?;
        closed::way_on(run)?;
        closed::way_to(run, subnet)?;
        ask(&what, async |handle| {
            bring_up(&handle, index, Some((subnet.host(), PREFIX))).await
        })?;
        filter::open(run)?;
        Ok(Self { index, subnet })
    }
}

/// What leads from the bridge to a box; removed when dropped.
pub struct Port {
    /// Name of the host's end.
    name: String,
    address: Address,
    /// The host's address on the bridge.
    host: Ipv4Addr,
    host_reach: HostReach,
}

impl Port {
    /// A port for the box `name` of `run`, and the number of the bridge for it.
    fn of(name: &str, run: &str) -> Result<(Self, u32), NetError> {
        let what = || format!("connect {name} to a bridge");
        let names = port_of(name).zip(number_of(name));
        let (port, number) = names
            .ok_or_else(|| NetError::new(what(), "it is not one of the first million names of a run"))?;
        let bridge = Bridge::of(run)?;
        let address = Address {
            ip: bridge.subnet.of_box(number),
            prefix: PREFIX,
        };
        let port = Self {
            name: port,
            address,
            host: bridge.subnet.host(),
            host_reach: HostReach::Direct,
        };
        Ok((port, bridge.index))
    }

    /// Connects a container, which has these processes and a network of its own.
    ///
    /// # Errors
    /// [`NetError`]; nothing is left behind.
    pub fn veth(name: &str, run: &str, processes: &[u32]) -> Result<Self, NetError> {
        let (port, bridge) = Self::into_container(name, run, processes, |port, _, inside| {
            let there = LinkMessageBuilder::<LinkUnspec>::new()
                .name(INTERFACE)
                .address(port.hardware_address().to_vec())
                .setns_by_fd(inside)
                .build();
            let here = LinkMessageBuilder::<LinkVeth>::new_with_info_kind(InfoKind::Veth)
                .name(&port.name)
                .set_info_data(InfoData::Veth(InfoVeth::Peer(there)));
            here.build()
        })?;
        port.connect(run, bridge)?;
        Ok(port)
    }

    /// As [`Port::veth`], by a hardware address of the container's own on the bridge:
    /// there is nothing of it outside.
    ///
    /// # Errors
    /// [`NetError`]; nothing is left behind.
    pub fn macvlan(name: &str, run: &str, processes: &[u32]) -> Result<Self, NetError> {
        carrier::ensure(run, Bridge::of(run)?.index)?;
        let (mut port, _) = Self::into_container(name, run, processes, |port, bridge, inside| {
            LinkMacVlan::new(INTERFACE, bridge, MacVlanMode::Bridge)
                .address(port.hardware_address().to_vec())
                .setns_by_fd(inside)
                .build()
        })?;
        port.host_reach = HostReach::Never;
        Ok(port)
    }

    /// Makes the link that `describe` tells for the bridge of this number and the network
    /// of the container, and puts it into use there. With the number of the bridge.
    fn into_container(
        name: &str,
        run: &str,
        processes: &[u32],
        describe: impl FnOnce(&Self, u32, RawFd) -> LinkMessage,
    ) -> Result<(Self, u32), NetError> {
        let what = format!("connect {name} to the bridge {run}");
        let (port, bridge) = Self::of(name, run)?;
        let inside = namespace(processes)
            .ok_or_else(|| NetError::new(&what, "it has no process in a network of its own"))?;
        let link = describe(&port, bridge, inside.as_raw_fd());
        ask(&what, async |handle| handle.link().add(link).execute().await)?;
        configure_in(inside, port.address)?;
        Ok((port, bridge))
    }

    /// Makes a tap for a machine, which goes with the descriptor; `virtio`: with
    /// headers of that kind.
    ///
    /// # Errors
    /// [`NetError`]; nothing is left behind.
    pub fn tap(name: &str, run: &str, virtio: bool) -> Result<(Self, OwnedFd), NetError> {
        let what = format!("connect {name} to the bridge {run}");
        let (port, bridge) = Self::of(name, run)?;
        let tap = tare_sys::tap(&port.name, virtio).map_err(|e| NetError::new(&what, e))?;
        port.connect(run, bridge)?;
        Ok((port, tap))
    }

    /// Puts the host's end into the bridge of this number.
    fn connect(&self, run: &str, bridge: u32) -> Result<(), NetError> {
        // While it is down: see there.
        closed::link(&self.name)?;
        let what = format!("connect {} to the bridge {run}", self.name);
        ask(&what, async |handle| connect(&handle, &self.name, bridge).await)
    }

    /// The box's address.
    pub fn address(&self) -> Address {
        self.address
    }

    /// The host's address, if the box reaches it.
    pub fn host_address(&self) -> Option<Ipv4Addr> {
        (self.host_reach != HostReach::Never).then_some(self.host)
    }

    /// How the host reaches the box.
    pub fn host_reach(&self) -> HostReach {
        self.host_reach
    }

    /// The hardware address of the box's end.
    fn hardware_address(&self) -> [u8; 6] {
        hardware_address(self.address.ip)
    }

    /// As VMMs want to be told it.
    pub fn mac(&self) -> String {
        self.hardware_address()
            .map(|byte| format!("{byte:02x}"))
            .join(":")
    }
}

async fn connect(handle: &Handle, name: &str, bridge: u32) -> Result<(), rtnetlink::Error> {
    let index = index(handle, name)
        .await?
        .ok_or(rtnetlink::Error::RequestFailed)?;
    let link = LinkUnspec::new_with_index(index).controller(bridge).up();
    handle.link().set(link.build()).execute().await
}

impl Drop for Port {
    fn drop(&mut self) {
        // The kernel removes it too, but later, when it clears the box's network
        // away. What is left nevertheless is removed at the end of the run.
        let _ = ask(&format!("remove {}", self.name), async |handle| {
            remove(&handle, &self.name).await
        });
    }
}

/// Removes what a run has made in the host's network: the rule of the packet
/// filter, the bridge and what leads to boxes, and last the rules that kept the bridge
/// closed. Returns what was removed.
///
/// # Errors
/// [`NetError`].
pub fn clear(run: &str) -> Result<Vec<String>, NetError> {
    let mut removed = Vec::new();
    let links = of_run(run, interfaces());
    if links.iter().any(|link| link == run) && filter::close(run)? {
        removed.push("rule of the packet filter".to_owned());
    }
    for link in links {
        ask(&format!("remove the link {link}"), async |handle| {
            remove(&handle, &link).await
        })?;
        removed.push(format!("link {link}"));
    }
    match closed::open(run) {
        Ok(rules) => removed.extend(rules),
        // Where the kernel cannot be asked about networks, a run without links made no rules.
        Err(_) if removed.is_empty() => {}
        Err(e) => return Err(e),
    }
    Ok(removed)
}
