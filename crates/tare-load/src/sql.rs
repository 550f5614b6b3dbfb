//! How a connection to a data base begins: with a user and no password, over a plain connection.
//! What is measured is the data base and not its ciphers.

use std::io::{self, Read, Write};
use std::net::TcpStream;

/// Longest message at the beginning that makes sense.
const LONGEST: usize = 64 << 10;
/// Version 3.0 of PostgreSQL's protocol.
const POSTGRESQL_3: u32 = 3 << 16;
/// What a client of MariaDB's or MySQL's is able to: the long form of flags, a data base by name,
/// protocol 4.1, the fixed length of an answer to a challenge, plug-ins.
const ABLE: u32 = 1 | 1 << 3 | 1 << 9 | 1 << 15 | 1 << 19;
/// UTF-8 of up to four bytes.
const UTF8: u8 = 45;

/// Begins a connection to PostgreSQL, up to where it takes queries.
///
/// # Errors
/// Those of the connection, and what the server says against it.
pub fn begin_postgresql(stream: &mut TcpStream, user: &str, database: &str) -> io::Result<()> {
    let mut words = POSTGRESQL_3.to_be_bytes().to_vec();
    for word in ["user", user, "database", database, ""] {
        words.extend_from_slice(word.as_bytes());
        words.push(0);
    }
    let length = u32::try_from(words.len() + 4).unwrap_or(u32::MAX);
    stream.write_all(&[&length.to_be_bytes()[..], &words].concat())?;
    loop {
        let mut head = [0; 5];
        stream.read_exact(&mut head)?;
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let body = body(stream, length.checked_sub(4))?;
        match head[0] {
            b'Z' => return Ok(()),
            b'E' => return Err(refused(&postgresql_error(&body))),
            b'R' if body[..] != [0; 4] => {
                return Err(refused("it requires a password: let it trust this client"));
            }
            _ => {}
        }
    }
}

/// What an error of PostgreSQL's says: its field `M`.
pub fn postgresql_error(body: &[u8]) -> String {
    let mut fields = body.split(|byte| *byte == 0);
    let message = fields.find_map(|field| field.strip_prefix(b"M"));
    String::from_utf8_lossy(message.unwrap_or(b"an error without a message")).into_owned()
}

/// Begins a connection to MariaDB or MySQL, up to where it takes queries.
///
/// # Errors
/// As of [`begin_postgresql`].
pub fn begin_mysql(stream: &mut TcpStream, user: &str, database: &str) -> io::Result<()> {
    let greeting = packet(stream)?;
    match greeting.first() {
        Some(10) => {}
        Some(0xff) => return Err(refused(&mysql_error(&greeting))),
        _ => return Err(refused("it does not begin as MariaDB and MySQL do")),
    }
    let mut words = ABLE.to_le_bytes().to_vec();
    words.extend_from_slice(&(16_u32 << 20).to_le_bytes());
    words.push(UTF8);
    words.extend_from_slice(&[0; 23]);
    words.extend_from_slice(user.as_bytes());
    // The end of the name, and an answer of no bytes to the challenge: there is no password.
    words.extend_from_slice(&[0, 0]);
    words.extend_from_slice(database.as_bytes());
    words.push(0);
    words.extend_from_slice(b"mysql_native_password\0");
    stream.write_all(&mysql_packet(1, &words))?;
    let answer = packet(stream)?;
    match answer.first() {
        Some(0) => Ok(()),
        Some(0xff) => Err(refused(&mysql_error(&answer))),
        _ => Err(refused("it requires a password: create a user without one")),
    }
}

/// A packet with its number.
pub fn mysql_packet(number: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes();
    [&length[..3], &[number], body].concat()
}

/// What an error of MariaDB's or MySQL's says, behind its number and its state.
pub fn mysql_error(body: &[u8]) -> String {
    let text = body.get(3..).unwrap_or_default();
    let text = if text.first() == Some(&b'#') {
        text.get(6..).unwrap_or_default()
    } else {
        text
    };
    String::from_utf8_lossy(text).into_owned()
}

fn packet(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = [0; 4];
    stream.read_exact(&mut head)?;
    let length = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
    body(stream, Some(length))
}

fn body(stream: &mut TcpStream, length: Option<usize>) -> io::Result<Vec<u8>> {
    let length = length.filter(|length| *length <= LONGEST);
    let length = length.ok_or_else(|| refused("it does not speak this protocol"))?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(body)
}

fn refused(why: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the server refused the client: {why}"),
    )
}
