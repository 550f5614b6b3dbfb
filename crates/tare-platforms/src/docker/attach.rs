//! The stream to a container's first process: a connection to the engine that
//! changes from HTTP to chunks of the process's streams.

use super::super::contract::{ANSWER_DEADLINE, BoxError};
use super::engine::Engine;
use crate::link::{FdStream, Stream};
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, HOST, UPGRADE};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use std::cell::RefCell;
use std::io;
use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::time::Instant;
use tokio::net::UnixStream;
use tokio::time::timeout;

/// Most bytes of a container's standard error that are kept for messages.
const STDERR_KEPT: usize = 4096;

/// Attaches to a container that need not have been started. What it says on its
/// standard error is kept in `stderr`.
pub(super) fn attach(
    engine: &Engine,
    id: &str,
    stderr: Rc<RefCell<Vec<u8>>>,
) -> Result<AttachedStream, BoxError> {
    let (socket, read) = engine
        .runtime
        .block_on(async {
            let answer = timeout(ANSWER_DEADLINE, upgrade(engine, id)).await;
            answer.unwrap_or_else(|_| Err("the engine does not answer".to_owned()))
        })
        .map_err(|message| BoxError::Engine {
            engine: engine.name,
            message: format!("cannot attach to container {id:.12}: {message}"),
        })?;
    let mut chunks = Chunks::default();
    let mut early = Vec::new();
    chunks
        .decode(&read, &mut early, &stderr)
        .map_err(BoxError::host("read the attached stream"))?;
    let socket = FdStream::over_socket(socket.into()).map_err(BoxError::host("keep the attached stream"))?;
    Ok(AttachedStream {
        socket,
        raw: Vec::new(),
        chunks,
        early,
        stderr,
    })
}

/// Asks the engine to give the connection up to the container; the connection,
/// and what was read from it already.
async fn upgrade(engine: &Engine, id: &str) -> Result<(std::os::unix::net::UnixStream, Vec<u8>), String> {
    let told = |e: &dyn std::error::Error| e.to_string();
    let socket = UnixStream::connect(&engine.socket).await.map_err(|e| told(&e))?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(socket))
        .await
        .map_err(|e| told(&e))?;
    let driver = tokio::spawn(connection.with_upgrades());
    let request = Request::post(format!(
        "/containers/{id}/attach?stream=1&stdin=1&stdout=1&stderr=1"
    ))
    .header(HOST, "localhost")
    .header(CONNECTION, "Upgrade")
    .header(UPGRADE, "tcp")
    .body(String::new())
    .map_err(|e| told(&e))?;
    let response = sender.send_request(request).await.map_err(|e| told(&e))?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        return Err(format!("the engine answers {}", response.status()));
    }
    let upgraded = hyper::upgrade::on(response).await.map_err(|e| told(&e))?;
    drop(driver.await);
    let parts = upgraded
        .downcast::<TokioIo<UnixStream>>()
        .map_err(|_| "the connection is of another kind".to_owned())?;
    let socket = parts.io.into_inner().into_std().map_err(|e| told(&e))?;
    Ok((socket, parts.read_buf.to_vec()))
}

/// The attached stream of a container; its standard error is kept apart.
pub(super) struct AttachedStream {
    socket: FdStream,
    raw: Vec<u8>,
    chunks: Chunks,
    /// What came with the engine's answer.
    early: Vec<u8>,
    stderr: Rc<RefCell<Vec<u8>>>,
}

impl Stream for AttachedStream {
    fn send(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        self.socket.send(bytes, deadline)
    }

    fn receive(&mut self, buffer: &mut Vec<u8>, deadline: Instant) -> io::Result<usize> {
        let before = buffer.len();
        buffer.append(&mut self.early);
        while buffer.len() == before {
            self.raw.clear();
            if self.socket.receive(&mut self.raw, deadline)? == 0 {
                return Ok(0);
            }
            self.chunks.decode(&self.raw, buffer, &self.stderr)?;
        }
        Ok(buffer.len() - before)
    }

    fn readiness(&self) -> Option<BorrowedFd<'_>> {
        self.socket.readiness()
    }
}

/// Takes the engine's chunks apart: a header of eight bytes (the stream's number,
/// three zeros, the length, big-endian), then the bytes.
#[derive(Default)]
struct Chunks {
    header: Vec<u8>,
    /// Bytes of the present chunk that are still to come.
    left: usize,
    is_stderr: bool,
}

const HEADER: usize = 8;
const STDERR: u8 = 2;

impl Chunks {
    fn decode(
        &mut self,
        mut raw: &[u8],
        stdout: &mut Vec<u8>,
        stderr: &RefCell<Vec<u8>>,
    ) -> Result<(), io::Error> {
        while !raw.is_empty() {
            if self.left == 0 {
                let (header, rest) = raw.split_at(raw.len().min(HEADER - self.header.len()));
                self.header.extend_from_slice(header);
                raw = rest;
                self.begin()?;
                continue;
            }
            let (chunk, rest) = raw.split_at(raw.len().min(self.left));
            if self.is_stderr {
                let mut kept = stderr.borrow_mut();
                let room = STDERR_KEPT.saturating_sub(kept.len()).min(chunk.len());
                kept.extend_from_slice(&chunk[..room]);
            } else {
                stdout.extend_from_slice(chunk);
            }
            self.left -= chunk.len();
            raw = rest;
        }
        Ok(())
    }

    /// Reads the header once it is whole.
    fn begin(&mut self) -> io::Result<()> {
        let Ok([stream, zeros @ .., a, b, c, d]) = <[u8; HEADER]>::try_from(&self.header[..]) else {
            return Ok(());
        };
        if stream > STDERR || zeros != [0; 3] {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the engine sends no chunks of streams",
            ));
        }
        self.is_stderr = stream == STDERR;
        self.left = usize::try_from(u32::from_be_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        self.header.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_taken_apart_wherever_they_are_cut() {
        let raw = [
            &[1, 0, 0, 0, 0, 0, 0, 3][..],
            b"abc",
            &[2, 0, 0, 0, 0, 0, 0, 2],
            b"no",
            &[1, 0, 0, 0, 0, 0, 0, 0],
            &[1, 0, 0, 0, 0, 0, 0, 2],
            b"de",
        ]
        .concat();
        for cut in 0..raw.len() {
            let (mut chunks, mut stdout, stderr) = (Chunks::default(), Vec::new(), RefCell::default());
            chunks.decode(&raw[..cut], &mut stdout, &stderr).unwrap();
            chunks.decode(&raw[cut..], &mut stdout, &stderr).unwrap();
            assert_eq!((&stdout[..], &stderr.borrow()[..]), (&b"abcde"[..], &b"no"[..]));
        }
    }

    #[test]
    fn a_terminal_is_no_stream_of_chunks() {
        let raw = b"hello, world";
        assert!(
            Chunks::default()
                .decode(raw, &mut Vec::new(), &RefCell::default())
                .is_err()
        );
    }
}
