//! The end that answers: what it listens on, what it does, and how it ends.

use super::{connect, failed, stream, trips};
use crate::error::KernelError;
use crate::size;
use crate::switch::stay_on_one_cpu;
use rustix::process::{Signal, set_parent_process_death_signal};
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use tare_wire::kernel::{Kernel, KernelSpec};

/// What a server listens on.
enum Door {
    Tcp(TcpListener),
    Udp(UdpSocket),
}

/// A server that listens and does not answer yet. It has all the memory that it needs.
struct Service {
    kernel: Kernel,
    door: Door,
    /// Bytes of a message.
    size: usize,
    buffer: Vec<u8>,
}

impl Service {
    /// Listens at this address alone; at port 0, at one that nobody else has.
    fn open(kernel: Kernel, size: usize, at: SocketAddr) -> io::Result<Self> {
        Ok(Self {
            kernel,
            door: match kernel {
                Kernel::UdpRr => Door::Udp(UdpSocket::bind(at)?),
                _ => Door::Tcp(TcpListener::bind(at)?),
            },
            size,
            buffer: match kernel {
                Kernel::TcpStream => vec![0; stream::room(size)],
                _ => vec![0; size],
            },
        })
    }

    fn address(&self) -> io::Result<SocketAddr> {
        match &self.door {
            Door::Tcp(listener) => listener.local_addr(),
            Door::Udp(socket) => socket.local_addr(),
        }
    }

    /// Serves one client, until it is gone; one without a connection for ever. Whether it was
    /// served well is told by the client. Makes plain system calls alone.
    fn serve(&mut self) -> io::Result<()> {
        let listener = match &self.door {
            Door::Udp(socket) => return trips::answer_udp(socket, &mut self.buffer),
            Door::Tcp(listener) => listener,
        };
        let (client, _) = listener.accept()?;
        let _ = match self.kernel {
            Kernel::TcpStream => stream::receive(&client, self.size, &mut self.buffer),
            Kernel::TcpConnect => connect::accept(listener, &client),
            _ => trips::answer_tcp(&client, &mut self.buffer),
        };
        Ok(())
    }
}

/// Serves clients elsewhere, one after another, until it is ended. Says at which port as soon
/// as it listens.
///
/// # Errors
/// [`KernelError`] of a size that the kernel does not take, of an address that cannot be
/// listened at, and of words that nobody takes.
pub fn serve(spec: &KernelSpec, at: SocketAddr, said: &mut dyn Write) -> Result<(), KernelError> {
    let cannot_listen = |source| KernelError::Peer {
        what: "listen at",
        peer: at,
        source,
    };
    let opened = Service::open(spec.kernel, size::count(spec)?, at);
    let mut service = opened.map_err(cannot_listen)?;
    let port = service.address().map_err(cannot_listen)?.port();
    let told = writeln!(said, "serves at port {port}").and_then(|()| said.flush());
    told.map_err(failed("telling the port"))?;
    loop {
        service.serve().map_err(failed("reading a client's request"))?;
    }
}

/// A process that serves one client, on the CPU of the one that made it.
pub struct Server {
    id: libc::pid_t,
    address: SocketAddr,
}

impl Server {
    /// Makes the process, and keeps both on one CPU from now on: on two, a round trip
    /// would be wake-ups across CPUs, or not, as the scheduler likes.
    ///
    /// # Errors
    /// [`KernelError::System`] of the call that failed.
    pub fn start(kernel: Kernel, size: usize) -> Result<Self, KernelError> {
        stay_on_one_cpu()?;
        let opened = Service::open(kernel, size, (Ipv4Addr::LOCALHOST, 0).into());
        let mut service = opened.map_err(failed("listening on the loopback (127.0.0.1)"))?;
        let address = service.address();
        let address = address.map_err(failed("finding the port that is listened on"))?;
        // SAFETY: the child makes plain system calls and _exit alone, which may follow a
        // fork whatever the threads of the parent hold.
        match unsafe { libc::fork() } {
            -1 => Err(KernelError::last_os("fork")),
            0 => {
                // Without a connection nothing else would tell it that its owner was killed.
                let bound = set_parent_process_death_signal(Some(Signal::KILL));
                if bound.is_ok() {
                    let _ = service.serve();
                }
                // SAFETY: ends the process; nothing of it is to be flushed or dropped.
                unsafe { libc::_exit(0) }
            }
            id => Ok(Self { id, address }),
        }
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SAFETY: the child is ours and not yet reaped, so that its number is its own; no
        // status is wanted.
        unsafe {
            libc::kill(self.id, libc::SIGKILL);
            libc::waitpid(self.id, std::ptr::null_mut(), 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_listens_on_the_loopback_alone_and_ends_with_its_client() {
        for kernel in [Kernel::TcpRr, Kernel::UdpRr, Kernel::TcpConnect] {
            let server = Server::start(kernel, 64).unwrap();
            assert!(server.address().ip().is_loopback());
            let id = server.id;
            drop(server);
            // SAFETY: no signal is sent.
            let gone = unsafe { libc::kill(id, 0) };
            assert_eq!(gone, -1, "{kernel}");
        }
    }
}
