//! The controller's end of the link to one agent: one request, its data, one
//! reply, each within a deadline.

mod answer;
mod kept;
mod line;
mod stream;

pub use stream::{FdStream, Stream};

use answer::{Coming, Processes};
use kept::Kept;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::time::{Duration, Instant};
use tare_model::frame::{Decoder, FrameError, Head, Kind, MAX_NUMBER, MAX_PAYLOAD, encode};
use tare_model::host::BoxFacts;
use tare_model::protocol::{ErrorCode, Reply, Request, VERSION};

/// Why a request got no answer.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The agent did not answer in time.
    #[error("the agent did not answer {doing} within {:.1} s", .after.as_secs_f64())]
    Timeout {
        /// The request.
        doing: &'static str,
        /// The time it had.
        after: Duration,
    },
    /// An answer that did not come in time would be taken for the one to this.
    #[error(
        "the agent has not sent an earlier answer yet, which would be mistaken for the answer to {doing}"
    )]
    Behind {
        /// The request.
        doing: &'static str,
    },
    /// What came over the link before cannot be the agent's.
    #[error("{doing} was not sent: the link is closed, since it received bytes that its agent did not send")]
    GivenUp {
        /// The request.
        doing: &'static str,
    },
    /// A frame with another number than the request's.
    #[error("the answer to {doing} has the wrong number: something in the box writes to the agent's link")]
    Foreign {
        /// The request.
        doing: &'static str,
    },
    /// More data than was asked for, or a frame of data without any.
    #[error(
        "{bytes} B of {kind:?} too many in answer to {doing} (at most {max} B): something in the box writes to the agent's link"
    )]
    TooMuch {
        /// The request.
        doing: &'static str,
        /// Of which kind.
        kind: Kind,
        /// Bytes of the frame.
        bytes: usize,
        /// Bytes that were asked for in all.
        max: u64,
    },
    /// The stream ended: the agent or its box is gone.
    #[error("the link ended during {doing}: the box or its agent is gone")]
    Ended {
        /// The request.
        doing: &'static str,
    },
    /// The user asked to stop.
    #[error("stopped by the user")]
    Interrupted,
    /// The stream failed.
    #[error("the link failed during {doing}: {source}")]
    Io {
        /// The request.
        doing: &'static str,
        source: io::Error,
    },
    /// Something that is no frame arrived.
    #[error("unreadable answer to {doing}: {source}")]
    Frame {
        /// The request.
        doing: &'static str,
        /// What is wrong with it.
        source: FrameError,
    },
    /// A frame arrived that answers nothing.
    #[error("unexpected answer to {doing}: {detail}")]
    Unexpected {
        /// The request.
        doing: &'static str,
        /// What arrived.
        detail: String,
    },
    /// The agent refused.
    #[error("the agent cannot carry out {doing}: {message}")]
    Refused {
        /// The request.
        doing: &'static str,
        /// The kind of refusal.
        code: ErrorCode,
        /// The agent's words.
        message: String,
    },
    /// The agent is of another build.
    #[error(
        "the agent has build {theirs} and protocol {protocol}, but tare needs build {ours} and protocol {VERSION}: remove the old agent from the box and start again"
    )]
    Mismatch {
        /// Build of the agent.
        theirs: String,
        /// Protocol of the agent.
        protocol: u32,
        /// Build of the program that was put into the box.
        ours: &'static str,
    },
}

impl LinkError {
    /// What an error of the stream means for a request that had this time.
    pub fn of_stream(source: io::Error, doing: &'static str, within: Duration) -> Self {
        match source.kind() {
            io::ErrorKind::TimedOut => Self::Timeout { doing, after: within },
            io::ErrorKind::Interrupted => Self::Interrupted,
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Self::Ended { doing },
            _ => Self::Io { doing, source },
        }
    }
}

/// A reply with the data that came before it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The reply itself.
    pub reply: Reply,
    /// Bytes of a file.
    pub file: Vec<u8>,
    /// Standard output of a process.
    pub stdout: Vec<u8>,
    /// Standard error of a process.
    pub stderr: Vec<u8>,
}

/// Whether anything can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Usable,
    /// An answer did not come in time, and may still come.
    Behind,
    /// What came is not the agent's.
    GivenUp,
}

