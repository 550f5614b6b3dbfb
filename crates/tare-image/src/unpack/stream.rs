//! The bytes of an archive: what packs them is told by how they begin, and how many come
//! out is bounded.

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// Frames of zstd that hold no data have one of 16 magic numbers.
const ZSTD_SKIPPED: &[u8] = &[0x2a, 0x4d, 0x18];
const MAGIC_BYTES: usize = 6;
/// What else people take for an image, by how it begins.
const FOREIGN: [Foreign; 8] = [
    Foreign(b"\xfd7zXZ\0", "compressed by xz: unpack it with 'xz -d' first"),
    Foreign(b"BZh", "compressed by bzip2: unpack it with 'bunzip2' first"),
    Foreign(b"PK\x03\x04", "a zip archive: unpack it, and import the folder"),
    Foreign(b"!<arch", "a Debian package or static library"),
    Foreign(b"\x7fELF", "a program"),
    Foreign(
        b"hsqs",
        "a squashfs image: unpack it with 'unsquashfs', and import the folder",
    ),
    Foreign(
        b"QFI\xfb",
        "a disk image of QEMU: mount it, and import the folder",
    ),
    Foreign(b"#!", "a script"),
];

/// A file that is no archive of files: how it begins, and what it is.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("it is {1}")]
pub struct Foreign(&'static [u8], &'static str);
/// Fewer reads of the file below than with the 8 KiB that are usual.
const READ_AHEAD: usize = 64 * 1024;

/// The bytes that were packed, whether by gzip, by zstd or not at all.
///
/// # Errors
/// As the reader says; [`Foreign`] for what is certainly no archive.
pub fn unpacked<'a>(mut packed: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let mut magic = Vec::with_capacity(MAGIC_BYTES);
    packed.by_ref().take(MAGIC_BYTES as u64).read_to_end(&mut magic)?;
    let is_zstd = magic.starts_with(ZSTD) || magic.get(1..4) == Some(ZSTD_SKIPPED);
    let is_gzip = magic.starts_with(GZIP);
    if let Some(foreign) = FOREIGN.iter().find(|foreign| magic.starts_with(foreign.0)) {
        return Err(io::Error::other(*foreign));
    }
    let whole = BufReader::with_capacity(READ_AHEAD, io::Cursor::new(magic).chain(packed));
    Ok(match (is_gzip, is_zstd) {
        (true, _) => Box::new(MultiGzDecoder::new(whole)),
        (_, true) => Box::new(Zstd {
            source: whole,
            frame: None,
        }),
        _ => Box::new(whole),
    })
}

/// Frames of zstd one after another: the decoder knows only one.
struct Zstd<R> {
    source: R,
    frame: Option<FrameDecoder>,
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                while frame.can_collect() < into.len() && !frame.is_finished() {
                    let missing = BlockDecodingStrategy::UptoBytes(into.len() - frame.can_collect());
                    frame.decode_blocks(&mut self.source, missing).map_err(broken)?;
                }
                let read = frame.read(into)?;
                if read > 0 || into.is_empty() {
                    return Ok(read);
                }
            }
            self.frame = None;
            if self.source.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.frame = next_frame(&mut self.source)?;
        }
    }
}

/// The next frame; `None` for one that holds no data.
fn next_frame(source: &mut impl BufRead) -> io::Result<Option<FrameDecoder>> {
    let mut frame = FrameDecoder::new();
    match frame.init(&mut *source) {
        Ok(()) => Ok(Some(frame)),
        Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
            let length = u64::from(length);
            let skipped = io::copy(&mut source.take(length), &mut io::sink())?;
            if skipped < length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Ok(None)
        }
        Err(e) => Err(broken(e)),
    }
}

