//! The network kernels: one process sends, another answers, by sockets.
//!
//! Both are in one box and stay on one CPU, as those of `switch` do, or each is in a place
//! of its own and runs where that place has its CPUs. The one that answers listens on one
//! address alone. What is sent bears a number, by which a message that was lost, doubled or
//! mixed up is seen.

mod connect;
mod server;
mod stream;
mod trips;

pub use server::serve;

use crate::clock;
use crate::error::KernelError;
use crate::gate::{Sliced, timed};
use crate::report;
use crate::size;
use server::Server;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use tare_wire::gate::Part;
use tare_wire::kernel::{Check, Kernel, KernelSpec};

/// Time to connect: far more than any network between a host and its boxes takes, and less
/// than the kernel's own two minutes for one that answers nothing.
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);

/// The end that asks.
trait Client {
    /// Tells the server how many units of work come; CPU time that it has used so far.
    fn begin(&mut self, units: u64) -> io::Result<u64>;

    /// Does them; the number of wrong answers.
    fn work(&mut self, units: u64) -> io::Result<u64>;
}

/// A network kernel.
pub struct Slices {
    // Dropped before the server, which would else wait for it.
    client: Box<dyn Client>,
    /// The other process, where it is in the same box.
    server: Option<Server>,
    /// Bytes that a unit of work moves, where that is what is counted.
    per_unit: f64,
    wrong: u64,
}

impl Slices {
    /// # Errors
    /// [`KernelError`] of a size that the kernel does not take, and if there is no other
    /// process or no way to it.
    pub fn new(spec: &KernelSpec) -> Result<Self, KernelError> {
        let server = Server::start(spec.kernel, size::count(spec)?)?;
        let client = Self::to(spec, server.address())?;
        Ok(Self {
            server: Some(server),
            ..client
        })
    }

    /// The end that asks of a server elsewhere.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn to(spec: &KernelSpec, server: SocketAddr) -> Result<Self, KernelError> {
        let message = size::count(spec)?;
        let client = client(spec.kernel, message, server).map_err(|source| KernelError::Peer {
            what: "connect to",
            peer: server,
            source,
        })?;
        Ok(Self {
            client,
            server: None,
            per_unit: match spec.kernel {
                Kernel::TcpStream => message as f64,
                _ => 1.0,
            },
            wrong: 0,
        })
    }

    fn begin(&mut self, units: u64) -> Result<u64, KernelError> {
        let begun = self.client.begin(units);
        begun.map_err(failed("asking the other process for its CPU time"))
    }
}

/// A connection to a server.
fn connected(server: SocketAddr) -> io::Result<TcpStream> {
    TcpStream::connect_timeout(&server, CONNECT_DEADLINE)
}

/// The client of a kernel, connected.
fn client(kernel: Kernel, message: usize, server: SocketAddr) -> io::Result<Box<dyn Client>> {
    Ok(match kernel {
        Kernel::UdpRr => Box::new(trips::Udp::connect(message, server)?),
        Kernel::TcpStream => Box::new(stream::Stream::connect(message, server)?),
        Kernel::TcpConnect => Box::new(connect::Connect::new(server)?),
        _ => Box::new(trips::Tcp::connect(message, server)?),
    })
}

impl Sliced for Slices {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        let part = &mut parts[0];
        let before_ns = self.begin(units)?;
        let wrong = timed(part, clock::process_cpu_ns, || self.client.work(units));
        self.wrong += wrong.map_err(failed("exchanging messages with the other process"))?;
        let after_ns = self.begin(0)?;
        if self.server.is_some() {
            part.cpu_ns += after_ns.saturating_sub(before_ns);
        }
        part.work += units as f64 * self.per_unit;
        Ok(())
    }

    fn check(&mut self) -> Check {
        report::check("messages that were not the next ones", self.wrong as f64, 0.0)
    }
}

fn failed(what: &'static str) -> impl FnOnce(io::Error) -> KernelError {
    move |source| KernelError::System { what, source }
}

/// The number at the beginning of these bytes.
fn number(bytes: &[u8]) -> u64 {
    let mut number = [0; 8];
    for (to, from) in number.iter_mut().zip(bytes) {
        *to = *from;
    }
    u64::from_le_bytes(number)
}

/// Puts a number at the beginning of these bytes, which are at least 8.
fn put(bytes: &mut [u8], number: u64) {
    bytes[..8].copy_from_slice(&number.to_le_bytes());
}

#[cfg(test)]
mod tests;
