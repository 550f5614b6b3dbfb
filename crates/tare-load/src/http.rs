//! Answers of HTTP/1.0 and 1.1.

use crate::answers::{Answer, Answers, Taken, skip};

/// More headers than servers send.
const MOST_HEADERS: usize = 100;
/// Bytes of a head beyond which something is wrong.
const LONGEST_HEAD: usize = 64 << 10;
/// Bytes of the line before a chunk beyond which something is wrong.
const LONGEST_LINE: usize = 4096;

/// Where in an answer a connection is.
#[derive(Debug, Default)]
enum At {
    #[default]
    Head,
    /// So many bytes of the body are to come.
    Body(u64),
    /// The line with the length of a chunk is next.
    ChunkLine,
    /// So many bytes of a chunk, with the line break behind it, are to come.
    Chunk(u64),
    /// Lines behind the last chunk, up to an empty one.
    Trailer,
    /// The body ends with the connection.
    UntilEnd,
}

#[derive(Debug, Default)]
pub struct Http {
    at: At,
    /// Of the answer under way.
    answer: Option<Answer>,
}

impl Answers for Http {
    fn take(&mut self, bytes: &[u8]) -> Result<Taken, String> {
        match self.at {
            At::Head => self.head(bytes),
            At::Body(left) => Ok(self.skip(bytes, left, At::Body)),
            At::ChunkLine => self.chunk_line(bytes),
            At::Chunk(left) => Ok(match self.skip(bytes, left, At::Chunk) {
                (taken, Some(answer)) => {
                    self.answer = Some(answer);
                    self.at = At::ChunkLine;
                    (taken, None)
                }
                more => more,
            }),
            At::Trailer => self.trailer(bytes),
            At::UntilEnd => Ok((bytes.len(), None)),
        }
    }

    fn at_end(&mut self) -> Option<Answer> {
        matches!(self.at, At::UntilEnd).then(|| self.whole())
    }

    fn is_within(&self) -> bool {
        !matches!(self.at, At::Head)
    }
}

impl Http {
    fn head(&mut self, bytes: &[u8]) -> Result<Taken, String> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let parsed = response.parse(bytes).map_err(|e| format!("no HTTP: {e}"))?;
        let httparse::Status::Complete(length) = parsed else {
            if bytes.len() > LONGEST_HEAD {
                return Err(format!("a head of over {LONGEST_HEAD} B"));
            }
            return Ok((0, None));
        };
        let status = response.code.unwrap_or_default();
        if (100..200).contains(&status) {
            // An interim answer: the one that counts follows.
            return Ok((length, None));
        }
        let body = Body::of(&response)?;
        self.answer = Some(Answer {
            wrong: (!(200..300).contains(&status))
                .then(|| format!("status {status} {}", response.reason.unwrap_or_default().trim())),
            closes: body.closes,
        });
        self.at = match body.at {
            _ if matches!(status, 204 | 304) => At::Body(0),
            At::UntilEnd if !body.closes => {
                return Err("an answer without a length over a connection that is kept".to_owned());
            }
            at => at,
        };
        if matches!(self.at, At::Body(0)) {
            return Ok((length, Some(self.whole())));
        }
        Ok((length, None))
    }

    /// Skips what there is of so many bytes; the answer, if they are all there.
    fn skip(&mut self, bytes: &[u8], mut left: u64, at: impl Fn(u64) -> At) -> Taken {
        let there = skip(&mut left, bytes);
        self.at = at(left);
        (there, (left == 0).then(|| self.whole()))
    }

    fn chunk_line(&mut self, bytes: &[u8]) -> Result<Taken, String> {
        match httparse::parse_chunk_size(bytes) {
            Ok(httparse::Status::Complete((length, 0))) => {
                self.at = At::Trailer;
                Ok((length, None))
            }
            Ok(httparse::Status::Complete((length, size))) => {
                // The line break behind it belongs to it.
                let left = size.checked_add(2).ok_or("a chunk without end")?;
                self.at = At::Chunk(left);
                Ok((length, None))
            }
            Ok(httparse::Status::Partial) if bytes.len() <= LONGEST_LINE => Ok((0, None)),
            _ => Err("a chunk without its length".to_owned()),
        }
    }

    fn trailer(&mut self, bytes: &[u8]) -> Result<Taken, String> {
        match bytes.iter().position(|byte| *byte == b'\n') {
            Some(end) if bytes[..end].iter().all(|byte| *byte == b'\r') => Ok((end + 1, Some(self.whole()))),
            Some(end) => Ok((end + 1, None)),
            None if bytes.len() > LONGEST_LINE => Err("an unterminated line after the last chunk".to_owned()),
            None => Ok((0, None)),
        }
    }

    fn whole(&mut self) -> Answer {
        self.at = At::Head;
        self.answer.take().unwrap_or(Answer::RIGHT)
    }
}

