//! What is asked of the kernel about the network that the calling thread is in.

use super::NetError;
use super::subnet::Subnet;
use futures_util::TryStreamExt;
use rtnetlink::packet_route::address::AddressAttribute;
use rtnetlink::packet_route::link::{InfoKind, LinkMessage};
use rtnetlink::packet_route::route::{RouteAddress, RouteAttribute};
use rtnetlink::packet_route::rule::RuleAttribute;
use rtnetlink::{
    Error, Handle, IpVersion, LinkBridge, LinkMacVlan, LinkMessageBuilder, LinkUnspec, LinkVeth,
    RouteMessageBuilder,
};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;
use tokio::runtime::Builder;

/// Time for the kernel's answers, which takes microseconds unless it waits for
/// another who changes networks.
const DEADLINE: Duration = Duration::from_secs(20);

/// Asks the kernel; `what` is what for.
pub(super) fn ask<T>(
    what: &str,
    asking: impl AsyncFnOnce(Handle) -> Result<T, Error>,
) -> Result<T, NetError> {
    let failed = |why: &dyn ToString| NetError::new(what, why.to_string());
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| failed(&e))?;
    runtime.block_on(async {
        let (connection, handle, _) = rtnetlink::new_connection().map_err(|e| failed(&e))?;
        tokio::spawn(connection);
        let answered = tokio::time::timeout(DEADLINE, asking(handle)).await;
        answered
            .map_err(|_| {
                failed(&format!(
                    "no answer of the kernel within {} s",
                    DEADLINE.as_secs()
                ))
            })?
            .map_err(|e| failed(&e))
    })
}

/// The number of the link of this name, if there is one.
pub(super) async fn index(handle: &Handle, name: &str) -> Result<Option<u32>, Error> {
    let mut found = handle.link().get().match_name(name.to_owned()).execute();
    match found.try_next().await {
        Ok(link) => Ok(link.map(|link| link.header.index)),
        Err(Error::NetlinkError(e)) if is_missing(&e.to_io()) => Ok(None),
        Err(e) => Err(e),
    }
}

fn is_missing(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::NODEV.raw_os_error())
}

/// Removes a link, if there is one of this name.
pub(super) async fn remove(handle: &Handle, name: &str) -> Result<(), Error> {
    let Some(index) = index(handle, name).await? else {
        return Ok(());
    };
    match handle.link().del(index).execute().await {
        // It went by itself, with the box at its other end.
        Err(Error::NetlinkError(e)) if is_missing(&e.to_io()) => Ok(()),
        done => done,
    }
}

/// Whether the kernel makes links of this kind, which it is asked for without the link
/// that it needs to stand on: it refuses that, or the kind.
pub fn makes_macvlan() -> bool {
    let asked = ask("ask the kernel for macvlan", async |handle| {
        let nowhere = LinkMessageBuilder::<LinkMacVlan>::new("tare-probe").build();
        let refused = handle.link().add(nowhere).execute().await;
        let unknown = matches!(refused, Err(Error::NetlinkError(e)) if is_unknown(&e.to_io()));
        Ok(!unknown)
    });
    asked.unwrap_or(false)
}

/// Why the kernel makes no bridge, or no links of containers to one; `None`: it does. It is asked
/// with a hardware address that nothing can have: it refuses that, or the kind, or who asks.
pub fn without_bridges() -> Option<std::io::Error> {
    const NAME: &str = "tare-probe";
    let nobody = vec![0; 6];
    let bridge = LinkBridge::new(NAME).address(nobody.clone()).build();
    let link = LinkMessageBuilder::<LinkVeth>::new_with_info_kind(InfoKind::Veth);
    let link = link.name(NAME).address(nobody).build();
    let asked = ask("ask the kernel for a bridge", async |handle| {
        for kind in [bridge, link] {
            if let Err(Error::NetlinkError(e)) = handle.link().add(kind).execute().await {
                let refused = e.to_io();
                if is_unknown(&refused) || refused.kind() == std::io::ErrorKind::PermissionDenied {
                    return Ok(Some(refused));
                }
            }
        }
        Ok(None)
    });
    asked.unwrap_or_else(|error| Some(std::io::Error::other(error)))
}

