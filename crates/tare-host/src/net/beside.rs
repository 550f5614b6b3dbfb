//! A second network of the host's, beside the bridge of a run: one to which a bridge that
//! leads nowhere else does not lead. It is a network of its own with one address, at which a
//! check listens for packets of boxes.

use super::names::beside_of;
use super::netlink::{add, ask, bring_up, remove, taken, way};
use super::subnet::{PREFIX, choose};
use super::{NetError, closed};
use rtnetlink::packet_route::link::{InfoData, InfoKind, InfoVeth};
use rtnetlink::{LinkMessageBuilder, LinkUnspec, LinkVeth};
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use tare_box::interface::{Address, INTERFACE, configure};

/// Largest packet that is of interest.
const PACKET_BYTES: usize = 64;

/// The network beside; its link is removed when dropped, and the network goes with it.
pub struct Beside {
    link: String,
    socket: UdpSocket,
    at: SocketAddrV4,
}

impl Beside {
    /// Makes it, named by the run, whose sweep knows it.
    ///
    /// # Errors
    /// [`NetError`]; nothing is left behind.
    pub fn make(run: &str) -> Result<Self, NetError> {
        let what = "make a network beside the bridge";
        let link = beside_of(run).ok_or_else(|| NetError::new(what, "it is not the name of a run"))?;
        let taken = ask(what, async |handle| taken(&handle).await)?;
        let subnet = choose(&taken, 0).ok_or_else(|| NetError::new(what, "no addresses are free"))?;
        let (host, there) = (subnet.host(), subnet.of_box(0));
        let (told, opened) = channel();
        let (made, go_on) = channel();
        let listening = thread::spawn(move || listen(&told, &go_on, (host, there)));
        let lost = || NetError::new(what, "the thread for it failed");
        let inside = opened.recv().map_err(|_| lost());
        let connected = inside.and_then(|inside| connect(&link, &inside, host));
        // Without it the thread ends with an error of its own, of which the cause is here.
        let _ = connected.is_ok().then(|| made.send(()));
        drop(made);
        let socket = listening.join().map_err(|_| lost()).flatten();
        match connected.and(socket) {
            Ok((socket, at)) => Ok(Self { link, socket, at }),
            Err(e) => {
                let _ = ask(what, async |handle| remove(&handle, &link).await);
                Err(e)
            }
        }
    }

    /// Where it listens.
    pub fn at(&self) -> SocketAddr {
        self.at.into()
    }

    /// Whether a packet with these words arrives in this time.
    pub fn hears(&self, words: &[u8], within: Duration) -> bool {
        let deadline = Instant::now() + within;
        let mut packet = [0; PACKET_BYTES];
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || self.socket.set_read_timeout(Some(left)).is_err() {
                return false;
            }
            if self
                .socket
                .recv(&mut packet)
                .is_ok_and(|bytes| &packet[..bytes] == words)
            {
                return true;
            }
        }
    }
}

/// Makes the link from the host into a network that is given.
fn connect(link: &str, inside: &File, host: Ipv4Addr) -> Result<(), NetError> {
    let what = format!("connect a network by {link}");
    let there = LinkMessageBuilder::<LinkUnspec>::new()
        .name(INTERFACE)
        .setns_by_fd(inside.as_raw_fd())
        .build();
    let here = LinkMessageBuilder::<LinkVeth>::new_with_info_kind(InfoKind::Veth)
        .name(link)
        .set_info_data(InfoData::Veth(InfoVeth::Peer(there)))
        .build();
    let number = ask(&what, async |handle| add(&handle, link, here).await)?;
    closed::link(link)?;
    ask(&what, async |handle| {
        bring_up(&handle, number, Some((host, PREFIX))).await
    })
}

/// What the thread does that goes into the new network: the socket stays there.
fn listen(
    told: &Sender<File>,
    go_on: &Receiver<()>,
    (host, ip): (Ipv4Addr, Ipv4Addr),
) -> Result<(UdpSocket, SocketAddrV4), NetError> {
    let what = "listen in a network beside the bridge";
    let failed = |e: std::io::Error| NetError::new(what, e);
    tare_sys::enter_new_network().map_err(failed)?;
    let inside = File::open("/proc/thread-self/ns/net").map_err(failed)?;
    told.send(inside)
        .map_err(|_| NetError::new(what, "nobody waits"))?;
    go_on
        .recv()
        .map_err(|_| NetError::new(what, "it is not connected"))?;
    configure(Address { ip, prefix: PREFIX })
        .map_err(|e| NetError::new("give the network beside its address", e))?;
    // Where sources are checked, a packet without a way back to its sender is dropped.
    ask(what, async |handle| way(&handle, None, host).await)?;
    let socket = UdpSocket::bind((ip, 0)).map_err(failed)?;
    let port = socket.local_addr().map_err(failed)?.port();
    Ok((socket, SocketAddrV4::new(ip, port)))
}

impl Drop for Beside {
    fn drop(&mut self) {
        // What is left nevertheless is removed at the end of the run.
        let _ = ask(&format!("remove {}", self.link), async |handle| {
            remove(&handle, &self.link).await
        });
    }
}
