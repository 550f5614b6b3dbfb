//! `tcp-connect`: a connection is made, accepted, used for one number, and closed.
//!
//! Whoever closes a TCP connection first keeps its port in TIME_WAIT for a minute, and
//! there are some 28,000 ports: at 20,000 connections a second they would be used up
//! before the second is over. The server closes first, and the client, once it has read
//! the number, closes with a reset (a linger time of 0), which frees both ends at once.

use super::{Client, connected, stream::told};
use crate::clock;
use rustix::net::sockopt::set_socket_linger;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// The end that connects.
pub struct Connect {
    server: SocketAddr,
    /// A connection that stays, by which work is announced.
    control: TcpStream,
}

impl Connect {
    pub fn new(server: SocketAddr) -> io::Result<Self> {
        let control = connected(server)?;
        control.set_nodelay(true)?;
        Ok(Self { server, control })
    }
}

impl Client for Connect {
    fn begin(&mut self, units: u64) -> io::Result<u64> {
        self.control.write_all(&units.to_le_bytes())?;
        told(&self.control)
    }

    fn work(&mut self, units: u64) -> io::Result<u64> {
        let mut wrong = 0;
        for i in 0..units {
            let stream = TcpStream::connect(self.server)?;
            set_socket_linger(&stream, Some(Duration::ZERO))?;
            wrong += u64::from(told(&stream)? != i);
        }
        Ok(wrong)
    }
}

/// Accepts as many connections as are announced over `control`, until that ends. Each
/// is sent its number.
pub fn accept(listener: &TcpListener, mut control: &TcpStream) -> io::Result<()> {
    control.set_nodelay(true)?;
    loop {
        let units = told(control)?;
        control.write_all(&clock::process_cpu_ns().to_le_bytes())?;
        for i in 0..units {
            let (mut stream, _) = listener.accept()?;
            stream.write_all(&i.to_le_bytes())?;
        }
    }
}
