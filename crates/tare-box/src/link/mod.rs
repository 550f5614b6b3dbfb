//! The controller's end of the link to one agent: one request, its data, one
//! reply, each within a deadline.

mod line;
mod stream;

pub use stream::{FdStream, Stream};

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};
use tare_model::frame::{Decoder, Frame, FrameError, Kind, MAX_PAYLOAD, encode_parts};
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
    #[error("the agent still owes an earlier answer, which would be taken for the one to {doing}")]
    Behind {
        /// The request.
        doing: &'static str,
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
        /// The cause.
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
        "the agent is tare build {theirs} (protocol {protocol}), this is build {ours}: remove the old binary from the box and start anew"
    )]
    Mismatch {
        /// Build of the agent.
        theirs: String,
        /// Protocol of the agent.
        protocol: u32,
        /// Build of the controller.
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

/// The controller's end of a link. Answers bear no numbers: after one that did not come
/// in time nothing more is asked, since it may still come.
pub struct Link {
    stream: Box<dyn Stream>,
    /// Whether an answer did not come in time.
    behind: bool,
    decoder: Decoder,
    outgoing: Vec<u8>,
    incoming: Vec<u8>,
    /// What inner boxes said while something else was waited for.
    kept: VecDeque<(u16, Vec<u8>)>,
}

impl Link {
    /// A link over a stream whose other end is, or will be, an agent's.
    pub fn new(stream: impl Stream + 'static) -> Self {
        Self {
            stream: Box::new(stream),
            behind: false,
            decoder: Decoder::default(),
            outgoing: Vec::with_capacity(4096),
            incoming: Vec::with_capacity(64 << 10),
            kept: VecDeque::new(),
        }
    }

    /// Greets the agent; may be called before the agent runs. `seat` is the CPU on
    /// which it is to wait, where it runs on the same kernel.
    ///
    /// # Errors
    /// [`LinkError`]; `Mismatch` if the agent is of another build.
    pub fn hello(&mut self, seat: Option<u32>, within: Duration) -> Result<(), LinkError> {
        let request = Request::Hello {
            protocol: VERSION,
            build: tare_model::BUILD_ID.to_owned(),
            seat,
        };
        match self.request(&request, within)?.reply {
            Reply::Hello {
                protocol: VERSION,
                build,
                ..
            } if build == tare_model::BUILD_ID => Ok(()),
            Reply::Hello { protocol, build, .. } => Err(LinkError::Mismatch {
                theirs: build,
                protocol,
                ours: tare_model::BUILD_ID,
            }),
            other => Err(unexpected("hello", &other)),
        }
    }

    /// Speaks to the agent without whoever relays the stream from now on, where the agent's
    /// process `pid` is of this kernel and its descriptors may be taken; else nothing changes.
    /// The end of the old stream still ends the link.
    ///
    /// # Errors
    /// [`LinkError`] if the agent is lost by it.
    pub fn shorten(&mut self, pid: u32, seat: Option<u32>, within: Duration) -> Result<(), LinkError> {
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
            seat,
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
            encode_parts(channel, Kind::Relay, chunk, &mut self.outgoing);
        }
        self.stream.send(&self.outgoing, deadline)
    }

    /// Receives the next bytes of an inner box's stream; 0 at its end.
    ///
    /// # Errors
    /// As [`Stream::receive`]; `InvalidData` for anything else than such bytes.
    pub fn relayed(&mut self, channel: u16, buffer: &mut Vec<u8>, deadline: Instant) -> io::Result<usize> {
        let kept = self.kept.iter().position(|(of, _)| *of == channel);
        if let Some((_, bytes)) = kept.and_then(|i| self.kept.remove(i)) {
            buffer.extend_from_slice(&bytes);
            return Ok(bytes.len());
        }
        loop {
            let invalid = |e: String| io::Error::new(io::ErrorKind::InvalidData, e);
            if let Some(frame) = self.decoder.next_frame().map_err(|e| invalid(e.to_string()))? {
                if (frame.kind, frame.channel) != (Kind::Relay, channel) {
                    return Err(invalid(format!(
                        "a {:?} frame on channel {}",
                        frame.kind, frame.channel
                    )));
                }
                buffer.extend_from_slice(&frame.payload);
                return Ok(frame.payload.len());
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
        if self.behind {
            return Err(LinkError::Behind { doing });
        }
        let failed = |source| LinkError::of_stream(source, doing, within);
        self.outgoing.clear();
        let json = serde_json::to_vec(request).map_err(|e| failed(e.into()))?;
        encode_parts(0, Kind::Request, &json, &mut self.outgoing);
        for chunk in content.chunks(MAX_PAYLOAD) {
            encode_parts(0, Kind::File, chunk, &mut self.outgoing);
        }
        self.stream.send(&self.outgoing, deadline).map_err(failed)
    }

    fn answer(
        &mut self,
        doing: &'static str,
        deadline: Instant,
        within: Duration,
    ) -> Result<Answer, LinkError> {
        let mut data = [Vec::new(), Vec::new(), Vec::new()];
        loop {
            while let Some(frame) = self
                .decoder
                .next_frame()
                .map_err(|source| LinkError::Frame { doing, source })?
            {
                if frame.kind == Kind::Relay {
                    // Of an inner box that is at work while its outer one is asked.
                    self.kept.push_back((frame.channel, frame.payload));
                    continue;
                }
                if let Some(reply) = sort(frame, &mut data, doing)? {
                    let [file, stdout, stderr] = data;
                    return accept(reply, doing).map(|reply| Answer {
                        reply,
                        file,
                        stdout,
                        stderr,
                    });
                }
            }
            self.incoming.clear();
            let received = self.stream.receive(&mut self.incoming, deadline);
            let received = received.map_err(|e| LinkError::of_stream(e, doing, within));
            self.behind = matches!(received, Err(LinkError::Timeout { .. }));
            if received? == 0 {
                return Err(LinkError::Ended { doing });
            }
            self.decoder.feed(&self.incoming);
        }
    }
}

/// Puts a data frame where it belongs, or gives back the reply.
fn sort(frame: Frame, data: &mut [Vec<u8>; 3], doing: &'static str) -> Result<Option<Reply>, LinkError> {
    let [file, stdout, stderr] = data;
    let target = match frame.kind {
        Kind::Reply => {
            return serde_json::from_slice(&frame.payload)
                .map(Some)
                .map_err(|e| LinkError::Unexpected {
                    doing,
                    detail: e.to_string(),
                });
        }
        Kind::File => file,
        Kind::Stdout => stdout,
        Kind::Stderr => stderr,
        Kind::Relay | Kind::Request => {
            return Err(LinkError::Unexpected {
                doing,
                detail: format!("a {:?} frame", frame.kind),
            });
        }
    };
    target.extend_from_slice(&frame.payload);
    Ok(None)
}

fn accept(reply: Reply, doing: &'static str) -> Result<Reply, LinkError> {
    match reply {
        Reply::Error { code, message } => Err(LinkError::Refused { doing, code, message }),
        reply => Ok(reply),
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
        Request::Kernel { .. } => "run kernel",
        Request::Proof { .. } => "prove limits",
        Request::Command(_) => "run command",
        Request::Start { .. } => "start a process",
        Request::Go { .. } => "a slice of work",
        Request::Stop { .. } => "stop a process",
        Request::ReadFile { .. } => "read file",
        Request::WriteFile { .. } => "write file",
        Request::Launch { .. } => "launch an inner box",
        Request::Freeze { .. } => "freeze an inner box",
        Request::Thaw { .. } => "thaw an inner box",
        Request::SetClock { .. } => "set clock",
        Request::OfferLine => "offer a line",
        Request::TakeLine { .. } => "take a line",
        Request::Quit => "quit",
    }
}

#[cfg(test)]
mod tests;
