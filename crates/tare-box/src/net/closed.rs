//! What keeps a run's bridge from leading anywhere: not into the host's IPv6, where a box
//! could tell it routes by router advertisements (as in CVE-2020-13401), and not on to the
//! host's other networks, which a host with IPv4 forwarding on would lead it to.
//!
//! Forwarding is off by two means that both are the kernel's own and need no packet filter.
//! A switch of each link comes first; but whoever sets `net.ipv4.ip_forward`, as Docker does
//! at its start, sets it for all links anew. A rule of the routing policy stays: what came in
//! by the bridge and is not for the host itself is refused.

use super::NetError;
use super::names::is_of_run;
use super::netlink::{address, ask, index, is_unknown, to_host_priority};
use super::subnet::Subnet;
use futures_util::TryStreamExt;
use rtnetlink::packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use rtnetlink::{Error, Handle, IpVersion};
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

/// Takes IPv6 and the forwarding of IPv4 from a link of the host. To be asked while it is
/// down: a link that is up has an IPv6 address at once.
pub(super) fn link(name: &str) -> Result<(), NetError> {
    switch(name, "ipv6", "accept_ra", "0")?;
    switch(name, "ipv6", "disable_ipv6", "1")?;
    switch(name, "ipv4", "forwarding", "0")
}

/// Lets nothing that arrives at a link get into the host's own IPv4: it resolves no address
/// there, and takes no packet whose source has its way by another link.
pub(super) fn way_in(name: &str) -> Result<(), NetError> {
    switch(name, "ipv4", "rp_filter", "1")?;
    switch(name, "ipv4", "arp_ignore", "8")
}

/// Sets a switch of a link. What the kernel does not have it does not do; what is set need
/// not be written, which may not be allowed.
fn switch(link: &str, family: &str, name: &str, value: &str) -> Result<(), NetError> {
    let file = format!("/proc/sys/net/{family}/conf/{link}/{name}");
    let file = Path::new(&file);
    match fs::read_to_string(file) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(set) if set.trim() == value => Ok(()),
        _ => fs::write(file, value).map_err(|e| NetError {
            what: format!("close the link {link}: write {value} to {}", file.display()),
            why: e.to_string(),
            fix: "make /proc/sys writable, or ask for network=none",
        }),
    }
}

/// Refuses all that comes in by this link and is not for the host itself.
pub(super) fn way_on(name: &str) -> Result<(), NetError> {
    ask(&format!("keep the link {name} from leading on"), async |handle| {
        let priority = match to_host_priority(&handle).await {
            Ok(priority) => priority.saturating_add(1),
            // A kernel without policy routing has the links' own switches alone.
            Err(Error::NetlinkError(e)) if is_unknown(&e.to_io()) => return Ok(()),
            Err(e) => return Err(e),
        };
        let rule = handle.rule().add().v4().input_interface(name);
        rule.priority(priority)
            .action(RuleAction::Prohibit)
            .execute()
            .await
    })
}

/// Removes the rules for links of a run, whether the links are there or not: a rule outlives
/// its link. Returns what was removed.
pub(super) fn open(run: &str) -> Result<Vec<String>, NetError> {
    ask(&format!("remove the routing rules of {run}"), async |handle| {
        let mut removed = Vec::new();
        for (link, rule) in rules(&handle, run).await? {
            handle.rule().del(rule).execute().await?;
            removed.push(format!("routing rule for {link}"));
        }
        Ok(removed)
    })
}

/// The links of a run for which there are rules.
///
/// # Errors
/// [`NetError`].
pub(crate) fn closed_links(run: &str) -> Result<Vec<String>, NetError> {
    ask(&format!("look up the routing rules of {run}"), async |handle| {
        let rules = rules(&handle, run).await?;
        Ok(rules.into_iter().map(|(link, _)| link).collect())
    })
}

