//! What inner boxes said while something else was waited for.

use std::collections::BTreeMap;

/// Most bytes that are kept of all inner boxes together: twice the longest answer, as an
/// inner box's agent answers one request at a time.
pub(super) const MAX_KEPT: usize = 64 << 20;

/// The streams of inner boxes, by channel, as far as they were not taken.
#[derive(Debug, Default)]
pub(super) struct Kept {
    channels: BTreeMap<u16, Channel>,
}

#[derive(Debug, Default)]
struct Channel {
    bytes: Vec<u8>,
    ended: bool,
}

impl Kept {
    /// Lets a channel be spoken on.
    pub(super) fn open(&mut self, channel: u16) {
        self.channels.insert(channel, Channel::default());
    }

    /// Keeps the next bytes of a stream; none: its end. The error says what is wrong with them.
    pub(super) fn keep(&mut self, channel: u16, bytes: &[u8]) -> Result<(), String> {
        let kept: usize = self.channels.values().map(|channel| channel.bytes.len()).sum();
        let open = self.channels.get_mut(&channel).filter(|open| !open.ended);
        let open =
            open.ok_or_else(|| format!("bytes of an inner box on channel {channel}, which has none"))?;
        if kept + bytes.len() > MAX_KEPT {
            return Err(format!(
                "more than {MAX_KEPT} B of inner boxes that nobody waits for"
            ));
        }
        open.ended = bytes.is_empty();
        open.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Hands on what is there of a stream: how many bytes, 0 at its end, `None` if there is
    /// nothing.
    pub(super) fn take(&mut self, channel: u16, buffer: &mut Vec<u8>) -> Option<usize> {
        let open = self.channels.get_mut(&channel)?;
        let n = open.bytes.len();
        // Handed on whole: what grew to many megabytes does not stay.
        buffer.append(&mut std::mem::take(&mut open.bytes));
        (n > 0 || open.ended).then_some(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_handed_on_in_order_and_then_the_end() {
        let mut kept = Kept::default();
        kept.open(1);
        let mut taken = Vec::new();
        assert_eq!(kept.take(1, &mut taken), None);
        for bytes in [b"ab".as_slice(), b"c", b""] {
            kept.keep(1, bytes).unwrap();
        }
        assert_eq!(kept.take(1, &mut taken), Some(3));
        assert_eq!((kept.take(1, &mut taken), taken), (Some(0), b"abc".to_vec()));
    }

    #[test]
    fn no_more_is_kept_than_its_bound_and_nothing_of_a_box_that_is_not_there() {
        let mut kept = Kept::default();
        assert!(kept.keep(1, b"a").is_err());
        kept.open(1);
        kept.open(2);
        let half = vec![0; MAX_KEPT / 2];
        kept.keep(1, &half).unwrap();
        kept.keep(2, &half).unwrap();
        assert!(kept.keep(1, b"a").unwrap_err().contains("more than"));
        kept.keep(1, b"").unwrap();
        assert!(kept.keep(1, b"").is_err(), "a stream ends once");
    }
}