fn broken(error: FrameDecoderError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// What a reader of an archive may still take: all in all, and before it must have come to
/// the next file (long names and other headers are kept in memory).
#[derive(Debug, Clone)]
pub struct Allowance {
    total: Rc<Cell<u64>>,
    header: Rc<Cell<u64>>,
}

/// What a reader says that came to the end of its [`Allowance`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Spent {
    /// All in all.
    #[error("its unpacked content exceeds the limit")]
    Total,
    /// Before the next file.
    #[error("the header of a file in it is too large")]
    Header,
    /// The user wishes to stop.
    #[error("stopped by the user")]
    Stopped,
}

impl Allowance {
    /// So many bytes.
    pub fn new(total: u64) -> Self {
        Self {
            total: Rc::new(Cell::new(total)),
            header: Rc::new(Cell::new(u64::MAX)),
        }
    }

    /// From here on headers are read, at most so many bytes; `u64::MAX` for data.
    pub fn header(&self, bytes: u64) {
        self.header.set(bytes);
    }

    /// Takes bytes off that no reader sees.
    ///
    /// # Errors
    /// [`Spent::Total`] if there are not so many.
    pub fn charge(&self, bytes: u64) -> Result<(), Spent> {
        let left = self.total.get().checked_sub(bytes).ok_or(Spent::Total)?;
        self.total.set(left);
        Ok(())
    }

    fn most(&self, wanted: usize) -> Result<usize, Spent> {
        if self.total.get() == 0 {
            return Err(Spent::Total);
        }
        if self.header.get() == 0 {
            return Err(Spent::Header);
        }
        let left = self.total.get().min(self.header.get());
        Ok(usize::try_from(left).unwrap_or(usize::MAX).min(wanted))
    }

    fn take(&self, bytes: u64) {
        self.total.set(self.total.get().saturating_sub(bytes));
        if self.header.get() != u64::MAX {
            self.header.set(self.header.get().saturating_sub(bytes));
        }
    }
}

/// A reader with an [`Allowance`].
pub struct Metered<R> {
    inner: R,
    allowance: Allowance,
    stop: fn() -> bool,
}

impl<R: Read> Metered<R> {
    /// Bounds a reader, which ends as well when `stop` says so.
    pub fn new(inner: R, allowance: Allowance, stop: fn() -> bool) -> Self {
        Self {
            inner,
            allowance,
            stop,
        }
    }
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if (self.stop)() {
            return Err(io::Error::other(Spent::Stopped));
        }
        let most = self.allowance.most(into.len()).map_err(io::Error::other)?;
        let read = self.inner.read(into.get_mut(..most).unwrap_or_default())?;
        self.allowance.take(read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::io::Write;

    fn all(packed: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        unpacked(packed)?.read_to_end(&mut out)?;
        Ok(out)
    }

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        to.write_all(data).unwrap();
        to.finish().unwrap()
    }

    #[test]
    fn what_packs_it_is_told_by_how_it_begins() {
        let data = vec![7; 300_000];
        let zstd = compress_to_vec(&data[..], CompressionLevel::Fastest);
        assert_eq!(all(&data).unwrap(), data);
        assert_eq!(all(&gzip(&data)).unwrap(), data);
        assert_eq!(all(&zstd).unwrap(), data);
        assert_eq!(all(b"").unwrap(), b"");
        assert_eq!(all(b"ab").unwrap(), b"ab");
        // Several members and frames, and frames that hold nothing.
        let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        let twice = [&skipped[..], &zstd, &skipped, &zstd].concat();
        assert_eq!(all(&twice).unwrap().len(), 2 * data.len());
        assert_eq!(all(&[gzip(b"a"), gzip(b"b")].concat()).unwrap(), b"ab");
    }

    #[test]
    fn what_is_cut_off_is_an_error() {
        let data: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        for packed in [gzip(&data), compress_to_vec(&data[..], CompressionLevel::Fastest)] {
            for keep in [5, packed.len() / 2, packed.len() - 1] {
                assert!(all(&packed[..keep]).is_err(), "{keep}");
            }
        }
    }
}