/// The rules for links of a run, with the names of the links.
async fn rules(handle: &Handle, run: &str) -> Result<Vec<(String, RuleMessage)>, Error> {
    let all: Vec<_> = match handle.rule().get(IpVersion::V4).execute().try_collect().await {
        Err(Error::NetlinkError(e)) if is_unknown(&e.to_io()) => return Ok(Vec::new()),
        all => all?,
    };
    let by_link = all.into_iter().filter_map(|rule| Some((input_of(&rule)?, rule)));
    Ok(by_link.filter(|(link, _)| is_of_run(run, link)).collect())
}

fn input_of(rule: &RuleMessage) -> Option<String> {
    rule.attributes.iter().find_map(|attribute| match attribute {
        RuleAttribute::Iifname(link) => Some(link.clone()),
        _ => None,
    })
}

/// The host's address on the bridge of the run, if this is that of a box there.
pub(crate) fn gateway_of(run: &str, ip: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V4(ip) = ip else {
        return None;
    };
    let host = ask("look up the bridge", async |handle| {
        match index(&handle, run).await? {
            Some(bridge) => address(&handle, bridge).await,
            None => Ok(None),
        }
    });
    let host = host.ok().flatten()?;
    (Subnet::around(host) == Subnet::around(ip)).then_some(host)
}

/// Whether the host forwards IPv4 at all.
pub(crate) fn forwards() -> bool {
    fs::read_to_string("/proc/sys/net/ipv4/ip_forward").is_ok_and(|on| on.trim() == "1")
}

/// The IPv6 addresses and routes that the host has by links of the run, as the kernel tells them.
pub(crate) fn v6_of(run: &str) -> Vec<String> {
    let tables = ["/proc/net/if_inet6", "/proc/net/ipv6_route"];
    let text = tables
        .map(|table| fs::read_to_string(table).unwrap_or_default())
        .concat();
    let by_run = |line: &&str| {
        let link = line.split_whitespace().next_back();
        link.is_some_and(|link| is_of_run(run, link))
    };
    text.lines().filter(by_run).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::bridge::{Port, clear};

    const RUN: &str = "tare-0000abcd";

    /// In a network of the test's own, where forwarding harms nobody.
    fn in_a_new_network(test: impl FnOnce() + Send + 'static) {
        let there = std::thread::spawn(|| match tare_sys::enter_new_network() {
            Ok(()) => test(),
            Err(e) => eprintln!("skipped: no network can be made here: {e}"),
        });
        there.join().unwrap();
    }

    fn forwarding_of(link: &str) -> String {
        let file = format!("/proc/sys/net/ipv4/conf/{link}/forwarding");
        fs::read_to_string(file).unwrap().trim().to_owned()
    }

    #[test]
    fn a_bridge_stays_closed_when_forwarding_is_set_for_all_links_anew() {
        in_a_new_network(|| {
            // A new network has the host's setting, and only a change of it reaches all links.
            fs::write("/proc/sys/net/ipv4/ip_forward", "0").unwrap();
            let (port, _tap) = Port::tap("tare-0000abcd-1", RUN, false).unwrap();
            assert_eq!([RUN, "t0000abcd-1"].map(forwarding_of), ["0", "0"]);
            fs::write("/proc/sys/net/ipv4/ip_forward", "1").unwrap();
            assert_eq!(forwarding_of(RUN), "1");
            assert_eq!(closed_links(RUN).unwrap(), [RUN]);
            drop(port);
            let removed = clear(RUN).unwrap();
            assert!(
                removed.contains(&format!("routing rule for {RUN}")),
                "{removed:?}"
            );
            assert_eq!(closed_links(RUN).unwrap(), Vec::<String>::new());
        });
    }

    #[test]
    fn a_rule_is_removed_also_where_its_bridge_is_gone() {
        in_a_new_network(|| {
            way_on(RUN).unwrap();
            way_on("eth0").unwrap();
            assert_eq!(clear(RUN).unwrap(), [format!("routing rule for {RUN}")]);
            assert_eq!(clear(RUN).unwrap(), Vec::<String>::new());
        });
    }
}
