//! Waits for a registry in threads, so that the user can stop while one is silent or dribbles. A
//! thread that is given up ends with its deadline, or with the next piece.

use super::error::RegistryError;
use crate::Stop;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::Builder;
use std::time::Duration;

/// How often the wish to stop is asked for.
const ASK: Duration = Duration::from_millis(50);
/// Bytes of an answer that are passed on at a time, and how many such pieces are read ahead.
const PIECE_BYTES: usize = 64 * 1024;
const PIECES: usize = 4;

/// The result of what may block.
///
/// # Errors
/// [`RegistryError::Stopped`]; the error of the system if there can be no thread.
pub fn wait_for<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static, stop: Stop) -> io::Result<T> {
    let (to, from) = sync_channel(1);
    Builder::new().spawn(move || drop(to.send(work())))?;
    next(&from, stop)?.ok_or_else(|| io::ErrorKind::BrokenPipe.into())
}

/// The bytes of a reader that may block.
pub struct Patient {
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: io::Cursor<Vec<u8>>,
    stop: Stop,
}

impl Patient {
    /// # Errors
    /// As the system says, if there can be no thread.
    pub fn new(mut reader: impl Read + Send + 'static, stop: Stop) -> io::Result<Self> {
        let (to, pieces) = sync_channel(PIECES);
        Builder::new().spawn(move || {
            let mut room = vec![0; PIECE_BYTES];
            loop {
                let piece = reader
                    .read(&mut room)
                    .map(|read| room.iter().take(read).copied().collect());
                let is_last = piece.as_ref().map_or(true, Vec::is_empty);
                if to.send(piece).is_err() || is_last {
                    return;
                }
            }
        })?;
        Ok(Self {
            pieces,
            piece: io::Cursor::default(),
            stop,
        })
    }
}

impl Read for Patient {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.piece.read(into)?;
        if read > 0 || into.is_empty() {
            return Ok(read);
        }
        match next(&self.pieces, self.stop)? {
            Some(piece) => self.piece = io::Cursor::new(piece?),
            None => return Ok(0),
        }
        self.piece.read(into)
    }
}

fn next<T>(from: &Receiver<T>, stop: Stop) -> io::Result<Option<T>> {
    while !stop() {
        match from.recv_timeout(ASK) {
            Ok(next) => return Ok(Some(next)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
    Err(io::Error::other(RegistryError::Stopped))
}
