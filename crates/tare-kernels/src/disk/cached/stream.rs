//! A file byte by byte through a buffer, as C's putc and getc do.
//!
//! Each byte is a call that looks whether the buffer is full or empty: a compiler that saw
//! through it would copy whole buffers, which is another kernel's work.

use super::super::block;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes of the buffer: what stdio takes for most files.
const BUFFER: usize = block::BYTES;

/// Takes bytes, and writes them when the buffer is full.
pub struct Putter<'a> {
    file: &'a File,
    offset: u64,
    buffer: [u8; BUFFER],
    used: usize,
}

impl<'a> Putter<'a> {
    pub fn new(file: &'a File, offset: u64) -> Self {
        Self {
            file,
            offset,
            buffer: [0; BUFFER],
            used: 0,
        }
    }

    /// # Errors
    /// As pwrite(2).
    pub fn put_all(mut self, bytes: &[u8]) -> io::Result<()> {
        for byte in bytes {
            self.put(*byte)?;
        }
        self.flush()
    }

    #[inline(never)]
    fn put(&mut self, byte: u8) -> io::Result<()> {
        if self.used == BUFFER {
            self.flush()?;
        }
        self.buffer[self.used] = byte;
        self.used += 1;
        Ok(())
    }

    #[cold]
    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all_at(&self.buffer[..self.used], self.offset)?;
        self.offset += self.used as u64;
        self.used = 0;
        Ok(())
    }
}

/// Gives bytes, and reads more when the buffer is empty.
pub struct Getter<'a> {
    file: &'a File,
    offset: u64,
    buffer: [u8; BUFFER],
    next: usize,
    filled: usize,
}

impl<'a> Getter<'a> {
    pub fn new(file: &'a File, offset: u64) -> Self {
        Self {
            file,
            offset,
            buffer: [0; BUFFER],
            next: 0,
            filled: 0,
        }
    }

    /// The sum of the next bytes.
    ///
    /// # Errors
    /// As pread(2), and [`UnexpectedEof`](io::ErrorKind::UnexpectedEof).
    pub fn sum_of_bytes(mut self, bytes: usize) -> io::Result<u64> {
        let mut sum = 0;
        for _ in 0..bytes {
            sum += u64::from(self.get()?);
        }
        Ok(sum)
    }

    #[inline(never)]
    fn get(&mut self) -> io::Result<u8> {
        if self.next == self.filled {
            self.fill()?;
        }
        let byte = self.buffer[self.next];
        self.next += 1;
        Ok(byte)
    }

    #[cold]
    fn fill(&mut self) -> io::Result<()> {
        self.filled = self.file.read_at(&mut self.buffer, self.offset)?;
        if self.filled == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.offset += self.filled as u64;
        self.next = 0;
        Ok(())
    }
}
