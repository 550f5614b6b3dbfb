//! One connection to a server: requests that wait for their answers, in order.

use crate::answers::{Answer, Answers};
use crate::protocol::answers_to;
use crate::request::Request;
use crate::sql;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::net::sockopt::set_socket_linger;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use tare_wire::load::{Asked, LoadSpec};

/// Time to connect: far more than any network between a host and its boxes takes.
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);

pub struct Connection {
    stream: TcpStream,
    answers: Box<dyn Answers>,
    /// What is to be sent, and how much of it was.
    out: Vec<u8>,
    sent: usize,
    /// What came of an answer that needs more to be understood.
    part: Vec<u8>,
    /// When each request was due that waits for its answer, in their order.
    waiting: VecDeque<u64>,
    /// Whether an answer came over it.
    has_served: bool,
    use_: Use,
}

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// For one request.
    Once,
    /// For requests that must not be repeated: they may have been carried out.
    Kept,
    /// For requests of which one that was not answered may be repeated over another connection.
    Repeatable,
    /// For some that are repeated, until one is answered.
    Repeats,
}

impl Use {
    /// Of the connections of a load. Of HTTP it has GET alone, which may be repeated (RFC 9110,
    /// 9.2.2).
    pub const fn of(spec: &LoadSpec) -> Self {
        match (spec.keep, &spec.asked) {
            (false, _) => Self::Once,
            (true, Asked::Http(_)) => Self::Repeatable,
            (true, Asked::Resp { .. } | Asked::Postgresql(_) | Asked::Mysql(_)) => Self::Kept,
        }
    }
}

/// What came of listening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// There is no more for now.
    All,
    /// The server closed it, or will: what waits is to be asked again over another.
    Closed,
}

