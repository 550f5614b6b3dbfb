//! What programs and boxes print, in memory of a size that they cannot exceed.

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;

/// A file without a name that holds so many bytes and no more: who writes beyond them gets
/// an error, and costs the host nothing. Only what was written takes memory.
pub struct Capture {
    file: File,
    max: usize,
}

impl Capture {
    /// An empty one of at most `max` bytes.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn of_at_most(max: usize) -> io::Result<Self> {
        let file = memfd_create("tare", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, max as u64)?;
        // Nor may whoever it is handed to take its seals off or cut it.
        fcntl_add_seals(&file, SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
        Ok(Self {
            file: file.into(),
            max,
        })
    }

    /// What a program is to write to. All that are given write one behind the other.
    pub fn writer(&self) -> io::Result<OwnedFd> {
        Ok(self.file.try_clone()?.into())
    }

    /// The same, which can only be written to and begins anew.
    pub fn write_only(&self) -> io::Result<OwnedFd> {
        let path = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        Ok(File::options().write(true).open(path)?.into())
    }

    /// What was written. The rest of the file is zeros, which no words end with.
    pub fn written(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.max];
        let mut read = 0;
        while let Ok(n @ 1..) = self.file.read_at(&mut bytes[read..], read as u64) {
            read += n;
        }
        let end = bytes.iter().rposition(|byte| *byte != 0);
        bytes.truncate(end.map_or(0, |last| last + 1));
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn all_that_write_are_read_in_their_order_and_no_zeros_behind() {
        let words = Capture::of_at_most(10_000).unwrap();
        for text in ["one ", "two ", "three"] {
            File::from(words.writer().unwrap())
                .write_all(text.as_bytes())
                .unwrap();
        }
        assert_eq!(words.written(), b"one two three");
        File::from(words.write_only().unwrap()).write_all(b"ONE").unwrap();
        assert_eq!(words.written(), b"ONE two three");
    }

    #[test]
    fn more_than_there_is_room_for_is_an_error_for_who_writes_it() {
        let words = Capture::of_at_most(10_000).unwrap();
        let mut writer = File::from(words.writer().unwrap());
        let error = loop {
            if let Err(e) = writer.write_all(&[b'x'; 1000]) {
                break e;
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}");
        assert!(writer.set_len(1 << 30).is_err() && writer.set_len(0).is_err());
        assert_eq!(writer.metadata().unwrap().len(), 10_000);
        assert!((8_000..=10_000).contains(&words.written().len()));
    }
}
