//! Answers of Redis (RESP 2).

use crate::answers::{Answer, Answers, Taken, skip};

/// Bytes of a line beyond which something is wrong.
const LONGEST_LINE: usize = 64 << 10;
/// Longest value that Redis keeps, 512 MiB.
const LONGEST_VALUE: u64 = 512 << 20;

/// One connection's answers.
#[derive(Debug)]
pub struct Resp {
    /// Values that are still to come of the answer under way.
    values: u64,
    /// Bytes of a value that are still to come, with the line break behind it.
    bytes: u64,
    answer: Answer,
    is_within: bool,
}

impl Default for Resp {
    fn default() -> Self {
        Self {
            values: 1,
            bytes: 0,
            answer: Answer::RIGHT,
            is_within: false,
        }
    }
}

impl Answers for Resp {
    fn take(&mut self, bytes: &[u8]) -> Result<Taken, String> {
        if self.bytes > 0 {
            let there = skip(&mut self.bytes, bytes);
            return Ok((there, self.whole()));
        }
        let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") else {
            return match bytes.len() {
                0..=LONGEST_LINE => Ok((0, None)),
                _ => Err("a line without end".to_owned()),
            };
        };
        self.line(&bytes[..end])?;
        Ok((end + 2, self.whole()))
    }

    fn is_within(&self) -> bool {
        self.is_within
    }
}

impl Resp {
    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        let (kind, rest) = line.split_first().ok_or("an empty line")?;
        let rest = String::from_utf8_lossy(rest);
        let length = || match rest.parse::<i64>() {
            Ok(-1) => Ok(None),
            Ok(length @ 0..) => Ok(Some(length.unsigned_abs())),
            _ => Err(format!("a length of '{rest}'")),
        };
        self.is_within = true;
        self.values -= 1;
        match kind {
            b'+' | b':' => {}
            b'-' => self.wrong(format!("error '{rest}'")),
            b'$' => match length()? {
                None => self.wrong("there is no such key".to_owned()),
                Some(length) if length > LONGEST_VALUE => return Err(format!("a value of {length} B")),
                Some(length) => self.bytes = length + 2,
            },
            b'*' => match length()? {
                None => self.wrong("there is no such list".to_owned()),
                Some(values) => {
                    self.values = self.values.checked_add(values).ok_or("a list without end")?;
                }
            },
            other => return Err(format!("no RESP: a line that begins with byte {other}")),
        }
        Ok(())
    }

    fn wrong(&mut self, why: String) {
        self.answer.wrong.get_or_insert(why);
    }

    /// The answer, if it is whole.
    fn whole(&mut self) -> Option<Answer> {
        if self.values > 0 || self.bytes > 0 {
            return None;
        }
        Some(std::mem::take(self).answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::tests::{all, in_pieces};

    #[test]
    fn values_of_every_kind_are_answers() {
        let text = "+OK\r\n:12\r\n$5\r\na\r\nbc\r\n$0\r\n\r\n*2\r\n$1\r\nx\r\n*1\r\n:1\r\n*0\r\n";
        assert_eq!(all(&mut Resp::default(), text), vec![Answer::RIGHT; 6]);
        assert_eq!(in_pieces(&mut Resp::default(), text), vec![Answer::RIGHT; 6]);
    }

    #[test]
    fn errors_and_what_is_not_there_are_wrong() {
        let answers = all(
            &mut Resp::default(),
            "-ERR no\r\n$-1\r\n*2\r\n$-1\r\n+OK\r\n+OK\r\n",
        );
        let why: Vec<_> = answers.iter().map(|answer| answer.wrong.as_deref()).collect();
        let none = Some("there is no such key");
        assert_eq!(why, [Some("error 'ERR no'"), none, none, None]);
    }

    #[test]
    fn what_is_no_resp_is_an_error() {
        let endless = "x".repeat(LONGEST_LINE + 1);
        for text in [
            "HTTP/1.1 200\r\n",
            "\r\n",
            "$x\r\n",
            "$-2\r\n",
            "$99999999999\r\n",
            &endless,
        ] {
            assert!(Resp::default().take(text.as_bytes()).is_err(), "{text}");
        }
    }
}
