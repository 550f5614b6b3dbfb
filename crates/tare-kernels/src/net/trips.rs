//! `tcp-rr` and `udp-rr`: a request and its response of the same length, one at a time.
//!
//! A message begins with its number and, of an answer that was asked for it, the CPU
//! time of the process that answers.

use super::{Client, connected, number, put};
use crate::clock;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

/// Set in the number of a message that asks for CPU time.
const TELL: u64 = 1 << 63;
/// Where that stands.
const TOLD: usize = 8;

/// A datagram whose answer does not come within this time is sent again: no network
/// between boxes of one host takes so long.
const PATIENCE: Duration = Duration::from_millis(200);
/// Times that one is sent, which make 10 s in all.
const ATTEMPTS: u32 = 50;

/// The client over a connection.
pub struct Tcp {
    stream: TcpStream,
    message: Vec<u8>,
    back: Vec<u8>,
    sent: u64,
}

impl Tcp {
    pub fn connect(size: usize, server: SocketAddr) -> io::Result<Self> {
        let stream = connected(server)?;
        // A request that waits for the acknowledgement of the last one would be timed by
        // the delay of acknowledgements.
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            message: vec![0; size],
            back: vec![0; size],
            sent: 0,
        })
    }

    /// There and back; whether the number that came back is that of the message.
    fn trip(&mut self, number_sent: u64) -> io::Result<bool> {
        put(&mut self.message, number_sent);
        self.stream.write_all(&self.message)?;
        self.stream.read_exact(&mut self.back)?;
        Ok(number(&self.back) == number_sent)
    }
}

impl Client for Tcp {
    fn begin(&mut self, _: u64) -> io::Result<u64> {
        self.trip(TELL)?;
        Ok(number(&self.back[TOLD..]))
    }

    fn work(&mut self, units: u64) -> io::Result<u64> {
        let mut wrong = 0;
        for _ in 0..units {
            self.sent += 1;
            wrong += u64::from(!self.trip(self.sent)?);
        }
        Ok(wrong)
    }
}

/// Answers requests over a connection until it ends.
pub fn answer_tcp(mut stream: &TcpStream, message: &mut [u8]) -> io::Result<()> {
    stream.set_nodelay(true)?;
    loop {
        stream.read_exact(message)?;
        tell_if_asked(message);
        stream.write_all(message)?;
    }
}

/// The client by datagrams.
pub struct Udp {
    socket: UdpSocket,
    message: Vec<u8>,
    back: Vec<u8>,
    sent: u64,
    asked: u64,
}

impl Udp {
    pub fn connect(size: usize, server: SocketAddr) -> io::Result<Self> {
        let own = if server.ip().is_loopback() {
            Ipv4Addr::LOCALHOST
        } else {
            Ipv4Addr::UNSPECIFIED
        };
        let socket = UdpSocket::bind((own, 0))?;
        socket.connect(server)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        Ok(Self {
            socket,
            message: vec![0; size],
            back: vec![0; size],
            sent: 0,
            asked: 0,
        })
    }

    /// There and back, again where a datagram was lost; whether the number that came back
    /// is that of the message.
    fn trip(&mut self, number_sent: u64) -> io::Result<bool> {
        put(&mut self.message, number_sent);
        for _ in 0..ATTEMPTS {
            self.socket.send(&self.message)?;
            if let Some(is_right) = self.receive(number_sent)? {
                return Ok(is_right);
            }
        }
        Err(ErrorKind::TimedOut.into())
    }

    /// The answer, past late ones to what was sent again; `None` if none comes.
    fn receive(&mut self, number_sent: u64) -> io::Result<Option<bool>> {
        loop {
            match self.socket.recv(&mut self.back) {
                Ok(length) => {
                    let came = number(&self.back);
                    let is_late = came != number_sent && (came == self.sent - 1 || came & TELL != 0);
                    if !is_late {
                        return Ok(Some(length == self.back.len() && came == number_sent));
                    }
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}

impl Client for Udp {
    fn begin(&mut self, _: u64) -> io::Result<u64> {
        self.asked += 1;
        self.trip(TELL | self.asked)?;
        Ok(number(&self.back[TOLD..]))
    }

    fn work(&mut self, units: u64) -> io::Result<u64> {
        let mut wrong = 0;
        for _ in 0..units {
            self.sent += 1;
            wrong += u64::from(!self.trip(self.sent)?);
        }
        Ok(wrong)
    }
}

/// Answers datagrams for ever.
pub fn answer_udp(socket: &UdpSocket, message: &mut [u8]) -> io::Result<()> {
    loop {
        let (length, from) = match socket.recv_from(message) {
            // A client that is gone refuses what was sent to it.
            Err(e) if matches!(e.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionRefused) => continue,
            received => received?,
        };
        if length == message.len() {
            tell_if_asked(message);
        }
        socket.send_to(&message[..length], from)?;
    }
}

fn tell_if_asked(message: &mut [u8]) {
    if number(message) & TELL != 0 {
        put(&mut message[TOLD..], clock::process_cpu_ns());
    }
}
