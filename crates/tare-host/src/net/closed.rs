//! What keeps a run's bridge from leading anywhere: not into the host's IPv6, where a box
//! could tell it routes by router advertisements (as in CVE-2020-13401), not on to the
//! host's other networks, which a host with IPv4 forwarding on would lead it to, nor from
//! them into boxes; and no box tells the host another way to anywhere.
//!
//! Forwarding is off by two means that both are the kernel's own and need no packet filter.
//! A switch of each link comes first; but whoever sets `net.ipv4.ip_forward`, as Docker does
//! at its start, sets it for all links anew. Rules of the routing policy stay: what came in
//! by the bridge and is not for the host itself is refused, and so is what is for a box and
//! does not come from the host itself.

use super::NetError;
use super::names::{is_of_run, mark_of};
use super::netlink::{address, ask, index, is_unknown, to_host_priority};
use super::subnet::{PREFIX, Subnet};
use futures_util::TryStreamExt;
use rtnetlink::packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use rtnetlink::{Error, Handle, IpVersion};
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

/// Table of the host's own routes (RT_TABLE_MAIN of rtnetlink(7)).
const TABLE_OF_ROUTES: u32 = 254;
/// Value of `net.ipv4.conf.all.rp_filter` by which a packet of any source that has a way at all
/// is taken on every link, whatever is set for it.
const LOOSE: &str = "2";

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
            fix: "make /proc/sys writable, or use network=none",
        }),
    }
}

/// Refuses all that comes in by this link and is not for the host itself, and that a box there
/// tells the host another way to anywhere.
pub(super) fn way_on(name: &str) -> Result<(), NetError> {
    let added = ask(&format!("keep the link {name} from leading on"), async |handle| {
        let Some(priority) = first_priority(&handle).await? else {
            return Ok(false);
        };
        let rule = handle.rule().add().v4().input_interface(name);
        let rule = rule.priority(priority).action(RuleAction::Prohibit);
        rule.execute().await.map(|()| true)
    })?;
    no_redirects(name, added)
}

/// Refuses all that is for the boxes of a run and does not come from the host itself.
///
/// Neither rule names a link of the run by which it could be found again: a mark that no packet
/// is held against (its mask is 0) tells whose it is.
pub(super) fn way_to(run: &str, boxes: Subnet) -> Result<(), NetError> {
    ask(&format!("keep others from the boxes of {run}"), async |handle| {
        let Some(priority) = first_priority(&handle).await? else {
            return Ok(());
        };
        let rule = || {
            let mut rule = handle.rule().add().v4().destination_prefix(boxes.base, PREFIX);
            let whose = mark_of(run).map(|mark| [RuleAttribute::FwMark(mark), RuleAttribute::FwMask(0)]);
            rule.message_mut().attributes.extend(whose.into_iter().flatten());
            rule
        };
        // The kernel says of what the host itself sends that it comes in by its loopback.
        let from_host = rule().input_interface("lo").table_id(TABLE_OF_ROUTES);
        let from_host = from_host.priority(priority).action(RuleAction::ToTable);
        from_host.execute().await?;
        // Behind the other.
        let from_others = rule().priority(priority.saturating_add(1));
        from_others.action(RuleAction::Prohibit).execute().await
    })
}

/// The first place among the rules behind that of the one which leads to the host itself; `None`
/// of a kernel without policy routing, which has the links' own switches alone.
async fn first_priority(handle: &Handle) -> Result<Option<u32>, Error> {
    match to_host_priority(handle).await {
        Ok(priority) => Ok(Some(priority.saturating_add(1))),
        Err(Error::NetlinkError(e)) if is_unknown(&e.to_io()) => Ok(None),
        Err(e) => Err(e),
    }
}

/// Takes no redirect (ICMP, RFC 792) that arrives at a link. A box would send it in the name of
/// a gateway in another network: a source that has its way by another link is none here. Where
/// the host takes any source on all links, a redirect is refused by the switch for it, which the
/// kernel asks only on links that forward; that this one leads nowhere is then up to the rule.
fn no_redirects(name: &str, has_rule: bool) -> Result<(), NetError> {
    switch(name, "ipv4", "rp_filter", "1")?;
    let of_all = fs::read_to_string("/proc/sys/net/ipv4/conf/all/rp_filter");
    if has_rule && of_all.is_ok_and(|set| set.trim() == LOOSE) {
        switch(name, "ipv4", "accept_redirects", "0")?;
        switch(name, "ipv4", "send_redirects", "0")?;
        switch(name, "ipv4", "forwarding", "1")?;
    }
    Ok(())
}

/// Removes the rules of a run, whether its links are there or not: a rule outlives its link.
/// Returns what was removed.
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

/// The links of a run for which there are rules; its bridge for those of its boxes.
///
/// # Errors
/// [`NetError`].
pub fn closed_links(run: &str) -> Result<Vec<String>, NetError> {
    ask(&format!("look up the routing rules of {run}"), async |handle| {
        let rules = rules(&handle, run).await?;
        Ok(rules.into_iter().map(|(link, _)| link).collect())
    })
}

/// The rules of a run, with the names of the links.
async fn rules(handle: &Handle, run: &str) -> Result<Vec<(String, RuleMessage)>, Error> {
    let all: Vec<_> = match handle.rule().get(IpVersion::V4).execute().try_collect().await {
        Err(Error::NetlinkError(e)) if is_unknown(&e.to_io()) => return Ok(Vec::new()),
        all => all?,
    };
    let of_run = |rule: &RuleMessage| {
        let input = input_of(rule).filter(|link| is_of_run(run, link));
        input.or_else(|| is_marked(rule, run).then(|| run.to_owned()))
    };
    let found = all.into_iter().filter_map(|rule| Some((of_run(&rule)?, rule)));
    Ok(found.collect())
}

