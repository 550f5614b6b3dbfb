//! What a box sends that wants out of its network: packets to another network with the host
//! as gateway, and the word of a router to all who hear it.

use rustix::net::netdevice::name_to_index;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::sockopt::set_ipv6_multicast_hops;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, ipproto, recv, sendto, socket_with,
};
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};
use tare_box::interface::{hardware_address, interfaces};

/// How often each is sent: the first packet waits for the gateway's hardware address.
const TIMES: u32 = 5;
/// Time between two.
const APART: Duration = Duration::from_millis(50);
/// Time for the box's own link to have an IPv6 address that is known to be unique, which the
/// kernel looks for over a second.
const ADDRESS_DEADLINE: Duration = Duration::from_secs(5);

/// What a frame bears (IEEE 802), and a packet (IANA's protocol numbers).
const ETHERTYPE_IPV4: [u8; 2] = [8, 0];
const UDP: u8 = 17;

/// What the packets say.
const WORDS: &[u8] = b"out of the box";
/// Beginning of the network that a router is said to lead to, as the kernel's tables tell it.
const PREFIX: Ipv6Addr = Ipv6Addr::new(0xfd74, 0x6172, 0x65, 0, 0, 0, 0, 0);
/// All nodes of a link.
const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
/// A router's messages are heard only if no router has passed them on: at most hops.
const HOPS: u32 = 255;
/// Numbers of namespaces that are tried: the first link to another gives it the first.
const NAMESPACES: u32 = 4;
/// Bit of an address that is not yet known to be unique.
const TENTATIVE: u32 = 0x40;

/// What a box could send.
pub struct Strayed;

impl Strayed {
    /// What packets say.
    pub const WORDS: &'static [u8] = WORDS;
    /// That packets were sent.
    pub const PACKETS: &'static str = "packets";
    /// That the links of another network namespace were listed.
    pub const LINKS: &'static str = "links of the host";
    /// That the word of a router was sent.
    pub const ADVERTISEMENTS: &'static str = "router advertisements";
}

/// Sends both, as far as the box may, and looks for links of others: a line for each that was
/// done, or why not.
pub fn stray(gateway: Ipv4Addr, to: SocketAddrV4) -> [String; 3] {
    let told = |what: &str, sent: Result<(), String>| match sent {
        Ok(()) => what.to_owned(),
        Err(why) => format!("no {what}: {why}"),
    };
    [
        told(Strayed::PACKETS, send_packets(gateway, to)),
        told(Strayed::ADVERTISEMENTS, advertise().map_err(|e| e.to_string())),
        told(Strayed::LINKS, find_links()),
    ]
}

/// Finds links of another network namespace by the number that a link gives it in the box's.
fn find_links() -> Result<(), String> {
    let own = interfaces();
    for number in 0..NAMESPACES {
        if names_in(number).is_ok_and(|names| names.iter().any(|name| !own.contains(name))) {
            return Ok(());
        }
    }
    Err("no namespace of another answers".to_owned())
}

/// The request for all links of a namespace (rtnetlink(7)): its header, `ifinfomsg`, and the
/// attribute `IFLA_TARGET_NETNSID` (linux/if_link.h). Whoever may rule networks over it is answered.
fn request_for_links(namespace: u32) -> Vec<u8> {
    const GET_LINK: u16 = 18;
    const REQUEST_ALL: u16 = 0x301;
    const TARGET_NAMESPACE: u16 = 46;
    let mut request = 40u32.to_ne_bytes().to_vec();
    request.extend([GET_LINK, REQUEST_ALL].map(u16::to_ne_bytes).concat());
    request.extend([0; 24]);
    request.extend([8, TARGET_NAMESPACE].map(u16::to_ne_bytes).concat());
    request.extend(namespace.to_ne_bytes());
    request
}

/// The names of the links in the network namespace of this number, as far as the first answer goes.
fn names_in(namespace: u32) -> io::Result<Vec<String>> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        None,
    )?;
    let kernel = SocketAddrNetlink::new(0, 0);
    sendto(
        &socket,
        &request_for_links(namespace),
        SendFlags::empty(),
        &kernel,
    )?;
    let mut answer = vec![0; 64 << 10];
    let (_, length) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
    Ok(link_names(&answer[..length]))
}

