//! `tcp-stream`: as many messages as were announced, one write for each, and one answer
//! when all have come.
//!
//! The clock stops with the answer: what is timed is what was received, not what the
//! sender's kernel still holds.

use super::{Client, connected, number, put};
use crate::clock;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

/// What is read at a time at most, unless a message is longer. Small messages come many at a time,
/// as with any program that reads into a buffer. It stays in the first cache: with 128 KiB, messages
/// of 32 KiB had half the throughput.
const READ: usize = 32 << 10;

/// The end that sends.
pub struct Stream {
    stream: TcpStream,
    message: Vec<u8>,
}

impl Stream {
    pub fn connect(size: usize, server: SocketAddr) -> io::Result<Self> {
        Ok(Self {
            stream: connected(server)?,
            message: vec![0; size],
        })
    }
}

impl Client for Stream {
    fn begin(&mut self, units: u64) -> io::Result<u64> {
        self.stream.write_all(&units.to_le_bytes())?;
        told(&self.stream)
    }

    fn work(&mut self, units: u64) -> io::Result<u64> {
        // As with any connection of which nothing else was asked: messages behind one that is under
        // way go together.
        self.stream.set_nodelay(false)?;
        for i in 0..units {
            put(&mut self.message, i);
            self.stream.write_all(&self.message)?;
        }
        // The last one is not to wait for more, nor is the next announcement.
        self.stream.set_nodelay(true)?;
        told(&self.stream)
    }
}

/// The number that the other end tells next.
pub fn told(mut stream: &TcpStream) -> io::Result<u64> {
    let mut answer = [0; 8];
    stream.read_exact(&mut answer)?;
    Ok(number(&answer))
}

/// Bytes into which messages of this size are read: as many whole ones as fit.
pub const fn room(size: usize) -> usize {
    if size > READ { size } else { READ / size * size }
}

/// Takes what is announced over a connection, and tells how many messages were not the
/// next ones, until the connection ends.
pub fn receive(mut stream: &TcpStream, size: usize, buffer: &mut [u8]) -> io::Result<()> {
    stream.set_nodelay(true)?;
    loop {
        let units = told(stream)?;
        stream.write_all(&clock::process_cpu_ns().to_le_bytes())?;
        if units > 0 {
            let wrong = messages(stream, units, size, buffer)?;
            stream.write_all(&wrong.to_le_bytes())?;
        }
    }
}

/// Reads so many messages; how many were not the next ones. The buffer holds whole
/// messages: it is filled and begun anew, and nothing is moved in it.
fn messages(mut stream: &TcpStream, units: u64, size: usize, buffer: &mut [u8]) -> io::Result<u64> {
    let (mut next, mut wrong) = (0, 0);
    let (mut filled, mut seen) = (0, 0);
    while next < units {
        match stream.read(&mut buffer[filled..])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            more => filled += more,
        }
        while seen + size <= filled {
            wrong += u64::from(number(&buffer[seen..]) != next);
            next += 1;
            seen += size;
        }
        if seen == buffer.len() {
            (filled, seen) = (0, 0);
        }
    }
    Ok(wrong)
}
