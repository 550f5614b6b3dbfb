//! All connections together: requests that are due, answers that come.

use crate::answers::Answer;
use crate::arrivals::Arrivals;
use crate::connection::{Connection, Heard, Use};
use crate::request::Request;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use tare_kernels::KernelError;
use tare_kernels::clock;
use tare_kernels::gate::{Sliced, timed};
use tare_stats::Latencies;
use tare_wire::gate::{LoadSlice, Part};
use tare_wire::kernel::Check;
use tare_wire::load::LoadSpec;

/// What is read at a time: it stays in the caches.
const ROOM: usize = 64 << 10;
/// Connections of which the kernel tells at a time.
const EVENTS: usize = 256;
/// An open loop waits for the last answers as long as it lasted, and so many nanoseconds at
/// least. What has not come by then is given up.
const PATIENCE_NS: u64 = 1_000_000_000;
/// An answer that ends with its connection is waited for as often and as long, of which the
/// server may be frozen for one.
const WAITS: u32 = 3;
const WAIT_NS: u64 = if cfg!(test) { 50_000_000 } else { 5_000_000_000 };
/// It takes longer than this to sleep and to wake up.
const NO_SLEEP_NS: u64 = 5_000;
/// No time at all.
const NOW: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

/// A client with its connections.
pub struct Client {
    spec: LoadSpec,
    server: SocketAddr,
    request: Request,
    epoll: OwnedFd,
    /// Those that are made: where each request has one of its own, only while it is under way.
    connections: Vec<Option<Connection>>,
    /// Of each, whether the kernel is to tell when it takes more.
    full: Vec<bool>,
    /// The connection that is looked at first for the next request.
    next: usize,
    keys: ChaCha8Rng,
    arrivals: Option<Arrivals>,
    told: Told,
    reconnected: u64,
    /// Whether the server answered a load over all connections.
    is_tried: bool,
    /// Whether an answer came whose end is not known before that of its connection.
    some_end_late: bool,
    room: Vec<u8>,
    events: Vec<epoll::Event>,
}

/// What answers told.
#[derive(Debug, Default)]
struct Told {
    latencies: Latencies,
    /// Requests that were due since the clock was started, and until when.
    due: u64,
    due_ns: u64,
    answered: u64,
    wrong: u64,
    first_wrong: Option<String>,
    /// Connections that were made again since a slice told of them.
    reconnects: u64,
}

impl Told {
    fn take(&mut self, due_ns: u64, now_ns: u64, answer: Answer) {
        self.answered += 1;
        self.latencies.record(now_ns.saturating_sub(due_ns));
        if let Some(why) = answer.wrong {
            self.wrong += 1;
            self.first_wrong.get_or_insert(why);
        }
    }
}

impl Client {
    /// A client of this server, with all its connections, that has asked what is to be asked
    /// beforehand.
    ///
    /// # Errors
    /// [`KernelError`] if there is no way to the server, or if it does not answer.
    pub fn to(spec: &LoadSpec, server: SocketAddr) -> Result<Self, KernelError> {
        tare_kernels::make_timers_exact()?;
        allow_connections();
        let made = epoll::create(epoll::CreateFlags::CLOEXEC);
        let epoll = made.map_err(|e| failed("waiting for answers (epoll)")(e.into()))?;
        let mut client = Self {
            request: Request::of(spec, server),
            epoll,
            connections: Vec::new(),
            full: Vec::new(),
            next: 0,
            keys: ChaCha8Rng::seed_from_u64(spec.seed),
            arrivals: spec.rate.map(|rate| Arrivals::new(rate, spec.seed)),
            told: Told::default(),
            reconnected: 0,
            is_tried: false,
            some_end_late: false,
            room: vec![0; ROOM],
            events: Vec::with_capacity(EVENTS),
            spec: spec.clone(),
            server,
        };
        for number in 0..client.spec.connections.max(1) as usize {
            let kept = spec
                .keep
                .then(|| client.connect(number, Use::of(spec)))
                .transpose()?;
            client.connections.push(kept);
            client.full.push(false);
        }
        client.ask_beforehand().map_err(failed(ASKING))?;
        Ok(client)
    }

    /// Requests that were answered.
    pub fn requests(&self) -> u64 {
        self.told.answered
    }

    /// Connections that were made again.
    pub fn reconnected(&self) -> u64 {
        self.reconnected
    }

    /// What was wrong with the first answer that was.
    pub fn first_wrong(&self) -> Option<String> {
        self.told.first_wrong.clone()
    }