/// Whether the kernel knows nothing of what it was asked.
pub(super) fn is_unknown(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::OPNOTSUPP.raw_os_error())
}

/// Makes a link and tells its number.
pub(super) async fn add(handle: &Handle, name: &str, link: LinkMessage) -> Result<u32, Error> {
    handle.link().add(link).execute().await?;
    index(handle, name).await?.ok_or(Error::RequestFailed)
}

/// Gives a link its address and puts it into use.
pub(super) async fn bring_up(
    handle: &Handle,
    index: u32,
    address: Option<(Ipv4Addr, u8)>,
) -> Result<(), Error> {
    if let Some((ip, prefix)) = address {
        handle.address().add(index, ip.into(), prefix).execute().await?;
    }
    let up = LinkUnspec::new_with_index(index).up().build();
    handle.link().set(up).execute().await
}

/// The table of routes that end at the host itself (RT_TABLE_LOCAL of rtnetlink(7)).
const TABLE_OF_HOST: u8 = 255;

/// The place among the rules of the routing policy of the one that leads to the host itself:
/// the first, if nobody has moved it.
pub(super) async fn to_host_priority(handle: &Handle) -> Result<u32, Error> {
    let rules: Vec<_> = handle.rule().get(IpVersion::V4).execute().try_collect().await?;
    let to_host = rules.iter().find(|rule| rule.header.table == TABLE_OF_HOST);
    let priorities = to_host.into_iter().flat_map(|rule| &rule.attributes);
    // The kernel does not tell one that is 0.
    let mut told = priorities.filter_map(|attribute| match attribute {
        RuleAttribute::Priority(priority) => Some(*priority),
        _ => None,
    });
    Ok(told.next().unwrap_or_default())
}

/// Adds a way to one address, or to all there are, by this gateway.
pub(super) async fn way(handle: &Handle, to: Option<Ipv4Addr>, by: Ipv4Addr) -> Result<(), Error> {
    let way = RouteMessageBuilder::<Ipv4Addr>::new().gateway(by);
    let way = match to {
        Some(to) => way.destination_prefix(to, 32),
        None => way,
    };
    handle.route().add(way.build()).replace().execute().await
}

/// The first IPv4 address of a link.
pub(super) async fn address(handle: &Handle, index: u32) -> Result<Option<Ipv4Addr>, Error> {
    let all: Vec<_> = handle
        .address()
        .get()
        .set_link_index_filter(index)
        .execute()
        .try_collect()
        .await?;
    let mut v4 = all
        .iter()
        .flat_map(|message| &message.attributes)
        .filter_map(v4_of);
    Ok(v4.next())
}

fn v4_of(attribute: &AddressAttribute) -> Option<Ipv4Addr> {
    match attribute {
        AddressAttribute::Address(IpAddr::V4(ip)) => Some(*ip),
        _ => None,
    }
}

/// All that is an address of this host or that it knows a way to, but for the
/// way to everything.
pub(super) async fn taken(handle: &Handle) -> Result<Vec<Subnet>, Error> {
    let routes = RouteMessageBuilder::<Ipv4Addr>::new().build();
    let routes: Vec<_> = handle.route().get(routes).execute().try_collect().await?;
    let mut taken = Vec::new();
    for route in routes {
        let prefix = route.header.destination_prefix_length;
        taken.extend(route.attributes.iter().filter_map(|attribute| match attribute {
            RouteAttribute::Destination(RouteAddress::Inet(base)) if prefix > 0 => {
                Some(Subnet { base: *base, prefix })
            }
            _ => None,
        }));
    }
    let addresses: Vec<_> = handle.address().get().execute().try_collect().await?;
    for message in addresses {
        let prefix = message.header.prefix_len;
        let found = message.attributes.iter().filter_map(v4_of);
        taken.extend(found.map(|base| Subnet { base, prefix }));
    }
    Ok(taken)
}
