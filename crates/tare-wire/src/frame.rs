//! Frames of the link between controller and agent.
//!
//! ```text
//! byte   0    1    2     3..6         6..8       8..12
//!      0xA7  't'  kind  number BE  channel BE  length BE    then the payload
//! ```
//!
//! Channel 0 is the agent at the other end. A frame on another channel belongs
//! to the stream of an inner box that this agent relays.
//!
//! The number is that of the request which the frame is part of or answers: what
//! somebody else writes to the link does not know it. Relayed bytes have 0.

/// Bytes before the payload.
pub const HEADER_BYTES: usize = 12;

/// Largest payload of one frame; longer data is sent in several.
pub const MAX_PAYLOAD: usize = 1 << 20;

/// Largest number of a request.
pub const MAX_NUMBER: u32 = (1 << 24) - 1;

const MAGIC: [u8; 2] = [0xA7, b't'];

/// What a frame carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A request as JSON, controller to agent.
    Request = 1,
    /// The last frame that answers a request, as JSON, agent to controller.
    Reply = 2,
    /// Bytes of a file.
    File = 3,
    /// Bytes of a process's standard output.
    Stdout = 4,
    /// Bytes of a process's standard error.
    Stderr = 5,
    /// Bytes of an inner box's stream.
    Relay = 6,
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::Request,
        Self::Reply,
        Self::File,
        Self::Stdout,
        Self::Stderr,
        Self::Relay,
    ];

    fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|k| *k as u8 == byte)
    }
}

/// What stands before a payload, beside its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// What the payload is.
    pub kind: Kind,
    /// Which stream it belongs to.
    pub channel: u16,
    /// The request that it is part of or answers, at most [`MAX_NUMBER`].
    pub number: u32,
}

impl Head {
    /// Of a frame between a controller and its agent.
    pub const fn of(kind: Kind, number: u32) -> Self {
        Self {
            kind,
            channel: 0,
            number,
        }
    }

    /// Of the next bytes of an inner box's stream.
    pub const fn relay(channel: u16) -> Self {
        Self {
            kind: Kind::Relay,
            channel,
            number: 0,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub head: Head,
    /// At most [`MAX_PAYLOAD`] bytes.
    pub payload: Vec<u8>,
}

/// What is wrong with bytes that should be a frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The stream is not ours, or has lost its place.
    #[error("bytes {0:02x?} are not the start of a frame: something else writes to the link")]
    NotAFrame([u8; HEADER_BYTES]),
    /// A kind of frame that this version does not know.
    #[error("unknown kind of frame {0}: the other side has another version")]
    UnknownKind(u8),
    /// A payload beyond [`MAX_PAYLOAD`].
    #[error("frame of {0} B is over the limit of {MAX_PAYLOAD} B")]
    TooLong(usize),
}

/// Appends the bytes of a frame to `out`, without taking the payload.
///
/// # Panics
/// If the payload is over [`MAX_PAYLOAD`]: senders split longer data.
#[expect(clippy::cast_possible_truncation, reason = "payloads are at most 1 MiB")]
pub fn encode(head: Head, payload: &[u8], out: &mut Vec<u8>) {
    assert!(
        payload.len() <= MAX_PAYLOAD,
        "payload of {} B must be split",
        payload.len()
    );
    let [_, number @ ..] = head.number.to_be_bytes();
    out.extend_from_slice(&MAGIC);
    out.push(head.kind as u8);
    out.extend_from_slice(&number);
    out.extend_from_slice(&head.channel.to_be_bytes());
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes());
    out.extend_from_slice(payload);
}

/// Turns bytes as they arrive into frames.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    taken: usize,
}

impl Decoder {
    /// Adds bytes that arrived.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.taken > 0 {
            self.buffer.drain(..self.taken);
            self.taken = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole frame; `None` until more bytes arrive.
    ///
    /// # Errors
    /// [`FrameError`]; the stream is unusable from then on.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, FrameError> {
        let rest = &self.buffer[self.taken..];
        let Some(header) = rest.first_chunk::<HEADER_BYTES>() else {
            return Ok(None);
        };
        let (head, length) = parse_header(header)?;
        let Some(payload) = rest.get(HEADER_BYTES..HEADER_BYTES + length) else {
            return Ok(None);
        };
        let frame = Frame {
            head,
            payload: payload.to_vec(),
        };
        self.taken += HEADER_BYTES + length;
        Ok(Some(frame))
    }

    /// Whether bytes of an unfinished frame are held.
    pub fn is_mid_frame(&self) -> bool {
        self.taken < self.buffer.len()
    }
}

fn parse_header(header: &[u8; HEADER_BYTES]) -> Result<(Head, usize), FrameError> {
    let [m0, m1, kind, n0, n1, n2, c0, c1, l0, l1, l2, l3] = *header;
    if [m0, m1] != MAGIC {
        return Err(FrameError::NotAFrame(*header));
    }
    let kind = Kind::from_byte(kind).ok_or(FrameError::UnknownKind(kind))?;
    let length = u32::from_be_bytes([l0, l1, l2, l3]) as usize;
    if length > MAX_PAYLOAD {
        return Err(FrameError::TooLong(length));
    }
    let head = Head {
        kind,
        channel: u16::from_be_bytes([c0, c1]),
        number: u32::from_be_bytes([0, n0, n1, n2]),
    };
    Ok((head, length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn frames_survive_any_cut(
            frames in proptest::collection::vec(
                (any::<u16>(), 0..=MAX_NUMBER, 1u8..=6, proptest::collection::vec(any::<u8>(), 0..300)), 0..8),
            cut in 1usize..64,
        ) {
            let head = |channel, number, kind| Head { kind: Kind::from_byte(kind).unwrap(), channel, number };
            let frames: Vec<_> = frames.into_iter()
                .map(|(channel, number, kind, payload)| Frame { head: head(channel, number, kind), payload })
                .collect();
            let mut bytes = Vec::new();
            frames.iter().for_each(|f| encode(f.head, &f.payload, &mut bytes));
            let mut decoder = Decoder::default();
            let mut seen = Vec::new();
            for piece in bytes.chunks(cut) {
                decoder.feed(piece);
                while let Some(frame) = decoder.next_frame().unwrap() {
                    seen.push(frame);
                }
            }
            prop_assert_eq!(seen, frames);
            prop_assert!(!decoder.is_mid_frame());
        }

        #[test]
        fn any_bytes_are_frames_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut decoder = Decoder::default();
            decoder.feed(&bytes);
            while let Ok(Some(_)) = decoder.next_frame() {}
        }

        #[test]
        fn damaged_headers_never_panic(at in 0usize..12, byte: u8) {
            let mut bytes = Vec::new();
            encode(Head::of(Kind::Reply, 1), b"{}", &mut bytes);
            bytes[at] = byte;
            let mut decoder = Decoder::default();
            decoder.feed(&bytes);
            let _ = decoder.next_frame();
        }
    }

    #[test]
    fn an_oversized_frame_is_refused_before_its_payload() {
        let mut bytes = Vec::new();
        encode(Head::of(Kind::File, 1), &[], &mut bytes);
        bytes[8..12].copy_from_slice(&u32::MAX.to_be_bytes());
        let mut decoder = Decoder::default();
        decoder.feed(&bytes);
        assert_eq!(decoder.next_frame(), Err(FrameError::TooLong(u32::MAX as usize)));
    }
}