    fn connect(&self, number: usize, use_: Use) -> Result<Connection, KernelError> {
        let refused = |source| KernelError::Peer {
            what: "connect to",
            peer: self.server,
            source: explained(source),
        };
        let connection = Connection::to(self.server, &self.spec.asked, use_).map_err(refused)?;
        let data = epoll::EventData::new_u64(number as u64);
        epoll::add(&self.epoll, connection.fd(), data, epoll::EventFlags::IN)
            .map_err(|e| failed("waiting for answers (epoll)")(e.into()))?;
        Ok(connection)
    }

    /// Asks once for each key, as fast as it goes.
    fn ask_beforehand(&mut self) -> io::Result<()> {
        let Some(first) = Request::first(&self.spec) else {
            return Ok(());
        };
        let usual = std::mem::replace(&mut self.request, first);
        let mut keys = 0..u64::from(self.spec.keys.max(1));
        self.closed_loop(u64::from(self.spec.keys.max(1)), |_| keys.next().unwrap_or(0))?;
        self.request = usual;
        Ok(())
    }

    fn key(&mut self) -> u64 {
        if self.request.has_key() && self.spec.keys > 1 {
            self.keys.random_range(0..u64::from(self.spec.keys))
        } else {
            0
        }
    }

    /// So many requests, each as soon as there is room for it.
    fn closed_loop(&mut self, units: u64, mut key: impl FnMut(&mut Self) -> u64) -> io::Result<()> {
        let whole = self.told.answered + units;
        let mut to_ask = units;
        // All connections begin, whatever there is to ask.
        for _ in 0..self.spec.pipeline.max(1) {
            for number in 0..self.connections.len() {
                if to_ask > 0 {
                    let (key, now_ns) = (key(self), clock::now_ns());
                    self.ask(number, key, now_ns)?;
                    to_ask -= 1;
                }
            }
        }
        for number in 0..self.connections.len() {
            self.send(number)?;
        }
        while self.told.answered < whole {
            for i in 0..self.wait_for_answers()? {
                let number = self.awake(i);
                let answered = self.hear(number)?.min(to_ask);
                to_ask -= answered;
                for _ in 0..answered {
                    let (key, now_ns) = (key(self), clock::now_ns());
                    self.ask(number, key, now_ns)?;
                }
                self.send(number)?;
            }
        }
        self.told.due += units;
        Ok(())
    }

    /// So many requests that are due at once.
    fn burst(&mut self, requests: u64) -> io::Result<()> {
        let whole = self.told.answered + requests;
        let now_ns = clock::now_ns();
        let mut queue: VecDeque<u64> = (0..requests).map(|_| now_ns).collect();
        while self.told.answered < whole {
            self.ask_queued(&mut queue)?;
            for i in 0..self.wait_for_answers()? {
                let number = self.awake(i);
                self.hear(number)?;
                self.send(number)?;
            }
        }
        self.told.due += requests;
        Ok(())
    }

    /// So many requests, each when it is due.
    fn open_loop(&mut self, units: u64, arrivals: &mut Arrivals) -> io::Result<()> {
        let begun_ns = clock::now_ns();
        let whole = self.told.answered + units;
        let mut to_come = units;
        let mut due_ns = begun_ns + arrivals.gap_ns();
        let mut last_ns = begun_ns;
        let mut queue = VecDeque::new();
        while self.told.answered < whole {
            let now_ns = clock::now_ns();
            while to_come > 0 && due_ns <= now_ns {
                queue.push_back(due_ns);
                last_ns = due_ns;
                due_ns += arrivals.gap_ns();
                to_come -= 1;
            }
            self.ask_queued(&mut queue)?;
            let until_ns = match to_come {
                0 => last_ns + PATIENCE_NS.max(last_ns - begun_ns),
                _ => due_ns,
            };
            let left_ns = until_ns.saturating_sub(clock::now_ns());
            if left_ns == 0 && to_come == 0 {
                self.give_up();
                break;
            }
            for i in 0..self.wait(Some(left_ns))? {
                let number = self.awake(i);
                self.hear(number)?;
                self.send(number)?;
            }
        }
        self.told.due += units;
        self.told.due_ns += last_ns - begun_ns;
        Ok(())
    }

