//! The network of boxes: none at all, or one in which the host and other boxes
//! can be talked to.

use super::context::CheckContext;
use super::talk::{Ended, act, acting, patience};
use super::{Broken, Kept, expect};
use crate::contract::RunningBox;
use crate::link::unexpected;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::time::{Duration, Instant};
use tare_agent::act::stray::Strayed;
use tare_agent::act::{PATTERN_BYTES, talk};
use tare_host::net::{self, Beside, HostReach};
use tare_model::protocol::{Reply, Request};

/// Time for a box to listen.
const PROXY_DEADLINE: Duration = Duration::from_secs(10);
/// Time between two attempts.
const AGAIN: Duration = Duration::from_millis(20);
/// Time after which nothing is under way any more on links within the host.
const SETTLED: Duration = Duration::from_millis(500);
/// Time for a packet of the host's to be heard on a busy host.
const HEARD_DEADLINE: Duration = Duration::from_secs(10);
/// What the host says.
const FROM_HOST: &[u8] = b"from the host";

pub(super) fn network(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let made = site.shared()?;
    if made.marks().is_empty() {
        return Ok(Kept::NotHere("the box is on another host".to_owned()));
    }
    match made.address() {
        None => no_network(made),
        Some(address) => reached(site, address),
    }
}

fn no_network(made: &mut dyn RunningBox) -> Result<Kept, Broken> {
    let seen = act(made, &["interfaces"])?.words()?;
    expect(seen.trim() == "lo", || {
        format!("a box without a network has the interfaces {}", seen.trim())
    })?;
    Ok(Kept::Yes(Some("none: no interface but lo".to_owned())))
}

/// The host talks to a box as far as its network lets it, then another box does, also
/// after a thaw.
fn reached(site: &mut CheckContext<'_>, address: IpAddr) -> Result<Kept, Broken> {
    let (mut other, _) = site.own()?;
    let made = site.shared()?;
    let way = made.host_reach();
    let port = match way {
        HostReach::Published(_) => net::PORT,
        HostReach::Direct | HostReach::Never => free_port()?,
    };
    let at = SocketAddr::new(address, port);
    let from_host = |to: SocketAddr| {
        move |_: &mut dyn RunningBox| talk_until_heard(to).map_err(Broken::host("talk to a box over TCP"))
    };
    // An ordinary user's boxes have no network in common.
    let have_common = !address.is_unspecified();
    let from_box = |other: &mut dyn RunningBox| act(other, &["talk", &at.to_string()])?.words().map(drop);
    let host = match way {
        HostReach::Direct => {
            answered(made, &mut *other, at, from_host(at)).map(|()| "from the host and ".to_owned())
        }
        HostReach::Published(to) => {
            answered(made, &mut *other, at, from_host(to)).map(|()| format!("from the host by {to} and "))
        }
        HostReach::Never => Ok(String::new()),
    }?;
    if !have_common {
        other.destroy()?;
        let host = host.trim_end_matches(" and ");
        return Ok(Kept::Yes(Some(format!(
            "{} KiB {host} and back",
            PATTERN_BYTES >> 10
        ))));
    }
    answered(made, &mut *other, at, from_box)?;
    made.freeze()?;
    made.thaw()?;
    answered(made, &mut *other, at, from_box)?;
    other.destroy()?;
    Ok(Kept::Yes(Some(format!(
        "{} KiB {host}from another box to {address} and back",
        PATTERN_BYTES >> 10
    ))))
}

/// As [`talk`], until the box listens: a proxy takes a connection for it before, and
/// drops it.
fn talk_until_heard(to: SocketAddr) -> io::Result<()> {
    let deadline = Instant::now() + PROXY_DEADLINE;
    loop {
        match talk(to) {
            Err(_) if Instant::now() < deadline => std::thread::sleep(AGAIN),
            ended => return ended,
        }
    }
}

/// A box with the host as gateway does not get to another network of the host's, and the host
/// takes no IPv6 address and no route from it.
pub(super) fn closed(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let run = site.order().run.name();
    // Root natively is root on the host, which makes its own links.
    let is_apart = !site.platform()?.has_host_files();
    let made = site.shared()?;
    let gateway = made.address().and_then(|address| net::gateway_of(run, address));
    let Some(gateway) = gateway.map(|gateway| gateway.to_string()) else {
        return Ok(Kept::NotHere("the box is not on a bridge of the run".to_owned()));
    };
    let beside = Beside::make(run).map_err(|e| Broken::Seen(e.to_string()))?;
    is_heard_from_host(&beside)?;
    let sent = act(made, &["stray", &gateway, &beside.at().to_string()])?.words()?;
    expect(!beside.hears(Strayed::WORDS, SETTLED), || {
        format!(
            "a packet of the box arrived at {}, in a foreign network of the host",
            beside.at()
        )
    })?;
    let learnt = net::v6_of(run);
    expect(learnt.is_empty(), || {
        format!("the host has IPv6 by links of the run: {}", learnt.join("; "))
    })?;
    expect(
        !(is_apart && sent.lines().any(|line| line == Strayed::LINKS)),
        || "the box lists links of the host and could create some there".to_owned(),
    )?;
    let could = |what: &str| sent.lines().any(|line| line == what);
    if !could(Strayed::PACKETS) && !could(Strayed::ADVERTISEMENTS) {
        let why = sent.lines().collect::<Vec<_>>().join(", ");
        return Ok(Kept::NotHere(format!(
            "the box can send nothing of its own: {why}"
        )));
    }
    let forwarding = if net::forwards() { "on" } else { "off" };
    let sent = sent.lines().collect::<Vec<_>>().join(", ");
    Ok(Kept::Yes(Some(format!(
        "with the host's forwarding {forwarding}; the box sent {sent}"
    ))))
}

/// What is not heard from a box could be heard.
fn is_heard_from_host(beside: &Beside) -> Result<(), Broken> {
    UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))
        .and_then(|socket| socket.send_to(FROM_HOST, beside.at()))
        .map_err(Broken::host("send to a network beside the bridge"))?;
    expect(beside.hears(FROM_HOST, HEARD_DEADLINE), || {
        "a network beside the bridge does not hear the host".to_owned()
    })
}

/// A port that is free on the host, whose network the box's may be.
fn free_port() -> Result<u16, Broken> {
    TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(Broken::host("look for a free port"))
}

/// Lets a box answer one connection, which `caller` makes meanwhile.
fn answered(
    made: &mut dyn RunningBox,
    other: &mut dyn RunningBox,
    at: SocketAddr,
    caller: impl FnOnce(&mut dyn RunningBox) -> Result<(), Broken>,
) -> Result<(), Broken> {
    let command = acting(&["answer", &at.to_string()]);
    let within = patience(&command);
    let request = Request::Command(command);
    made.link().ask(&request, within)?;
    let called = caller(other);
    let answer = made.link().reply(&request, within)?;
    called?;
    match answer.reply {
        Reply::Exited(exited) => Ended {
            exited,
            stdout: answer.stdout,
            stderr: answer.stderr,
        }
        .words()
        .map(drop),
        other => Err(unexpected("run command", &other).into()),
    }
}