/// The controller's end of a link. After an answer that did not come in time nothing more
/// is asked, since it may still come; after what is no answer nothing more is believed.
pub struct Link {
    stream: Box<dyn Stream>,
    state: State,
    /// The build ID of the agent, once it was greeted.
    build_id: Option<&'static str>,
    decoder: Decoder,
    outgoing: Vec<u8>,
    incoming: Vec<u8>,
    numbers: Numbers,
    /// What came of the answer to the request under way.
    coming: Coming,
    /// Whether there is one.
    owed: bool,
    processes: Processes,
    kept: Kept,
}

/// The numbers of requests: the first, a greeting, has 0, which agents of all versions can
/// read. Of the others nobody in the box can tell the next.
struct Numbers {
    next: u32,
    secret: RandomState,
    asked: u64,
}

impl Numbers {
    fn new() -> Self {
        Self {
            next: 0,
            secret: RandomState::new(),
            asked: 0,
        }
    }

    fn take(&mut self) -> u32 {
        self.asked += 1;
        let [a, b, c, ..] = self.secret.hash_one(self.asked).to_le_bytes();
        let next = u32::from_le_bytes([a, b, c, 0]) & MAX_NUMBER;
        std::mem::replace(&mut self.next, next)
    }
}

impl Link {
    /// A link over a stream whose other end is, or will be, an agent's.
    pub fn new(stream: impl Stream + 'static) -> Self {
        Self {
            stream: Box::new(stream),
            state: State::Usable,
            build_id: None,
            decoder: Decoder::default(),
            outgoing: Vec::with_capacity(4096),
            incoming: Vec::with_capacity(64 << 10),
            numbers: Numbers::new(),
            coming: Coming::default(),
            owed: false,
            processes: Processes::default(),
            kept: Kept::default(),
        }
    }

    /// Greets the agent, which must be of this build; may be called before the agent runs. `control_cpu` is the CPU on
    /// which it is to wait, where it runs on the same kernel.
    ///
    /// # Errors
    /// [`LinkError`]; `Mismatch` if the agent is of another build.
    pub fn hello(
        &mut self,
        build_id: &'static str,
        control_cpu: Option<u32>,
        within: Duration,
    ) -> Result<(), LinkError> {
        let request = Request::Hello {
            protocol: VERSION,
            build: build_id.to_owned(),
            control_cpu,
        };
        match self.request(&request, within)?.reply {
            Reply::Hello {
                protocol: VERSION,
                build,
                ..
            } if build == build_id => {
                self.build_id = Some(build_id);
                Ok(())
            }
            Reply::Hello { protocol, build, .. } => Err(LinkError::Mismatch {
                theirs: build,
                protocol,
                ours: build_id,
            }),
            other => Err(unexpected("hello", &other)),
        }
    }