    /// Asks what is due over the connections that have room.
    fn ask_queued(&mut self, queue: &mut VecDeque<u64>) -> io::Result<()> {
        let most = self.spec.pipeline.max(1) as usize;
        let n = self.connections.len();
        while !queue.is_empty() {
            let mut numbers = (self.next..n).chain(0..self.next);
            let Some(number) = numbers.find(|i| self.waiting(*i) < most) else {
                return Ok(());
            };
            self.next = (number + 1) % n;
            let key = self.key();
            if let Some(due_ns) = queue.pop_front() {
                self.ask(number, key, due_ns)?;
                self.send(number)?;
            }
        }
        Ok(())
    }

    /// Forgets what was not answered, with its connections.
    fn give_up(&mut self) {
        for number in 0..self.connections.len() {
            if self.waiting(number) > 0 {
                self.connections[number] = None;
                self.full[number] = false;
            }
        }
    }

    /// Sends what a connection takes, and has the kernel tell when it takes more.
    fn send(&mut self, number: usize) -> io::Result<()> {
        let Some(connection) = &mut self.connections[number] else {
            return Ok(());
        };
        let full = !connection.send()?;
        if full != self.full[number] {
            self.full[number] = full;
            let flags = match full {
                true => epoll::EventFlags::IN | epoll::EventFlags::OUT,
                false => epoll::EventFlags::IN,
            };
            let data = epoll::EventData::new_u64(number as u64);
            epoll::modify(&self.epoll, connection.fd(), data, flags)?;
        }
        Ok(())
    }

    /// Takes the answers of a connection: how many. One that was closed is made again, and what
    /// waited on it asked again.
    fn hear(&mut self, number: usize) -> io::Result<u64> {
        let before = self.told.answered;
        let told = &mut self.told;
        let Some(connection) = &mut self.connections[number] else {
            return Ok(0);
        };
        let heard = connection.hear(&mut self.room, |due_ns, answer| {
            told.take(due_ns, clock::now_ns(), answer);
        })?;
        self.some_end_late |= connection.ends_with_answer();
        if heard == Heard::Closed {
            self.closed(number)?;
        }
        Ok(self.told.answered - before)
    }

    /// Makes a connection again that is closed, if it is to be kept, and asks over it what waited.
    /// One that was closed before anything was asked over it is made when it is needed: the next
    /// one would be closed as well.
    fn closed(&mut self, number: usize) -> io::Result<()> {
        let Some(old) = self.connections[number].take() else {
            return Ok(());
        };
        self.full[number] = false;
        let has_served = old.has_served();
        let waiting = old.into_waiting();
        if waiting.is_empty() && has_served && self.spec.keep {
            self.renew(number, Use::of(&self.spec))?;
        } else if !waiting.is_empty() {
            self.renew(number, Use::Repeats)?;
        }
        for due_ns in waiting {
            let key = self.key();
            self.ask(number, key, due_ns)?;
        }
        Ok(())
    }

    /// Makes a connection again.
    fn renew(&mut self, number: usize, use_: Use) -> io::Result<()> {
        self.connections[number] = Some(self.connect(number, use_).map_err(io::Error::other)?);
        if self.spec.keep {
            self.reconnected += 1;
            self.told.reconnects += 1;
        }
        Ok(())
    }

    /// Makes connections again that were closed while nothing was asked: other boxes had their
    /// turn, for longer than some servers wait for a request.
    fn renew_idle(&mut self) -> io::Result<()> {
        if !self.spec.keep {
            return Ok(());
        }
        for _ in 0..=self.connections.len() / EVENTS {
            for i in 0..self.wait(Some(0))? {
                self.hear(self.awake(i))?;
            }
        }
        for number in 0..self.connections.len() {
            if self.connections[number].is_none() {
                self.renew(number, Use::of(&self.spec))?;
            }
        }
        Ok(())
    }

    /// Requests that wait on a connection.
    fn waiting(&self, number: usize) -> usize {
        self.connections[number].as_ref().map_or(0, Connection::waiting)
    }

    /// Puts a request on a connection, which is made if there is none.
    fn ask(&mut self, number: usize, key: u64, due_ns: u64) -> io::Result<()> {
        if self.connections[number].is_none() {
            self.renew(number, Use::of(&self.spec))?;
        }
        if let Some(connection) = &mut self.connections[number] {
            connection.ask(&self.request, key, due_ns);
        }
        Ok(())
    }

