//! A file without a name, full of stamped blocks.

use super::block::{self, Stamp};
use super::buffer::Buffer;
use super::folder::Folder;
use crate::error::KernelError;
use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU32, Ordering};

/// Blocks that are laid out by one write.
const LAID_AT_ONCE: usize = 256;

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Past the page cache, by blocks.
    Direct,
    /// Through the page cache.
    Cached,
}

/// A file without a name: it is gone with the process, however that ends.
#[derive(Debug)]
pub struct Scratch {
    pub file: File,
    /// Blocks that it has.
    pub blocks: u64,
}

impl Scratch {
    /// Makes a file of these blocks, each stamped with its position, all of them on the
    /// disk: a file with holes would be measured at filling them.
    ///
    /// # Errors
    /// [`KernelError::Disk`] if it cannot be made or written, such as on a full disk.
    pub fn lay(folder: &Folder, access: Access, positions: &Range<u64>) -> Result<Self, KernelError> {
        let file = unnamed(folder, access).map_err(folder.failed("make a file"))?;
        let mut buffer = Buffer::new(LAID_AT_ONCE)?;
        let laying = folder.failed("allocate a file");
        let mut next = positions.start;
        while next < positions.end {
            let bytes = buffer.as_mut_slice().chunks_exact_mut(block::BYTES);
            let blocks = (next..positions.end).zip(bytes).fold(0, |n, (position, bytes)| {
                Stamp::laid(position).put(bytes);
                n + 1
            });
            let offset = (next - positions.start) * block::BYTES as u64;
            file.write_all_at(&buffer.as_slice()[..blocks * block::BYTES], offset)
                .map_err(&laying)?;
            next += blocks as u64;
        }
        file.sync_all().map_err(&laying)?;
        Ok(Self {
            file,
            blocks: positions.end - positions.start,
        })
    }

    /// Whether any of its blocks is in the page cache. Linux tells who may write a file.
    ///
    /// # Errors
    /// As mmap(2) and mincore(2).
    pub fn is_in_memory(&self) -> io::Result<bool> {
        let bytes = usize::try_from(self.blocks).unwrap_or(0) * block::BYTES;
        let mut pages = vec![0_u8; bytes / block::BYTES];
        // SAFETY: a new mapping at an address of the kernel's choice, which nobody reads;
        // `pages` has a byte for each page, which are no smaller than blocks.
        let told = unsafe {
            let fd = self.file.as_raw_fd();
            let start = libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ,
                libc::MAP_SHARED,
                fd,
                0,
            );
            if start == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            let told = libc::mincore(start, bytes, pages.as_mut_ptr());
            let error = io::Error::last_os_error();
            libc::munmap(start, bytes);
            if told == 0 { Ok(()) } else { Err(error) }
        };
        told.map(|()| pages.iter().any(|page| page & 1 != 0))
    }
}

/// Opens a new file for reading and writing that has no name.
fn unnamed(folder: &Folder, access: Access) -> io::Result<File> {
    let direct = match access {
        Access::Direct => OFlags::DIRECT,
        Access::Cached => OFlags::empty(),
    };
    let flags = OFlags::RDWR | OFlags::CLOEXEC | direct;
    let mode = Mode::RUSR | Mode::WUSR;
    match openat(&folder.opened, ".", flags | OFlags::TMPFILE, mode) {
        // From file systems and from kernels that know no such files; the last also from
        // those that refuse O_DIRECT, which the other way tells too.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => unlinked(folder, flags, mode),
        opened => Ok(opened?.into()),
    }
}

/// The same where the file system knows files with names alone: its name is taken away at
/// once.
fn unlinked(folder: &Folder, flags: OFlags, mode: Mode) -> io::Result<File> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    let name = format!(".tare-{}-{}-{number}", folder.kernel, std::process::id());
    let made = openat(&folder.opened, &name, flags | OFlags::CREATE | OFlags::EXCL, mode);
    // A file system that refuses O_DIRECT has made the file all the same.
    let removed = unlinkat(&folder.opened, &name, AtFlags::empty());
    let file = made?;
    removed?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use tare_wire::kernel::Kernel;

    fn folder() -> Folder {
        Folder::at(Kernel::Fsync, Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap()
    }

    #[test]
    fn every_block_says_where_it_lies() {
        let laid = Scratch::lay(&folder(), Access::Cached, &(1000..1000 + 300)).unwrap();
        assert_eq!(laid.file.metadata().unwrap().len(), 300 * block::BYTES as u64);
        for i in [0, 1, 255, 256, 299] {
            let mut bytes = [0; block::BYTES];
            laid.file
                .read_exact_at(&mut bytes, i * block::BYTES as u64)
                .unwrap();
            assert_eq!(Stamp::of(&bytes), Stamp::laid(1000 + i));
        }
        assert!(laid.is_in_memory().unwrap(), "it went through the page cache");
    }

    #[test]
    fn a_file_has_no_name_whichever_way_it_was_made() {
        let mode = Mode::RUSR | Mode::WUSR;
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let files = [
            unnamed(&folder(), Access::Cached).unwrap(),
            unlinked(&folder(), flags, mode).unwrap(),
        ];
        for file in files {
            file.write_all_at(b"x", 0).unwrap();
            assert_eq!(rustix::fs::fstat(&file).unwrap().st_nlink, 0);
        }
    }

    #[test]
    fn a_full_disk_is_told_with_what_to_do() {
        let folder = folder();
        let error = folder.failed("allocate a file")(Errno::NOSPC.into()).to_string();
        let end = "free disk space there, or reduce --size";
        assert!(error.starts_with("fsync cannot allocate a file in /"), "{error}");
        assert!(error.ends_with(end), "{error}");
    }
}