    /// The build ID with which the agent answered when it was greeted.
    pub fn build_id(&self) -> Option<&'static str> {
        self.build_id
    }

    /// Speaks to the agent without whoever relays the stream from now on, where the agent's
    /// process `pid` is of this kernel and its descriptors may be taken; else nothing changes.
    /// The end of the old stream still ends the link.
    ///
    /// # Errors
    /// [`LinkError`] if the agent is lost by it.
    pub fn shorten(&mut self, pid: u32, control_cpu: Option<u32>, within: Duration) -> Result<(), LinkError> {
        let offered = match self.request(&Request::OfferLine, within) {
            Ok(answer) => answer.reply,
            Err(LinkError::Refused { .. }) => return Ok(()),
            Err(e) => return Err(e),
        };
        let Reply::LineOffered { fd, inode } = offered else {
            return Err(unexpected("offer a line", &offered));
        };
        let line = line::take(pid, fd, inode, &*self.stream).ok();
        let request = Request::TakeLine {
            taken: line.is_some(),
            control_cpu,
        };
        self.ask(&request, within)?;
        if let Some(line) = line {
            self.stream = Box::new(line);
        }
        match self.reply(&request, within)?.reply {
            Reply::LineTaken => Ok(()),
            other => Err(unexpected("take a line", &other)),
        }
    }

    /// The box as its agent sees it from inside.
    ///
    /// # Errors
    /// [`LinkError`].
    pub fn facts(&mut self, within: Duration) -> Result<BoxFacts, LinkError> {
        match self.request(&Request::Facts, within)?.reply {
            Reply::Facts(facts) => Ok(facts),
            other => Err(unexpected("facts", &other)),
        }
    }

    /// Sends a request and waits for its reply.
    ///
    /// # Errors
    /// [`LinkError`]; `Refused` if the agent answers with an error.
    pub fn request(&mut self, request: &Request, within: Duration) -> Result<Answer, LinkError> {
        self.exchange(request, &[], within)
    }

    /// Sends a request whose reply is to be waited for with [`Link::reply`].
    ///
    /// # Errors
    /// [`LinkError`].
    pub fn ask(&mut self, request: &Request, within: Duration) -> Result<(), LinkError> {
        self.send(request, &[], Instant::now() + within, within)
    }

    /// Waits for the reply to the request that was sent last.
    ///
    /// # Errors
    /// As [`Link::request`].
    pub fn reply(&mut self, request: &Request, within: Duration) -> Result<Answer, LinkError> {
        self.answer(doing(request), Instant::now() + within, within)
    }

    /// Writes a file in the box.
    ///
    /// # Errors
    /// [`LinkError`].
    pub fn write_file(
        &mut self,
        path: &str,
        mode: u32,
        content: &[u8],
        within: Duration,
    ) -> Result<(), LinkError> {
        let request = Request::WriteFile {
            path: path.to_owned(),
            mode,
            bytes: content.len() as u64,
        };
        match self.exchange(&request, content, within)?.reply {
            Reply::FileWritten => Ok(()),
            other => Err(unexpected("write file", &other)),
        }
    }

    /// Has the agent copy a file out of the folder that the host shares with its machine.
    ///
    /// # Errors
    /// [`LinkError`].
    pub fn take_file(
        &mut self,
        name: &str,
        path: &str,
        mode: u32,
        within: Duration,
    ) -> Result<(), LinkError> {
        let request = Request::TakeFile {
            name: name.to_owned(),
            path: path.to_owned(),
            mode,
        };
        match self.request(&request, within)?.reply {
            Reply::FileWritten => Ok(()),
            other => Err(unexpected("take file", &other)),
        }
    }

    /// Reads a file in the box of at most `max_bytes`.
    ///
    /// # Errors
    /// [`LinkError`].
    pub fn read_file(&mut self, path: &str, max_bytes: u64, within: Duration) -> Result<Vec<u8>, LinkError> {
        let answer = self.request(
            &Request::ReadFile {
                path: path.to_owned(),
                max_bytes,
            },
            within,
        )?;
        match answer.reply {
            Reply::FileRead { bytes } if bytes == answer.file.len() as u64 => Ok(answer.file),
            other => Err(unexpected("read file", &other)),
        }
    }

    /// Whether the agent owes an answer: then nothing else can be asked of it.
    pub fn is_owed(&self) -> bool {
        self.owed
    }

    /// The stream itself, to hand bytes on that are no frames of ours.
    pub fn stream(&mut self) -> &mut dyn Stream {
        &mut *self.stream
    }

    /// Sends the next bytes of an inner box's stream.
    ///
    /// # Errors
    /// As [`Stream::send`].
    pub fn relay(&mut self, channel: u16, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        self.outgoing.clear();
        for chunk in bytes.chunks(MAX_PAYLOAD) {
            encode(Head::relay(channel), chunk, &mut self.outgoing);
        }
        self.stream.send(&self.outgoing, deadline)
    }

    /// Receives the next bytes of an inner box's stream; 0 at its end.
    ///
    /// # Errors
    /// As [`Stream::receive`]; `InvalidData` for anything else than such bytes.
    pub fn relayed(&mut self, channel: u16, buffer: &mut Vec<u8>, deadline: Instant) -> io::Result<usize> {
        let invalid = |e: String| io::Error::new(io::ErrorKind::InvalidData, e);
        if self.state == State::GivenUp {
            return Err(invalid("the link of the outer box is closed".to_owned()));
        }
        loop {
            if let Some(n) = self.kept.take(channel, buffer) {
                return Ok(n);
            }
            if let Some(frame) = self.decoder.next_frame().map_err(|e| invalid(e.to_string()))? {
                let kept = match frame.head.kind {
                    Kind::Relay => self.kept.keep(frame.head.channel, &frame.payload),
                    other => Err(format!("a {other:?} frame instead of an inner box's bytes")),
                };
                if let Err(e) = kept {
                    self.state = State::GivenUp;
                    return Err(invalid(e));
                }
                continue;
            }
            self.incoming.clear();
            if self.stream.receive(&mut self.incoming, deadline)? == 0 {
                return Ok(0);
            }
            self.decoder.feed(&self.incoming);
        }
    }

    fn exchange(&mut self, request: &Request, content: &[u8], within: Duration) -> Result<Answer, LinkError> {
        let deadline = Instant::now() + within;
        self.send(request, content, deadline, within)?;
        self.answer(doing(request), deadline, within)
    }

    fn send(
        &mut self,
        request: &Request,
        content: &[u8],
        deadline: Instant,
        within: Duration,
    ) -> Result<(), LinkError> {
        let doing = doing(request);
        match self.state {
            State::Usable => {}
            State::Behind => return Err(LinkError::Behind { doing }),
            State::GivenUp => return Err(LinkError::GivenUp { doing }),
        }
        if let Request::Launch { channel, .. } = request {
            self.kept.open(*channel);
        }
        let number = self.numbers.take();
        self.coming = Coming::to(number, self.processes.allow(request));
        self.owed = true;
        let failed = |source| LinkError::of_stream(source, doing, within);
        self.outgoing.clear();
        let json = serde_json::to_vec(request).map_err(|e| failed(e.into()))?;
        encode(Head::of(Kind::Request, number), &json, &mut self.outgoing);
        for chunk in content.chunks(MAX_PAYLOAD) {
            encode(Head::of(Kind::File, number), chunk, &mut self.outgoing);
        }
        self.stream.send(&self.outgoing, deadline).map_err(failed)
    }

    /// Waits for an answer. One of which a part has come can be waited for again.
    fn answer(
        &mut self,
        doing: &'static str,
        deadline: Instant,
        within: Duration,
    ) -> Result<Answer, LinkError> {
        if self.state == State::GivenUp {
            return Err(LinkError::GivenUp { doing });
        }
        loop {
            match self.arrived(doing) {
                Ok(None) => {}
                Ok(Some(answer)) => {
                    self.state = State::Usable;
                    self.owed = false;
                    return accept(answer, doing);
                }
                Err(e) => {
                    self.state = State::GivenUp;
                    return Err(e);
                }
            }
            self.incoming.clear();
            let received = self.stream.receive(&mut self.incoming, deadline);
            let received = received.map_err(|e| LinkError::of_stream(e, doing, within));
            if matches!(received, Err(LinkError::Timeout { .. })) {
                self.state = State::Behind;
            }
            if received? == 0 {
                return Err(LinkError::Ended { doing });
            }
            self.decoder.feed(&self.incoming);
        }
    }

    /// The answer, if all of it is there.
    fn arrived(&mut self, doing: &'static str) -> Result<Option<Answer>, LinkError> {
        let unreadable = |source| LinkError::Frame { doing, source };
        while let Some(frame) = self.decoder.next_frame().map_err(unreadable)? {
            if frame.head.kind == Kind::Relay {
                // Of an inner box that is at work while its outer one is asked.
                let kept = self.kept.keep(frame.head.channel, &frame.payload);
                kept.map_err(|detail| LinkError::Unexpected { doing, detail })?;
            } else if let Some(answer) = self.coming.take(&frame, doing)? {
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }
}

fn accept(answer: Answer, doing: &'static str) -> Result<Answer, LinkError> {
    match answer.reply {
        Reply::Error { code, message } => Err(LinkError::Refused { doing, code, message }),
        _ => Ok(answer),
    }
}

/// The error for a reply that does not fit its request.
pub fn unexpected(doing: &'static str, reply: &Reply) -> LinkError {
    LinkError::Unexpected {
        doing,
        detail: format!("{reply:?}"),
    }
}

/// What a request does, for messages.
fn doing(request: &Request) -> &'static str {
    match request {
        Request::Hello { .. } => "hello",
        Request::Facts => "facts",
        Request::Counters => "counters",
        Request::Killed => "name killed processes",
        Request::Kernel { .. } => "run kernel",
        Request::Proof { .. } => "prove limits",
        Request::Command(_) => "run command",
        Request::Start { .. } => "start a process",
        Request::Go { .. } => "a slice of work",
        Request::Look { .. } => "look after a server",
        Request::Stop { .. } => "stop a process",
        Request::ReadFile { .. } => "read file",
        Request::WriteFile { .. } => "write file",
        Request::TakeFile { .. } => "take file",
        Request::Launch { .. } => "launch an inner box",
        Request::Freeze { .. } => "freeze an inner box",
        Request::Thaw { .. } => "thaw an inner box",
        Request::SetClock { .. } => "set clock",
        Request::DropCaches => "drop caches",
        Request::OfferLine => "offer a line",
        Request::TakeLine { .. } => "take a line",
        Request::Quit => "quit",
    }
}

#[cfg(test)]
mod tests;