    /// Waits for answers, and for the end of the connection of one that has no other end; the first
    /// time, to find out whether the server answers over more than one connection.
    fn wait_for_answers(&mut self) -> io::Result<usize> {
        let mut waits = 0;
        loop {
            let begun_ns = clock::now_ns();
            let is_limited = self.some_end_late || !self.is_tried;
            let awake = self.wait(is_limited.then_some(WAIT_NS))?;
            if awake > 0 {
                return Ok(awake);
            }
            waits += u32::from(clock::now_ns() - begun_ns >= WAIT_NS);
            if waits >= WAITS
                && let Some(why) = self.awaited_in_vain()
            {
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
        }
    }

    /// Why no answer will come.
    fn awaited_in_vain(&self) -> Option<&'static str> {
        let connections = || self.connections.iter().flatten();
        if connections().any(Connection::ends_with_answer) {
            return Some(
                "the server sent an answer without a length, and keeps the connection open: have it send \
                 Content-Length, or close",
            );
        }
        let (served, others): (Vec<_>, Vec<_>) = connections().partition(|one| one.has_served());
        let is_idle = !served.is_empty() && served.iter().all(|one| one.waiting() == 0);
        (is_idle && others.iter().any(|one| one.waiting() > 0)).then_some(
            "the server answered over some connections and never over the others: it may serve one at a \
             time; set keep = \"no\", or connections = \"1\"",
        )
    }

    /// Waits for answers, or until so many nanoseconds have passed: how many connections are awake.
    fn wait(&mut self, left_ns: Option<u64>) -> io::Result<usize> {
        if let Some(left_ns) = left_ns.filter(|left_ns| *left_ns >= NO_SLEEP_NS) {
            // epoll_wait counts in milliseconds, and its successor came with Linux 5.11.
            let timeout = Timespec {
                tv_sec: (left_ns / 1_000_000_000).try_into().unwrap_or(i64::MAX),
                tv_nsec: (left_ns % 1_000_000_000).try_into().unwrap_or(0),
            };
            let mut fds = [PollFd::new(&self.epoll, PollFlags::IN)];
            match poll(&mut fds, Some(&timeout)) {
                Ok(0) | Err(Errno::INTR) => return Ok(0),
                Ok(_) => {}
                Err(e) => return Err(e.into()),
            }
        }
        // Whoever slept knows that there is something.
        let timeout = left_ns.map(|_| &NOW);
        self.events.clear();
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), timeout) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
        Ok(self.events.len())
    }

    /// The number of one of the connections that are awake.
    fn awake(&self, i: usize) -> usize {
        usize::try_from(self.events[i].data.u64()).unwrap_or(usize::MAX)
    }
}

/// Told where requests could not be asked or answers not be taken.
const ASKING: &str = "asking the server";

impl Sliced for Client {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        let part = &mut parts[0];
        self.renew_idle().map_err(failed(ASKING))?;
        let before = self.told.answered;
        let done = timed(part, clock::process_cpu_ns, || {
            match (self.spec.burst, self.arrivals.take()) {
                (Some(requests), _) => (0..units).try_for_each(|_| self.burst(requests.into())),
                (None, None) => self.closed_loop(units, Self::key),
                (None, Some(mut arrivals)) => {
                    let done = self.open_loop(units, &mut arrivals);
                    self.arrivals = Some(arrivals);
                    done
                }
            }
        });
        part.work += (self.told.answered - before) as f64;
        self.is_tried |= self.told.answered - before >= self.connections.len() as u64;
        done.map_err(failed(ASKING))
    }

    fn check(&mut self) -> Check {
        Check {
            what: "answers that were not as they should be".to_owned(),
            found: self.told.wrong as f64,
            bound: 0.0,
        }
    }

    fn begin(&mut self) {
        self.told.latencies.clear();
        self.told.due = 0;
        self.told.due_ns = 0;
    }

    fn load(&mut self) -> Option<Box<LoadSlice>> {
        Some(Box::new(LoadSlice {
            latencies: self.told.latencies.quick_text(),
            due: self.told.due,
            due_ns: self.told.due_ns,
            reconnects: std::mem::take(&mut self.told.reconnects),
        }))
    }
}

/// Has this process keep as many files open as it may: the usual limit is some 1,000 connections.
fn allow_connections() {
    let limit = getrlimit(Resource::Nofile);
    let most = Rlimit {
        current: limit.maximum,
        ..limit
    };
    // Where it may not, connecting tells.
    let _ = setrlimit(Resource::Nofile, most);
}

/// Why there is no connection, where the system's word for it leads astray.
fn explained(error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::AddrNotAvailable {
        return error;
    }
    let why = "no port of the client is free: those of connections that it closed are kept for a minute; \
               set keep = \"yes\", or lower the rate";
    io::Error::new(error.kind(), why)
}

fn failed(what: &'static str) -> impl FnOnce(io::Error) -> KernelError {
    move |source| KernelError::System { what, source }
}