/// The names in messages about links: each has a header of 16 bytes, 16 about the link, and
/// attributes, which are aligned to 4 bytes as the messages are.
fn link_names(mut messages: &[u8]) -> Vec<String> {
    const NEW_LINK: u16 = 16;
    const NAME: u16 = 3;
    let number = |bytes: &[u8], at: usize| {
        bytes
            .get(at..at + 2)
            .map(|two| u16::from_ne_bytes([two[0], two[1]]))
    };
    let mut names = Vec::new();
    while let (Some(length), Some(kind)) = (number(messages, 0), number(messages, 4)) {
        let length = usize::from(length);
        let mut attributes = messages.get(32..length.min(messages.len())).unwrap_or_default();
        while let (Some(size @ 4..), Some(attribute)) = (number(attributes, 0), number(attributes, 2)) {
            let size = usize::from(size);
            if kind == NEW_LINK && attribute == NAME {
                let text = attributes.get(4..size).unwrap_or_default();
                names.push(String::from_utf8_lossy(text).trim_end_matches('\0').to_owned());
            }
            attributes = attributes.get(size.next_multiple_of(4)..).unwrap_or_default();
        }
        if length < 16 {
            break;
        }
        messages = messages.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    names
}

/// By frames of its own making, which need no way out, or else by such a way.
fn send_packets(gateway: Ipv4Addr, to: SocketAddrV4) -> Result<(), String> {
    send_frames(gateway, to)
        .or_else(|frames| send_by_way(gateway, to).map_err(|by_way| format!("{frames}, and {by_way}")))
}

fn send_frames(gateway: Ipv4Addr, to: SocketAddrV4) -> Result<(), String> {
    let name = interfaces().into_iter().find(|name| name != "lo");
    let name = name.ok_or("there is no link")?;
    let text = |e: io::Error| e.to_string();
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(text)?;
    let link = name_to_index(&socket, &name).map_err(|e| text(e.into()))?;
    // Sends nothing: it tells the address that the box has on the bridge.
    socket.connect((gateway, to.port())).map_err(text)?;
    let IpAddr::V4(own) = socket.local_addr().map_err(text)?.ip() else {
        return Err("the box has no IPv4 address".to_owned());
    };
    let mut frame = [hardware_address(gateway), hardware_address(own)].concat();
    frame.extend(ETHERTYPE_IPV4);
    frame.extend(packet(UDP, own, *to.ip(), &datagram(to.port())));
    for _ in 0..TIMES {
        tare_sys::send_frame(link, &frame).map_err(text)?;
        thread::sleep(APART);
    }
    Ok(())
}

fn send_by_way(gateway: Ipv4Addr, to: SocketAddrV4) -> Result<(), String> {
    tare_sys::interface::add_way(*to.ip(), gateway).map_err(|e| format!("add a way out: {e}"))?;
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(|e| e.to_string())?;
    for _ in 0..TIMES {
        // A refusal that comes back is told by the next send, and is none of this one.
        let _ = socket.send_to(WORDS, to);
        thread::sleep(APART);
    }
    Ok(())
}

/// The words to a port (RFC 768), without a checksum, which is allowed by IPv4.
fn datagram(port: u16) -> Vec<u8> {
    let bytes = u16::try_from(8 + WORDS.len()).unwrap_or_default();
    let mut datagram = [port, port, bytes, 0].map(u16::to_be_bytes).concat();
    datagram.extend(WORDS);
    datagram
}

/// A packet of IPv4 (RFC 791) around a message of this protocol.
pub fn packet(protocol: u8, from: Ipv4Addr, to: Ipv4Addr, message: &[u8]) -> Vec<u8> {
    let bytes = u16::try_from(20 + message.len()).unwrap_or_default();
    // Version and length of the header, service; length; identity and parts; hops, protocol, sum.
    let mut packet = vec![0x45, 0];
    packet.extend(bytes.to_be_bytes());
    packet.extend([0, 0, 0, 0, 64, protocol, 0, 0]);
    packet.extend([from.octets(), to.octets()].concat());
    let sum = checksum(&packet);
    packet[10..12].copy_from_slice(&sum);
    packet.extend(message);
    packet
}

/// The sum by which broken messages are known (RFC 1071).
pub fn checksum(message: &[u8]) -> [u8; 2] {
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u32::from(*low));
    let mut sum: u32 = message.chunks(2).map(word).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    [!(sum >> 8), !sum].map(|part| part.to_be_bytes()[3])
}