fn input_of(rule: &RuleMessage) -> Option<String> {
    rule.attributes.iter().find_map(|attribute| match attribute {
        RuleAttribute::Iifname(link) => Some(link.clone()),
        _ => None,
    })
}

/// Whether [`way_to`] made a rule for this run.
fn is_marked(rule: &RuleMessage, run: &str) -> bool {
    let has = |wanted: RuleAttribute| rule.attributes.contains(&wanted);
    mark_of(run).is_some_and(|mark| has(RuleAttribute::FwMark(mark)) && has(RuleAttribute::FwMask(0)))
}

/// The host's address on the bridge of the run, if this is that of a box there.
pub fn gateway_of(run: &str, ip: IpAddr) -> Option<Ipv4Addr> {
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
pub fn forwards() -> bool {
    fs::read_to_string("/proc/sys/net/ipv4/ip_forward").is_ok_and(|on| on.trim() == "1")
}

/// The IPv6 addresses and routes that the host has by links of the run, as the kernel tells them.
pub fn v6_of(run: &str) -> Vec<String> {
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
    use std::process::Command;
    use tare_agent::act::stray::{checksum, packet};

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
            assert_eq!(closed_links(RUN).unwrap(), [RUN; 3]);
            drop(port);
            let removed = clear(RUN).unwrap();
            assert!(
                removed.contains(&format!("routing rule for {RUN}")),
                "{removed:?}"
            );
            assert_eq!(closed_links(RUN).unwrap(), Vec::<String>::new());
        });
    }

    /// Runs `ip` in this thread's network; what it prints.
    fn ip(words: &str) -> String {
        let output = Command::new("ip").args(words.split(' ')).output().unwrap();
        let printed = [output.stdout, output.stderr].concat();
        String::from_utf8(printed).unwrap()
    }

    /// A network of the host's beside the bridge, with a way to everything by 192.0.2.1.
    fn uplink() {
        for words in [
            "link set lo up",
            "link add up0 type veth peer name up1",
            "addr add 192.0.2.2/24 dev up0",
            "link set up0 up",
            "link set up1 up",
            "route add default via 192.0.2.1",
            "neigh add 192.0.2.9 lladdr 02:00:00:00:00:09 dev up0 nud permanent",
        ] {
            assert_eq!(ip(words), "", "{words}");
        }
    }

    fn set_all(name: &str, value: &str) {
        fs::write(format!("/proc/sys/net/ipv4/conf/all/{name}"), value).unwrap();
    }

    #[test]
    fn packets_of_other_networks_do_not_get_to_boxes() {
        in_a_new_network(|| {
            uplink();
            let (port, _tap) = Port::tap("tare-0000abcd-1", RUN, false).unwrap();
            fs::write("/proc/sys/net/ipv4/ip_forward", "1").unwrap();
            let to = port.address().ip;
            let from_host = ip(&format!("route get {to}"));
            assert!(from_host.contains(&format!("dev {RUN}")), "{from_host}");
            let from_others = format!("route get {to} from 192.0.2.7 iif up0");
            assert!(ip(&from_others).contains("Permission denied"));
            // It is the rules that refuse it.
            open(RUN).unwrap();
            assert!(ip(&from_others).contains(&format!("dev {RUN}")));
        });
    }

    /// A frame to all who hear it, in which `gateway` says that a host is better reached by 192.0.2.9.
    fn redirect(gateway: Ipv4Addr, host: Ipv4Addr, to: Ipv4Addr) -> Vec<u8> {
        const ICMP: u8 = 1;
        // An answer to an echo: only of those does the kernel not ask for a socket.
        let inner = packet(ICMP, host, to, &[0, 0, 0xff, 0xff, 0, 0, 0, 0]);
        let mut icmp = vec![5, 1, 0, 0, 192, 0, 2, 9];
        icmp.extend(inner);
        let sum = checksum(&icmp);
        icmp[2..4].copy_from_slice(&sum);
        let mut frame = vec![0xff; 6];
        frame.extend([2, 0, 0, 0, 0, 1, 8, 0]);
        frame.extend(packet(ICMP, gateway, host, &icmp));
        frame
    }

    #[test]
    fn a_box_tells_the_host_no_other_way_by_a_redirect() {
        // Taken by all links from any source, as some distributions set it, or from those alone
        // that have their way by the link.
        for of_all in ["0", LOOSE] {
            in_a_new_network(move || {
                uplink();
                set_all("accept_redirects", "1");
                set_all("rp_filter", of_all);
                let (port, tap) = Port::tap("tare-0000abcd-1", RUN, false).unwrap();
                let host = Subnet::around(port.address().ip).host();
                let told = |to| {
                    let to = Ipv4Addr::from(to);
                    let gateway = Ipv4Addr::new(192, 0, 2, 1);
                    rustix::io::write(&tap, &redirect(gateway, host, to)).unwrap();
                    ip(&format!("route get {to} from {host}"))
                };
                let kept = told([203, 0, 113, 7]);
                assert!(kept.contains("via 192.0.2.1 "), "{kept}");
                // It would be taken if nothing were closed.
                set_all("rp_filter", "0");
                for (name, value) in [("rp_filter", "0"), ("forwarding", "0"), ("accept_redirects", "1")] {
                    switch(RUN, "ipv4", name, value).unwrap();
                }
                let changed = told([203, 0, 113, 8]);
                assert!(changed.contains("via 192.0.2.9 "), "{changed}");
            });
        }
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
