//! Lines of text from bytes that may be anything.

use super::fault::{DataError, Fault};
use std::io::{BufRead, Read};

/// A row takes some 50 bytes. What goes on for longer than this is no table, and
/// may be a disk image.
const LONGEST: usize = 64 << 10;

/// A document of a benchmark tool, which is kept whole: a thousand benchmarks of a thousand
/// repetitions take 20 MB.
const LONGEST_DOCUMENT: u64 = 64 << 20;

/// Reads line by line, with the file's name for messages.
pub(super) struct Lines<'a, R> {
    pub source: &'a str,
    input: R,
    buffer: Vec<u8>,
    /// Number of the line last read, from 1.
    pub line: u64,
}

impl<'a, R: BufRead> Lines<'a, R> {
    pub fn new(source: &'a str, input: R) -> Self {
        Self {
            source,
            input,
            buffer: Vec::new(),
            line: 0,
        }
    }

    /// The next line that is not blank, without its end.
    pub fn next(&mut self) -> Result<Option<(u64, &str)>, DataError> {
        loop {
            if !self.fill()? {
                return Ok(None);
            }
            if self.buffer.iter().any(|b| !b.is_ascii_whitespace()) {
                break;
            }
        }
        let (line, source) = (self.line, self.source);
        text(&self.buffer)
            .map(|text| Some((line, text)))
            .map_err(|(column, fault)| DataError::at(source, line, Some(column), fault))
    }

    /// All that follows a line, with that line.
    pub fn rest(&mut self, first: &str) -> Result<String, DataError> {
        let mut all = first.as_bytes().to_vec();
        all.push(b'\n');
        let read = (&mut self.input).take(LONGEST_DOCUMENT).read_to_end(&mut all);
        let read = read.map_err(|e| DataError::whole(self.source, Fault::Io(e)))?;
        if read as u64 == LONGEST_DOCUMENT {
            return Err(DataError::whole(
                self.source,
                Fault::LongDocument(LONGEST_DOCUMENT >> 20),
            ));
        }
        String::from_utf8(all).map_err(|_| DataError::whole(self.source, Fault::NotUtf8))
    }

    /// Reads one line; `false` at the end.
    fn fill(&mut self) -> Result<bool, DataError> {
        self.buffer.clear();
        // One byte more than may be: what is cut off is known to be too long.
        let most = LONGEST as u64 + 1;
        let read = (&mut self.input).take(most).read_until(b'\n', &mut self.buffer);
        let read = read.map_err(|e| DataError::whole(self.source, Fault::Io(e)))?;
        if read == 0 {
            return Ok(false);
        }
        self.line += 1;
        while self.buffer.last().is_some_and(|b| matches!(b, b'\n' | b'\r')) {
            self.buffer.pop();
        }
        if self.buffer.len() > LONGEST {
            return Err(DataError::at(
                self.source,
                self.line,
                None,
                Fault::LongLine(LONGEST),
            ));
        }
        if self.line == 1 && self.buffer.starts_with(b"\xef\xbb\xbf") {
            self.buffer.drain(..3);
        }
        Ok(true)
    }
}

/// The text of a line, or the column of the first byte that is none.
fn text(line: &[u8]) -> Result<&str, (usize, Fault)> {
    if let Some(at) = line.iter().position(|b| *b == 0) {
        return Err((at + 1, Fault::Binary));
    }
    std::str::from_utf8(line).map_err(|e| {
        let before = std::str::from_utf8(&line[..e.valid_up_to()]).unwrap_or_default();
        (before.chars().count() + 1, Fault::NotUtf8)
    })
}
