//! Requests as bytes, made once: only the number of a key differs from one to the next.

use crate::sql::mysql_packet;
use std::net::SocketAddr;
use tare_wire::load::{Asked, KEY, LoadSpec, VALUE};

/// Digits of a key's number.
const DIGITS: usize = 12;
/// The command of MariaDB and MySQL that is a query as text.
const COM_QUERY: u8 = 3;

/// A request with room for the number of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    bytes: Vec<u8>,
    /// Where that stands.
    keys: Vec<usize>,
}

impl Request {
    /// What this load asks of a server.
    pub fn of(spec: &LoadSpec, server: SocketAddr) -> Self {
        match &spec.asked {
            Asked::Http(path) => Self::http(&text(path, spec), server, spec.keep),
            Asked::Resp { words, .. } => Self::resp(words, spec),
            Asked::Postgresql(query) => Self::postgresql(&text(&query.text, spec)),
            Asked::Mysql(query) => Self::mysql(&text(&query.text, spec)),
        }
    }

    /// What is asked once for each key beforehand, if anything is.
    pub fn first(spec: &LoadSpec) -> Option<Self> {
        match &spec.asked {
            Asked::Resp { first, .. } if !first.is_empty() => Some(Self::resp(first, spec)),
            _ => None,
        }
    }

    fn http(path: &str, server: SocketAddr, keep: bool) -> Self {
        let closes = if keep { "" } else { "Connection: close\r\n" };
        Self::new(
            &[],
            &format!(
                "GET {path} HTTP/1.1\r\nHost: {server}\r\nUser-Agent: tare\r\nAccept: */*\r\n{closes}\r\n"
            ),
        )
    }

    /// A simple query: its length, its text and an end.
    fn postgresql(query: &str) -> Self {
        let query = format!("{query}\0");
        let length = u32::try_from(length(&query) + 4).unwrap_or(u32::MAX);
        Self::new(&[&b"Q"[..], &length.to_be_bytes()].concat(), &query)
    }

    /// A query as text, in a packet that begins with the number of the command.
    fn mysql(query: &str) -> Self {
        let head = mysql_packet(0, &vec![0; 1 + length(query)]);
        Self::new(&[&head[..4], &[COM_QUERY]].concat(), query)
    }

    /// A list of words, each with its length before it.
    fn resp(words: &[String], spec: &LoadSpec) -> Self {
        let word = |word: &String| {
            let word = text(word, spec);
            format!("${}\r\n{word}\r\n", length(&word))
        };
        let words: String = std::iter::once(format!("*{}\r\n", words.len()))
            .chain(words.iter().map(word))
            .collect();
        Self::new(&[], &words)
    }

    fn new(head: &[u8], text: &str) -> Self {
        let mut bytes = head.to_vec();
        let mut keys = Vec::new();
        let mut parts = text.split(KEY);
        bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
        for part in parts {
            keys.push(bytes.len());
            bytes.extend_from_slice(&[b'0'; DIGITS]);
            bytes.extend_from_slice(part.as_bytes());
        }
        Self { bytes, keys }
    }

    /// Whether requests differ by a key.
    pub fn has_key(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Appends the request for this key.
    pub fn write(&self, mut key: u64, to: &mut Vec<u8>) {
        let begin = to.len();
        to.extend_from_slice(&self.bytes);
        if self.keys.is_empty() {
            return;
        }
        let mut digits = [b'0'; DIGITS];
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (key % 10).to_le_bytes()[0];
            key /= 10;
        }
        for at in &self.keys {
            to[begin + at..][..DIGITS].copy_from_slice(&digits);
        }
    }
}

/// Bytes of words once the numbers of keys are in them.
fn length(words: &str) -> usize {
    let keys = words.matches(KEY).count();
    words.len() - keys * KEY.len() + keys * DIGITS
}

/// Words with their value in them.
fn text(words: &str, spec: &LoadSpec) -> String {
    let bytes = usize::try_from(spec.bytes).unwrap_or(usize::MAX);
    words.replace(VALUE, &"x".repeat(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_wire::load::Query;

    fn written(asked: Asked, key: u64) -> String {
        let spec = LoadSpec {
            bytes: 3,
            ..LoadSpec::one_by_one("kept", asked)
        };
        let mut bytes = b"before".to_vec();
        Request::of(&spec, ([127, 0, 0, 1], 80).into()).write(key, &mut bytes);
        String::from_utf8(bytes).unwrap().split_off(6)
    }

    #[test]
    fn requests_are_those_of_their_protocol() {
        let get = written(Asked::Http("/item/__key__?x".to_owned()), 42);
        assert!(
            get.starts_with("GET /item/000000000042?x HTTP/1.1\r\nHost: 127.0.0.1:80\r\n"),
            "{get}"
        );
        let words = ["SET", "key:__key__", "__value__"].map(str::to_owned).to_vec();
        let set = written(
            Asked::Resp {
                words,
                first: Vec::new(),
            },
            7,
        );
        assert_eq!(set, "*3\r\n$3\r\nSET\r\n$16\r\nkey:000000000007\r\n$3\r\nxxx\r\n");
        let query = || Query {
            user: "me".to_owned(),
            database: "db".to_owned(),
            text: "SELECT __key__".to_owned(),
        };
        let postgresql = written(Asked::Postgresql(query()), 7);
        assert_eq!(postgresql, "Q\0\0\0\x18SELECT 000000000007\0");
        let mysql = written(Asked::Mysql(query()), 7);
        assert_eq!(mysql, "\x14\0\0\0\x03SELECT 000000000007");
    }
}