fn advertise() -> io::Result<()> {
    let socket = socket_with(
        AddressFamily::INET6,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        Some(ipproto::ICMPV6),
    )?;
    set_ipv6_multicast_hops(&socket, HOPS)?;
    let link = link_with_address()?;
    let to = SocketAddrV6::new(ALL_NODES, 0, 0, link);
    for _ in 0..TIMES {
        sendto(&socket, &advertisement(), SendFlags::empty(), &to)?;
        thread::sleep(APART);
    }
    Ok(())
}

/// The number of a link, other than the loopback, that has an address of the link's own.
fn link_with_address() -> io::Result<u32> {
    let deadline = Instant::now() + ADDRESS_DEADLINE;
    loop {
        let table = fs::read_to_string("/proc/net/if_inet6")?;
        if let Some(link) = table.lines().find_map(settled) {
            return Ok(link);
        }
        if Instant::now() > deadline {
            return Err(io::Error::other("no link has an IPv6 address"));
        }
        thread::sleep(APART);
    }
}

/// The link of a line of the kernel's table, if the address is of the link's own and unique.
fn settled(line: &str) -> Option<u32> {
    let mut words = line.split_whitespace();
    let address = words.next()?;
    let mut numbers = words.map_while(|word| u32::from_str_radix(word, 16).ok());
    let (link, _prefix, _scope, flags) = (numbers.next()?, numbers.next()?, numbers.next()?, numbers.next()?);
    (address.starts_with("fe80") && flags & TENTATIVE == 0).then_some(link)
}

/// A router advertisement (RFC 4861, 4.2): everything lies behind the sender, and addresses of
/// [`PREFIX`] are to be taken. The kernel adds the checksum.
fn advertisement() -> Vec<u8> {
    // Type, code, checksum; hops, flags, lifetime in s; times to be reachable and to ask again.
    let mut message = vec![134, 0, 0, 0, 64, 0, 0x07, 0x08, 0, 0, 0, 0, 0, 0, 0, 0];
    // Type, length in 8 bytes, bits, on this link and for addresses; lifetimes in s; reserved.
    message.extend([3, 4, 64, 0xc0, 0, 0, 0x0e, 0x10, 0, 0, 0x07, 0x08, 0, 0, 0, 0]);
    message.extend(PREFIX.octets());
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_taken_with_an_address_of_its_own_that_is_unique() {
        let line = |address, flags| format!("{address} 0c 40 20 {flags}     eth0");
        assert_eq!(settled(&line("fe800000000000000074c612fffe000b", "80")), Some(12));
        assert_eq!(settled(&line("fe800000000000000074c612fffe000b", "c0")), None);
        assert_eq!(settled(&line("00000000000000000000000000000001", "80")), None);
        assert_eq!(settled(""), None);
    }

    #[test]
    fn a_packet_has_a_sum_that_makes_its_header_come_out_at_nought() {
        let packet = packet(
            UDP,
            Ipv4Addr::new(198, 18, 0, 2),
            Ipv4Addr::new(192, 0, 2, 9),
            &datagram(7),
        );
        assert_eq!(checksum(&packet[..20]), [0, 0]);
        assert_eq!(packet.len(), 20 + 8 + WORDS.len());
        assert_eq!(checksum(&[0x12]), [0xed, 0xff]);
    }

    #[test]
    fn the_links_of_ones_own_network_are_told_by_the_kernel() {
        let mut own = request_for_links(0);
        // Without the attribute: of this process's own network.
        own.truncate(32);
        own[..4].copy_from_slice(&32u32.to_ne_bytes());
        let socket = socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            None,
        )
        .unwrap();
        sendto(&socket, &own, SendFlags::empty(), &SocketAddrNetlink::new(0, 0)).unwrap();
        let mut answer = vec![0; 64 << 10];
        let (_, length) = recv(&socket, &mut answer[..], RecvFlags::empty()).unwrap();
        assert!(link_names(&answer[..length]).contains(&"lo".to_owned()));
        for cut in [0, 3, 17, 33] {
            link_names(&answer[..cut]);
        }
    }

    #[test]
    fn an_advertisement_has_the_length_that_it_tells() {
        assert_eq!(advertisement().len(), 16 + 4 * 8);
    }
}