/// How the body of an answer ends.
struct Body {
    at: At,
    closes: bool,
}

impl Body {
    fn of(response: &httparse::Response<'_, '_>) -> Result<Self, String> {
        let mut length = None;
        let mut chunked = false;
        // HTTP/1.0 closes unless it says otherwise.
        let mut closes = response.version == Some(0);
        for header in response.headers.iter() {
            let value = String::from_utf8_lossy(header.value);
            let value = value.trim();
            if header.name.eq_ignore_ascii_case("content-length") {
                let told: u64 = value.parse().map_err(|_| format!("a length of '{value}'"))?;
                if length.is_some_and(|length| length != told) {
                    return Err("two lengths of one body".to_owned());
                }
                length = Some(told);
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                chunked = value.to_ascii_lowercase().ends_with("chunked");
            } else if header.name.eq_ignore_ascii_case("connection") {
                let value = value.to_ascii_lowercase();
                closes = (closes && value != "keep-alive") || value == "close";
            }
        }
        let at = match (chunked, length) {
            (true, _) => At::ChunkLine,
            (false, Some(length)) => At::Body(length),
            (false, None) => At::UntilEnd,
        };
        Ok(Self { at, closes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::tests::{all, in_pieces};

    #[test]
    fn answers_end_where_their_heads_say() {
        let two = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 204 No\r\n\r\n";
        assert_eq!(all(&mut Http::default(), two), vec![Answer::RIGHT; 2]);
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0a;x=y\r\n0123456789\r\n0\r\nT: x\r\n\r\n";
        assert_eq!(all(&mut Http::default(), chunked), [Answer::RIGHT]);
        let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n";
        assert_eq!(all(&mut Http::default(), interim), [Answer::RIGHT]);
    }

    #[test]
    fn pieces_of_an_answer_make_it() {
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n\
                    HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc";
        let wrong = Answer {
            wrong: Some("status 404 Not Found".to_owned()),
            closes: true,
        };
        assert_eq!(in_pieces(&mut Http::default(), text), [Answer::RIGHT, wrong]);
    }

    #[test]
    fn a_body_without_a_length_ends_with_the_connection() {
        let mut http = Http::default();
        assert_eq!(all(&mut http, "HTTP/1.0 200 OK\r\n\r\nhello"), []);
        assert!(http.is_within());
        let closes = Answer {
            closes: true,
            ..Answer::RIGHT
        };
        assert_eq!(http.at_end(), Some(closes));
        assert_eq!(http.at_end(), None);
    }

    #[test]
    fn what_is_no_http_is_an_error() {
        for text in [
            "+PONG\r\n",
            "HTTP/1.1 200 OK\r\n\r\nwithout a length",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nContent-Length: 7\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
        ] {
            let mut http = Http::default();
            let mut bytes = text.as_bytes();
            let error = loop {
                match http.take(bytes) {
                    Ok((0, None)) => break None,
                    Ok((taken, _)) => bytes = &bytes[taken..],
                    Err(e) => break Some(e),
                }
            };
            assert!(error.is_some(), "{text}");
        }
    }
}
