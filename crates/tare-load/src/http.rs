//! Answers of HTTP/1.0 and 1.1, as RFC 9112 has them.

use crate::answers::{Answer, Answers, Taken, skip};
use httparse::{Header, ParserConfig, Response, Status};
use std::mem::MaybeUninit;

/// More headers than servers send.
const MOST_HEADERS: usize = 1024;
/// Bytes of a head beyond which something is wrong.
const LONGEST_HEAD: usize = 64 << 10;
/// Bytes of the line before a chunk beyond which something is wrong.
const LONGEST_LINE: usize = 4096;
/// Characters of a line that a message quotes.
const QUOTED: usize = 80;

/// Where in an answer a connection is.
#[derive(Debug, Default)]
enum At {
    #[default]
    Head,
    /// So many bytes of the body are to come.
    Body(u64),
    /// The line with the length of a chunk is next.
    ChunkLine,
    /// So many bytes of a chunk are to come.
    Chunk(u64),
    /// The line break behind a chunk is next.
    ChunkEnd,
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
            At::Body(mut left) => {
                let taken = skip(&mut left, bytes);
                self.at = At::Body(left);
                Ok((taken, (left == 0).then(|| self.whole())))
            }
            At::ChunkLine => self.chunk_line(bytes),
            At::Chunk(mut left) => {
                let taken = skip(&mut left, bytes);
                self.at = if left == 0 { At::ChunkEnd } else { At::Chunk(left) };
                Ok((taken, None))
            }
            At::ChunkEnd => self.chunk_end(bytes),
            At::Trailer => self.trailer(bytes),
            At::UntilEnd => Ok((bytes.len(), None)),
        }
    }

    fn at_end(&mut self) -> Option<Answer> {
        self.ends_with_connection().then(|| self.whole())
    }

    fn is_within(&self) -> bool {
        !matches!(self.at, At::Head)
    }

    fn ends_with_connection(&self) -> bool {
        matches!(self.at, At::UntilEnd)
    }
}

