//! Answers of MariaDB and MySQL to queries as text. Only their lengths and ends are looked at.

use crate::answers::{Answer, Answers, Taken, skip};
use crate::sql::mysql_error;

/// As long as a packet can be; a longer one would go on in the next.
const LONGEST: usize = 0xff_ffff;
/// The first byte of a packet that is an error, and of one that ends columns or rows.
const ERROR: u8 = 0xff;
const END: u8 = 0xfe;
/// A packet that ends something is shorter than this; a longer one is a row.
const SHORT: usize = 9;

/// Where in an answer a connection is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum At {
    #[default]
    Beginning,
    Columns,
    Rows,
}

/// One connection's answers.
#[derive(Debug, Default)]
pub struct Mysql {
    at: At,
    /// Bytes that are still to come of a packet.
    left: u64,
}

impl Answers for Mysql {
    fn take(&mut self, bytes: &[u8]) -> Result<Taken, String> {
        if self.left > 0 {
            return Ok((skip(&mut self.left, bytes), None));
        }
        let Some((head, body)) = bytes.split_at_checked(4) else {
            return Ok((0, None));
        };
        let length = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
        if length == 0 || length == LONGEST {
            return Err(format!("no MariaDB or MySQL: a packet of {length} B"));
        }
        let Some(first) = body.first().copied() else {
            return Ok((0, None));
        };
        let is_short = length < SHORT;
        match (self.at, first) {
            (_, ERROR) => match body.get(..length) {
                Some(body) => Ok((4 + length, Some(self.whole(Some(mysql_error(body)))))),
                None => Ok((0, None)),
            },
            (At::Beginning, 0) => self.last(body, length),
            (At::Rows, END) if is_short => self.last(body, length),
            (at, _) => {
                self.at = match at {
                    At::Beginning => At::Columns,
                    At::Columns if first == END && is_short => At::Rows,
                    at => at,
                };
                self.left = length as u64;
                Ok((4, None))
            }
        }
    }

    fn is_within(&self) -> bool {
        self.at != At::Beginning || self.left > 0
    }
}

impl Mysql {
    /// The packet that ends an answer, once it is there.
    fn last(&mut self, body: &[u8], length: usize) -> Result<Taken, String> {
        match body.len() >= length {
            true => Ok((4 + length, Some(self.whole(None)))),
            false => Ok((0, None)),
        }
    }

    fn whole(&mut self, wrong: Option<String>) -> Answer {
        self.at = At::Beginning;
        Answer {
            wrong,
            ..Answer::RIGHT
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::tests::{all_bytes, in_pieces_of_bytes};
    use crate::sql::mysql_packet;

    fn rows() -> Vec<u8> {
        // A column, its end, two rows, of which one begins like an end, and their end.
        let long = [&[END][..], &[7; 20]].concat();
        let packets: [&[u8]; 6] = [
            &[1],
            b"\x03def",
            &[END, 0, 0, 2, 0],
            &[1, b'7'],
            &long,
            &[END, 0, 0, 2, 0],
        ];
        packets.map(|body| mysql_packet(1, body)).concat()
    }

    #[test]
    fn an_answer_ends_behind_its_rows_or_at_once() {
        let done = mysql_packet(1, &[0, 1, 0, 2, 0, 0, 0]);
        let bytes = [rows(), done, rows()].concat();
        assert_eq!(all_bytes(&mut Mysql::default(), &bytes), vec![Answer::RIGHT; 3]);
        assert_eq!(
            in_pieces_of_bytes(&mut Mysql::default(), &bytes),
            vec![Answer::RIGHT; 3]
        );
    }

    #[test]
    fn an_error_makes_the_answer_wrong_and_the_next_one_is_right() {
        let error = mysql_packet(1, b"\xff\x7a\x04#42S02no such table");
        let bytes = [error, rows()].concat();
        let wrong = Answer {
            wrong: Some("no such table".to_owned()),
            ..Answer::RIGHT
        };
        assert_eq!(
            in_pieces_of_bytes(&mut Mysql::default(), &bytes),
            [wrong, Answer::RIGHT]
        );
    }

    #[test]
    fn what_is_no_packet_is_an_error() {
        for bytes in [[0; 4], [0xff; 4]] {
            assert!(Mysql::default().take(&bytes).is_err());
        }
    }
}