impl Connection {
    /// A connection over which this can be asked.
    ///
    /// # Errors
    /// Those of connecting, and what the server says against it.
    pub fn to(server: SocketAddr, asked: &Asked, use_: Use) -> io::Result<Self> {
        let mut stream = TcpStream::connect_timeout(&server, CONNECT_DEADLINE)?;
        // A request is not to wait for the acknowledgement of the last one.
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(CONNECT_DEADLINE))?;
        match asked {
            Asked::Http(_) | Asked::Resp { .. } => {}
            Asked::Postgresql(query) => sql::begin_postgresql(&mut stream, &query.user, &query.database)?,
            Asked::Mysql(query) => sql::begin_mysql(&mut stream, &query.user, &query.database)?,
        }
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            answers: answers_to(asked),
            out: Vec::new(),
            sent: 0,
            part: Vec::new(),
            waiting: VecDeque::new(),
            has_served: false,
            use_,
        })
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Requests that wait for their answers.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Whether an answer came over it.
    pub const fn has_served(&self) -> bool {
        self.has_served
    }

    /// Whether it is within an answer that has no other end than its own.
    pub fn ends_with_answer(&self) -> bool {
        self.answers.ends_with_connection()
    }

    /// When each of them was due.
    pub fn into_waiting(self) -> VecDeque<u64> {
        self.waiting
    }

    /// Puts a request behind those that are to be sent.
    pub fn ask(&mut self, request: &Request, key: u64, due_ns: u64) {
        request.write(key, &mut self.out);
        self.waiting.push_back(due_ns);
    }

    /// Sends what the connection takes; whether that was all.
    ///
    /// # Errors
    /// Those of writing, but for a connection that was closed: what was sent before it may
    /// have been answered still, and [`Self::hear`] tells of the end.
    pub fn send(&mut self) -> io::Result<bool> {
        while self.sent < self.out.len() {
            match self.stream.write(&self.out[self.sent..]) {
                Ok(more) => self.sent += more,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if is_end(&e) => break,
                Err(e) => return Err(e),
            }
        }
        self.out.clear();
        self.sent = 0;
        Ok(true)
    }

    /// Takes the answers that have come. `take` gets when each request was due, and its answer.
    ///
    /// # Errors
    /// Those of reading, of bytes that are no answer, and of a connection that is closed in the
    /// middle of one, or before one that must not be asked for again.
    pub fn hear(&mut self, room: &mut [u8], mut take: impl FnMut(u64, Answer)) -> io::Result<Heard> {
        loop {
            let read = match self.stream.read(room) {
                Ok(read) => read,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(Heard::All),
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) if is_end(&e) => return self.closed(),
                Err(e) => return Err(e),
            };
            if read == 0 {
                return self.end(take);
            }
            if self.understand(&room[..read], &mut take)? == Heard::Closed {
                return Ok(Heard::Closed);
            }
            // There is no more: asking once again would be a call for nothing.
            if read < room.len() {
                return Ok(Heard::All);
            }
        }
    }

    fn understand(&mut self, bytes: &[u8], take: &mut impl FnMut(u64, Answer)) -> io::Result<Heard> {
        if self.part.is_empty() {
            let (used, heard) = self.answers_in(bytes, take)?;
            self.part.extend_from_slice(&bytes[used..]);
            return Ok(heard);
        }
        let mut all = std::mem::take(&mut self.part);
        all.extend_from_slice(bytes);
        let (used, heard) = self.answers_in(&all, take)?;
        all.drain(..used);
        self.part = all;
        Ok(heard)
    }

    /// Takes the answers in these bytes; how many of them are done with.
    fn answers_in(&mut self, bytes: &[u8], take: &mut impl FnMut(u64, Answer)) -> io::Result<(usize, Heard)> {
        let mut used = 0;
        loop {
            let (taken, answer) = self.answers.take(&bytes[used..]).map_err(invalid)?;
            used += taken;
            if let Some(answer) = answer {
                if answer.is_timeout && (self.waiting.is_empty() || self.may_repeat()) {
                    return Ok((bytes.len(), Heard::Closed));
                }
                let is_left_to_us = self.use_ == Use::Once && !answer.closes;
                if is_left_to_us {
                    // Who closes first keeps the port for a minute, and there are 28,000: it is reset.
                    set_socket_linger(&self.stream, Some(Duration::ZERO))?;
                }
                let closes = answer.closes || is_left_to_us;
                self.answered(answer, take)?;
                if closes {
                    return Ok((bytes.len(), Heard::Closed));
                }
            } else if taken == 0 || used == bytes.len() {
                return Ok((used, Heard::All));
            }
        }
    }

    fn answered(&mut self, answer: Answer, take: &mut impl FnMut(u64, Answer)) -> io::Result<()> {
        let Some(due_ns) = self.waiting.pop_front() else {
            let what = answer
                .wrong
                .map_or_else(String::new, |wrong| format!(": {wrong}"));
            return Err(invalid(format!("an answer to no request{what}")));
        };
        self.has_served = true;
        take(due_ns, answer);
        Ok(())
    }

    /// The server is done with it, which may be the end of an answer.
    fn end(&mut self, mut take: impl FnMut(u64, Answer)) -> io::Result<Heard> {
        match self.answers.at_end() {
            Some(answer) if answer.is_timeout && self.may_repeat() => {}
            Some(answer) => self.answered(answer, &mut take)?,
            None => return self.closed(),
        }
        Ok(Heard::Closed)
    }

    fn closed(&self) -> io::Result<Heard> {
        let why = if self.answers.is_within() || !self.part.is_empty() {
            "in the middle of an answer"
        } else if !self.waiting.is_empty() && !self.may_repeat() {
            "without an answer"
        } else {
            return Ok(Heard::Closed);
        };
        Err(invalid(format!("the server closed the connection {why}")))
    }

    /// Whether what waits may be asked again over another connection.
    fn may_repeat(&self) -> bool {
        match self.use_ {
            Use::Once | Use::Kept => false,
            Use::Repeatable => true,
            Use::Repeats => self.has_served,
        }
    }
}

/// Whether this is what the end of a connection looks like.
fn is_end(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)
}

fn invalid(why: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}
