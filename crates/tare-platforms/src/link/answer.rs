//! The answer under way: no more of it is kept than was asked for, and nothing of what
//! bears another number.

use super::{Answer, LinkError};
use std::collections::BTreeMap;
use tare_model::frame::{Frame, Kind};
use tare_model::protocol::{Bounds, Reply, Request};

/// Most bytes of data that may come before a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Allowed {
    file: u64,
    stdout: u64,
    stderr: u64,
}

impl Allowed {
    const fn output(bounds: &Bounds) -> Self {
        Self {
            file: 0,
            stdout: bounds.max_stdout_bytes,
            stderr: bounds.max_stderr_bytes,
        }
    }
}

/// What the processes under way may print, by their numbers: it comes with the answer to
/// a later request than the one that started them.
#[derive(Debug, Default)]
pub(super) struct Processes(BTreeMap<u16, Allowed>);

impl Processes {
    /// What may come as the answer to a request.
    pub(super) fn allow(&mut self, request: &Request) -> Allowed {
        match request {
            Request::Kernel { bounds, .. } | Request::Proof { bounds, .. } => Allowed::output(bounds),
            Request::Command(command) => Allowed::output(&command.bounds),
            Request::Start { process, bounds, .. } => {
                self.0.insert(*process, Allowed::output(bounds));
                Allowed::output(bounds)
            }
            Request::Go { process, .. } | Request::Look { process } => {
                self.0.get(process).copied().unwrap_or_default()
            }
            Request::Stop { process } => self.0.remove(process).unwrap_or_default(),
            Request::ReadFile { max_bytes, .. } => Allowed {
                file: *max_bytes,
                ..Allowed::default()
            },
            Request::Hello { .. }
            | Request::Facts
            | Request::Counters
            | Request::Killed
            | Request::WriteFile { .. }
            | Request::TakeFile { .. }
            | Request::Launch { .. }
            | Request::Freeze { .. }
            | Request::Thaw { .. }
            | Request::SetClock { .. }
            | Request::DropCaches
            | Request::OfferLine
            | Request::TakeLine { .. }
            | Request::Quit => Allowed::default(),
        }
    }
}

/// An answer of which a part may have come.
#[derive(Debug, Default)]
pub(super) struct Coming {
    /// That of the request.
    number: u32,
    file: AnswerPart,
    stdout: AnswerPart,
    stderr: AnswerPart,
}

/// Data of one kind.
#[derive(Debug, Default)]
struct AnswerPart {
    bytes: Vec<u8>,
    max: u64,
}

impl AnswerPart {
    const fn of(max: u64) -> Self {
        Self {
            bytes: Vec::new(),
            max,
        }
    }

    /// Whether these bytes are some, and no more than there is room for.
    fn keep(&mut self, bytes: &[u8]) -> bool {
        let fits = !bytes.is_empty() && (self.bytes.len() + bytes.len()) as u64 <= self.max;
        if fits {
            self.bytes.extend_from_slice(bytes);
        }
        fits
    }
}

impl Coming {
    pub(super) const fn to(number: u32, allowed: Allowed) -> Self {
        Self {
            number,
            file: AnswerPart::of(allowed.file),
            stdout: AnswerPart::of(allowed.stdout),
            stderr: AnswerPart::of(allowed.stderr),
        }
    }

    /// Takes the next frame: the whole answer if it was the reply.
    pub(super) fn take(&mut self, frame: &Frame, doing: &'static str) -> Result<Option<Answer>, LinkError> {
        if (frame.head.channel, frame.head.number) != (0, self.number) {
            return Err(LinkError::Foreign { doing });
        }
        let part = match frame.head.kind {
            Kind::Reply => return self.end(&frame.payload, doing).map(Some),
            Kind::File => &mut self.file,
            Kind::Stdout => &mut self.stdout,
            Kind::Stderr => &mut self.stderr,
            Kind::Relay | Kind::Request => {
                return Err(LinkError::Unexpected {
                    doing,
                    detail: format!("a {:?} frame", frame.head.kind),
                });
            }
        };
        if part.keep(&frame.payload) {
            return Ok(None);
        }
        Err(LinkError::TooMuch {
            doing,
            kind: frame.head.kind,
            bytes: frame.payload.len(),
            max: part.max,
        })
    }

    fn end(&mut self, reply: &[u8], doing: &'static str) -> Result<Answer, LinkError> {
        let reply: Reply = serde_json::from_slice(reply).map_err(|e| LinkError::Unexpected {
            doing,
            detail: e.to_string(),
        })?;
        let taken = |part: &mut AnswerPart| std::mem::take(&mut part.bytes);
        Ok(Answer {
            reply,
            file: taken(&mut self.file),
            stdout: taken(&mut self.stdout),
            stderr: taken(&mut self.stderr),
        })
    }
}
