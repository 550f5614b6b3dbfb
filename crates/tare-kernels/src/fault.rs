//! `fault`: first touches of pages: the way into the kernel, a page of zeros, the page
//! tables, and what a machine's second tables add.
//!
//! Memory is mapped in pieces, each page of a piece is touched once, the piece is given
//! back. Mapping and giving back are part of the figure, shared by the pages of a piece.

use crate::error::KernelError;
use crate::gate::{Sliced, timed_alone};
use crate::memory;
use crate::report;
use std::sync::atomic::{AtomicU8, Ordering};
use tare_wire::gate::Part;
use tare_wire::kernel::Check;

/// Bytes of a page; where pages are larger, a fault serves several touches.
const PAGE: usize = 4096;

/// Pages of a piece: enough that mapping it costs each page little, and fewer than a huge
/// page has.
const PIECE: u64 = 256;

/// The kernel, of which a unit is a page.
#[derive(Default)]
pub struct Slices {
    /// Pages that were not zero.
    wrong: u64,
}

impl Sliced for Slices {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        self.wrong += timed_alone(parts, units as f64, || fault(units))?;
        Ok(())
    }

    fn check(&mut self) -> Check {
        report::check("new pages that were not zero", self.wrong as f64, 0.0)
    }
}

/// Touches so many new pages; counts those that were not zero.
fn fault(pages: u64) -> Result<u64, KernelError> {
    let (mut left, mut wrong) = (pages, 0);
    while left > 0 {
        let piece = Piece::new(left.min(PIECE) as usize)?;
        wrong += piece.touch();
        left -= piece.pages as u64;
    }
    Ok(wrong)
}

/// A mapping that is given back when it is dropped.
struct Piece {
    start: *mut u8,
    pages: usize,
}

impl Piece {
    fn new(pages: usize) -> Result<Self, KernelError> {
        let bytes = pages * PAGE;
        let start = memory::map(bytes)?.as_ptr();
        // The kernel joins a piece with a neighbour, and may then give both one huge page,
        // for which one fault is enough: by chance, as addresses fall. Refused where there
        // are no huge pages, and needless there.
        // SAFETY: exactly the range that was mapped; the advice changes no content.
        unsafe { libc::madvise(start.cast(), bytes, libc::MADV_NOHUGEPAGE) };
        Ok(Self { start, pages })
    }

    /// Touches each page once, by a write that tells what was there: a read before it
    /// would be a fault of its own.
    fn touch(&self) -> u64 {
        let mut wrong = 0;
        for page in 0..self.pages {
            // SAFETY: within the mapping, of which no other thread knows; any byte is a
            // sound `AtomicU8`.
            let byte = unsafe { AtomicU8::from_ptr(self.start.add(page * PAGE)) };
            wrong += u64::from(byte.swap(1, Ordering::Relaxed) != 0);
        }
        wrong
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        // SAFETY: exactly the range that `new` mapped, to which nothing points any more.
        unsafe { libc::munmap(self.start.cast(), self.pages * PAGE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_so_far() -> i64 {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: `usage` is valid for writing, and all zero it is sound.
        unsafe {
            libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
            usage.assume_init().ru_minflt
        }
    }

    #[test]
    fn every_page_is_a_fault_as_the_kernel_counts_them() {
        for pages in [1, 255, 256, 257, 5000] {
            let before = faults_so_far();
            assert_eq!(fault(pages).unwrap(), 0);
            let faults = faults_so_far() - before;
            let pages = i64::try_from(pages).unwrap();
            assert!((pages..pages + 50).contains(&faults), "{faults} of {pages}");
        }
    }

    #[test]
    fn pages_that_were_touched_before_are_not_new() {
        let piece = Piece::new(10).unwrap();
        assert_eq!(piece.touch(), 0);
        assert_eq!(piece.touch(), 10);
    }
}
