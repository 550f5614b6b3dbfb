//! Answers, as they come in pieces.

/// Of an answer that came whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What is wrong with it, if anything is.
    pub wrong: Option<String>,
    /// Whether the server closes the connection behind it.
    pub closes: bool,
    /// Whether it is none, but says that the server waited for a request for too long.
    pub is_timeout: bool,
}

impl Answer {
    /// One with which nothing is wrong, over a connection that is kept.
    pub const RIGHT: Self = Self {
        wrong: None,
        closes: false,
        is_timeout: false,
    };
}

/// Bytes that were taken, and the answer that ended with them. None taken and no answer: more
/// bytes are needed.
pub type Taken = (usize, Option<Answer>);

/// Skips what there is of so many bytes: how many of these that is.
pub fn skip(left: &mut u64, bytes: &[u8]) -> usize {
    let there = usize::try_from(*left).map_or(bytes.len(), |left| left.min(bytes.len()));
    *left -= there as u64;
    there
}

/// One connection's answers, told apart.
pub trait Answers {
    /// Takes what it can of these bytes, up to the end of an answer.
    ///
    /// # Errors
    /// Why these bytes are no answer: nothing can be made of what follows either.
    fn take(&mut self, bytes: &[u8]) -> Result<Taken, String>;

    /// The answer that ends with the connection, if one does: of most protocols none.
    fn at_end(&mut self) -> Option<Answer> {
        None
    }

    /// Whether bytes of an answer were taken that has not come whole.
    fn is_within(&self) -> bool;

    /// Whether that answer has no other end than the connection's.
    fn ends_with_connection(&self) -> bool {
        false
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// The answers in a text that comes at once.
    pub fn all(answers: &mut dyn Answers, text: &str) -> Vec<Answer> {
        all_bytes(answers, text.as_bytes())
    }

    /// The same of bytes.
    pub fn all_bytes(answers: &mut dyn Answers, mut bytes: &[u8]) -> Vec<Answer> {
        let mut whole = Vec::new();
        loop {
            let (taken, answer) = answers.take(bytes).unwrap();
            if taken == 0 && answer.is_none() {
                return whole;
            }
            bytes = &bytes[taken..];
            whole.extend(answer);
        }
    }

    /// The answers in a text that comes byte by byte.
    pub fn in_pieces(answers: &mut dyn Answers, text: &str) -> Vec<Answer> {
        in_pieces_of_bytes(answers, text.as_bytes())
    }

    /// The same of bytes.
    pub fn in_pieces_of_bytes(answers: &mut dyn Answers, bytes: &[u8]) -> Vec<Answer> {
        let mut whole = Vec::new();
        let mut there = Vec::new();
        for byte in bytes {
            there.push(*byte);
            loop {
                let (taken, answer) = answers.take(&there).unwrap();
                if taken == 0 && answer.is_none() {
                    break;
                }
                there.drain(..taken);
                whole.extend(answer);
            }
        }
        whole
    }
}
