//! What goes on while an image is made.

use std::io::{self, Read};
use std::time::{Duration, Instant};

/// How often it is told how far a reader came.
const EVERY: Duration = Duration::from_millis(250);

/// What goes on while an image is found or made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Another step begins, in words.
    Step(String),
    /// So many bytes were read in this step.
    Read(u64),
}

/// A reader that tells how far it came.
pub(super) struct Told<'a, R> {
    inner: R,
    bytes: u64,
    next: Instant,
    say: &'a mut dyn FnMut(Progress),
}

impl<'a, R> Told<'a, R> {
    pub fn new(inner: R, say: &'a mut dyn FnMut(Progress)) -> Self {
        Self {
            inner,
            bytes: 0,
            next: Instant::now() + EVERY,
            say,
        }
    }
}

impl<R: Read> Read for Told<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        self.bytes += read as u64;
        if Instant::now() >= self.next {
            self.next = Instant::now() + EVERY;
            (self.say)(Progress::Read(self.bytes));
        }
        Ok(read)
    }
}
