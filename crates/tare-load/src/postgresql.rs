//! Answers of PostgreSQL to simple queries. Only their lengths and ends are looked at.

use crate::answers::{Answer, Answers, Taken, skip};
use crate::sql::postgresql_error;

/// Bytes of a message of error beyond which something is wrong.
const LONGEST_ERROR: usize = 64 << 10;
/// The kinds of message of an answer.
const KINDS: &[u8] = b"TDCIZENSA";

/// One connection's answers.
#[derive(Debug, Default)]
pub struct Postgresql {
    /// Bytes that are still to come of a message.
    left: u64,
    /// Whether the answer ends with it.
    is_last: bool,
    wrong: Option<String>,
    is_within: bool,
}

impl Answers for Postgresql {
    fn take(&mut self, bytes: &[u8]) -> Result<Taken, String> {
        if self.left > 0 {
            let there = skip(&mut self.left, bytes);
            return Ok((there, self.whole()));
        }
        let Some((head, body)) = bytes.split_at_checked(5) else {
            return Ok((0, None));
        };
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let length = length.checked_sub(4).filter(|_| KINDS.contains(&head[0]));
        let length = length.ok_or_else(|| format!("no PostgreSQL: a message of kind {}", head[0]))?;
        if head[0] == b'E' {
            return match body.get(..length) {
                Some(body) => {
                    self.wrong.get_or_insert_with(|| postgresql_error(body));
                    self.is_within = true;
                    Ok((5 + length, None))
                }
                None if length > LONGEST_ERROR => Err(format!("an error of {length} B")),
                None => Ok((0, None)),
            };
        }
        self.is_within = true;
        self.left = length as u64;
        self.is_last = head[0] == b'Z';
        Ok((5, self.whole()))
    }

    fn is_within(&self) -> bool {
        self.is_within
    }
}

impl Postgresql {
    fn whole(&mut self) -> Option<Answer> {
        (self.left == 0 && self.is_last).then(|| Answer {
            wrong: std::mem::take(self).wrong,
            ..Answer::RIGHT
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::tests::{all_bytes, in_pieces_of_bytes};

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        [&[kind][..], &length, body].concat()
    }

    fn row() -> Vec<u8> {
        let parts = [
            (b'T', &b"\0\x01abalance\0"[..]),
            (b'D', b"\0\x01\0\0\0\x017"),
            (b'C', b"SELECT 1\0"),
            (b'Z', b"I"),
        ];
        parts.map(|(kind, body)| message(kind, body)).concat()
    }

    #[test]
    fn an_answer_ends_where_the_server_is_ready_again() {
        let two = [row(), row()].concat();
        assert_eq!(
            all_bytes(&mut Postgresql::default(), &two),
            vec![Answer::RIGHT; 2]
        );
        assert_eq!(
            in_pieces_of_bytes(&mut Postgresql::default(), &two),
            vec![Answer::RIGHT; 2]
        );
    }

    #[test]
    fn an_error_makes_the_answer_wrong_and_the_next_one_is_right() {
        let error = message(b'E', b"SERROR\0C42P01\0Mno such table\0\0");
        let bytes = [error, message(b'Z', b"I"), row()].concat();
        let wrong = Answer {
            wrong: Some("no such table".to_owned()),
            ..Answer::RIGHT
        };
        assert_eq!(
            in_pieces_of_bytes(&mut Postgresql::default(), &bytes),
            [wrong, Answer::RIGHT]
        );
    }

    #[test]
    fn what_is_no_postgresql_is_an_error() {
        for bytes in [&b"HTTP/1.1"[..], b"T\0\0\0\x01", b"E\x7f\0\0\0"] {
            assert!(Postgresql::default().take(bytes).is_err(), "{bytes:?}");
        }
    }
}