impl Http {
    fn head(&mut self, bytes: &[u8]) -> Result<Taken, String> {
        // Line breaks before an answer are none of it.
        let blank = bytes
            .iter()
            .take_while(|byte| matches!(byte, b'\r' | b'\n'))
            .count();
        if blank > 0 {
            return Ok((blank, None));
        }
        let mut headers = [const { MaybeUninit::<Header<'_>>::uninit() }; MOST_HEADERS];
        let mut response = Response::new(&mut []);
        let parsed = ParserConfig::default()
            .allow_obsolete_multiline_headers_in_responses(true)
            .parse_response_with_uninit_headers(&mut response, bytes, &mut headers);
        let length = match parsed {
            Ok(Status::Complete(length)) => length,
            Ok(Status::Partial) if bytes.len() > LONGEST_HEAD => {
                return Err(format!("a head of over {LONGEST_HEAD} B"));
            }
            Ok(Status::Partial) => return Ok((0, None)),
            Err(e) => return Err(no_http(e, bytes)),
        };
        let status = response.code.unwrap_or_default();
        if is_interim(status) {
            return Ok((length, None));
        }
        let body = Body::of(&response)?;
        self.answer = Some(Answer {
            wrong: (!(200..300).contains(&status))
                .then(|| format!("status {status} {}", response.reason.unwrap_or_default().trim())),
            closes: body.closes,
            is_timeout: status == 408,
        });
        self.at = body.at;
        Ok((length, matches!(self.at, At::Body(0)).then(|| self.whole())))
    }

    fn chunk_line(&mut self, bytes: &[u8]) -> Result<Taken, String> {
        let wrong = || {
            Err(format!(
                "a chunk without its length: {}",
                quoted(first_line(bytes))
            ))
        };
        if bytes.first().is_some_and(|digit| !digit.is_ascii_hexdigit()) {
            return wrong();
        }
        match httparse::parse_chunk_size(bytes) {
            Ok(Status::Complete((length, size))) => {
                self.at = if size == 0 { At::Trailer } else { At::Chunk(size) };
                Ok((length, None))
            }
            Ok(Status::Partial) if bytes.len() <= LONGEST_LINE => Ok((0, None)),
            _ => wrong(),
        }
    }

    fn chunk_end(&mut self, bytes: &[u8]) -> Result<Taken, String> {
        match bytes {
            [b'\r', b'\n', ..] => {
                self.at = At::ChunkLine;
                Ok((2, None))
            }
            [] | [b'\r'] => Ok((0, None)),
            _ => Err("a chunk does not end where its length says".to_owned()),
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

/// Whether the answer that counts follows. Behind 101 no HTTP does.
const fn is_interim(status: u16) -> bool {
    status / 100 == 1 && status != 101
}

/// How the body of an answer ends.
struct Body {
    at: At,
    closes: bool,
}

impl Body {
    /// RFC 9112, 6.3 (length) and 9.3 (whether the connection persists).
    fn of(response: &Response<'_, '_>) -> Result<Self, String> {
        let status = response.code.unwrap_or_default();
        let mut length = None;
        let mut coding = None;
        let (mut close, mut keep_alive) = (false, false);
        for Header { name, value } in response.headers.iter() {
            if name.eq_ignore_ascii_case("content-length") {
                for told in list(value) {
                    length = Some(agreed(length, told)?);
                }
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                coding = list(value).rfind(|coding| !coding.is_empty()).or(coding);
            } else if name.eq_ignore_ascii_case("connection") {
                close |= list(value).any(|option| option.eq_ignore_ascii_case(b"close"));
                keep_alive |= list(value).any(|option| option.eq_ignore_ascii_case(b"keep-alive"));
            }
        }
        let at = match (coding, length) {
            _ if matches!(status, 101 | 204 | 304) => At::Body(0),
            (Some(coding), _) if coding.eq_ignore_ascii_case(b"chunked") => At::ChunkLine,
            (None, Some(length)) => At::Body(length),
            (Some(_), _) | (None, None) => At::UntilEnd,
        };
        let is_kept = !close && (keep_alive || response.version == Some(1)) && status != 101;
        let closes = !is_kept || matches!(at, At::UntilEnd);
        Ok(Self { at, closes })
    }
}

/// The members of a list; a folded line is a space within it.
fn list(value: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

/// The length of a body that may have been told before.
fn agreed(before: Option<u64>, told: &[u8]) -> Result<u64, String> {
    let digits = Some(told).filter(|told| told.iter().all(u8::is_ascii_digit));
    let length = digits.and_then(|digits| str::from_utf8(digits).ok()?.parse().ok());
    let length = length.ok_or_else(|| format!("a length of {}", quoted(told)))?;
    match before {
        Some(before) if before != length => Err(format!("two lengths of one body: {before} and {length}")),
        _ => Ok(length),
    }
}

/// What is wrong with a head, and where.
fn no_http(error: httparse::Error, head: &[u8]) -> String {
    match error {
        httparse::Error::TooManyHeaders => format!("more than {MOST_HEADERS} headers"),
        httparse::Error::Version | httparse::Error::Status => {
            format!("no HTTP/1.1: {error} in {}", quoted(first_line(head)))
        }
        _ => {
            let lines = || head.split(|byte| *byte == b'\n').skip(1);
            // Of lines that are right one by one, the first cannot go on from one before it.
            let line = lines().find(|line| is_broken(line)).or_else(|| lines().next());
            format!("{error} in {}", quoted(line.unwrap_or_default().trim_ascii_end()))
        }
    }
}

/// Whether a line of a head is no header (RFC 9112, 5).
fn is_broken(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let is_folded = line.first().is_some_and(|byte| matches!(byte, b' ' | b'\t'));
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    let is_text = |byte: &u8| !byte.is_ascii_control() || *byte == b'\t';
    match line.iter().position(|byte| *byte == b':') {
        _ if line.is_empty() => false,
        Some(colon) if !is_folded => {
            colon == 0 || !line[..colon].iter().all(is_token) || !line.iter().all(is_text)
        }
        _ => !is_folded || !line.iter().all(is_text),
    }
}

fn first_line(bytes: &[u8]) -> &[u8] {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.trim_ascii_end()
}

/// The beginning of words, with what does not print in escapes.
fn quoted(words: &[u8]) -> String {
    let words = String::from_utf8_lossy(words);
    let begin: String = words.chars().take(QUOTED).collect();
    let more = if begin.len() < words.len() { "..." } else { "" };
    format!("'{}{more}'", begin.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::tests::{all, in_pieces};

    const CLOSES: Answer = Answer {
        closes: true,
        ..Answer::RIGHT
    };

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
            ..CLOSES
        };
        assert_eq!(in_pieces(&mut Http::default(), text), [Answer::RIGHT, wrong]);
    }

    #[test]
    fn a_body_without_a_length_ends_with_the_connection() {
        let mut http = Http::default();
        assert_eq!(all(&mut http, "HTTP/1.0 200 OK\r\n\r\nhello"), []);
        assert!(http.is_within());
        assert_eq!(http.at_end(), Some(CLOSES));
        assert_eq!(http.at_end(), None);
    }

    /// A body that ends with the connection is one of many ends (RFC 9112, 6.3).
    #[test]
    fn heads_tell_how_bodies_end_and_what_becomes_of_the_connection() {
        let kept = Some(Answer::RIGHT);
        for (head, body, whole) in [
            ("1.1 200 OK\r\nContent-Length: 2", "hi", kept.clone()),
            ("1.1 200 OK\r\nContent-Length: 2, 2", "hi", kept.clone()),
            (
                "1.1 200 OK\r\ncontent-length: 2\r\nContent-Length: 2",
                "hi",
                kept.clone(),
            ),
            ("1.1 200 OK\r\nContent-Length:\r\n 2", "hi", kept.clone()),
            (
                "1.1 200 OK\r\nX: a\r\n\tb\r\nContent-Length: 2",
                "hi",
                kept.clone(),
            ),
            (
                "1.1 200 D\u{e9}j\u{e0}\r\nX: \u{e9}\r\nContent-Length: 2",
                "hi",
                kept.clone(),
            ),
            ("1.1 200\r\nContent-Length: 2", "hi", kept.clone()),
            ("1.0 200 OK\r\nContent-Length: 2", "hi", Some(CLOSES)),
            (
                "1.0 200 OK\r\nConnection: Upgrade, Keep-Alive\r\nContent-Length: 2",
                "hi",
                kept.clone(),
            ),
            (
                "1.1 200 OK\r\nConnection: Upgrade, close\r\nContent-Length: 2",
                "hi",
                Some(CLOSES),
            ),
            (
                "1.1 200 OK\r\nConnection: Upgrade\r\nconnection: CLOSE\r\nContent-Length: 2",
                "hi",
                Some(CLOSES),
            ),
            (
                "1.1 200 OK\r\nConnection: keep-alive,\r\n close\r\nContent-Length: 2",
                "hi",
                Some(CLOSES),
            ),
            (
                "1.1 200 OK\r\nConnection: disclose\r\nContent-Length: 2",
                "hi",
                kept.clone(),
            ),
            ("1.1 204 No Content\r\nContent-Length: 2", "", kept.clone()),
            (
                "1.1 204 No Content\r\nTransfer-Encoding: chunked",
                "",
                kept.clone(),
            ),
            (
                "1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\nContent-Length: 9",
                "2\r\nhi\r\n0\r\n\r\n",
                kept.clone(),
            ),
            (
                "1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
                "0\r\n\r\n",
                kept.clone(),
            ),
            (
                "1.1 200 OK\r\nTransfer-Encoding: chunked",
                "0002 ;a=\"b\"\r\nhi\r\n00\r\nX: 1\r\nY: 2\r\n\r\n",
                kept,
            ),
            ("1.1 200 OK", "hi", None),
            (
                "1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\nContent-Length: 2",
                "hi",
                None,
            ),
        ] {
            // What comes before an answer and behind one is none of it.
            let text = format!("\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/{head}\r\n\r\n{body}");
            for read in [all, in_pieces] {
                let mut http = Http::default();
                assert_eq!(read(&mut http, &text), Vec::from_iter(whole.clone()), "{head}");
                assert_eq!(http.at_end(), whole.is_none().then_some(CLOSES), "{head}");
            }
        }
    }

    #[test]
    fn a_timeout_is_told_from_an_answer() {
        let text = "HTTP/1.1 408 Request Time-out\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        assert!(all(&mut Http::default(), text)[0].is_timeout);
        let switched = all(&mut Http::default(), "HTTP/1.1 101 Switching Protocols\r\n\r\n").remove(0);
        assert!(switched.closes && switched.wrong.is_some());
    }

    #[test]
    fn many_headers_are_read() {
        let cookies = |n| "Set-Cookie: c=1\r\n".repeat(n);
        let text = format!("HTTP/1.1 204 No\r\n{}\r\n", cookies(500));
        assert_eq!(all(&mut Http::default(), &text), [Answer::RIGHT]);
        let text = format!("HTTP/1.1 204 No\r\n{}\r\n", cookies(2000));
        let error = Http::default().take(text.as_bytes()).unwrap_err();
        assert_eq!(error, "more than 1024 headers");
    }

    #[test]
    fn a_broken_head_is_quoted() {
        for (line, told) in [
            ("Server : x", "invalid header name in 'Server : x'"),
            ("X Y: x", "invalid header name in 'X Y: x'"),
            (": x", "invalid header name in ': x'"),
            ("no colon", "invalid header name in 'no colon'"),
            ("X: a\u{1}b", "invalid header value in 'X: a\\u{1}b'"),
            (" X: folded", "invalid header name in ' X: folded'"),
        ] {
            let text = format!("HTTP/1.1 200 OK\r\n{line}\r\nContent-Length: 6\r\n\r\n");
            assert_eq!(Http::default().take(text.as_bytes()).unwrap_err(), told);
        }
        let error = Http::default().take(b"+PONG\r\n").unwrap_err();
        assert_eq!(error, "no HTTP/1.1: invalid HTTP version in '+PONG'");
    }

    #[test]
    fn what_is_no_http_is_an_error() {
        for text in [
            "+PONG\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 6, 7\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nContent-Length: 7\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nhi\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
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
