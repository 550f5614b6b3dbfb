//! Anonymous memory straight from the kernel.
//!
//! Allocators place and recycle blocks each in their own way; a mapping is
//! page-aligned and untouched in every box. Small pages or huge ones: what a
//! platform gives is part of what is measured, unless a kernel asks for huge ones.

use crate::error::KernelError;
use std::io;
use std::ptr::NonNull;

/// Bytes of a huge page on x86-64.
const HUGE_PAGE: usize = 2 << 20;

/// Maps so many bytes, private and anonymous. No page is touched, and nobody gives it back.
///
/// # Errors
/// [`KernelError::Map`] if the kernel refuses, or if `bytes` is 0.
pub(crate) fn map(bytes: usize) -> Result<NonNull<u8>, KernelError> {
    // SAFETY: a new private mapping at an address of the kernel's choice
    // touches no existing memory; any `bytes` is allowed.
    let start = unsafe {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        libc::mmap(std::ptr::null_mut(), bytes, access, flags, -1, 0)
    };
    if start == libc::MAP_FAILED {
        let source = io::Error::last_os_error();
        return Err(KernelError::Map { bytes, source });
    }
    NonNull::new(start.cast()).ok_or_else(|| KernelError::Map {
        bytes,
        source: io::Error::from(io::ErrorKind::AddrNotAvailable),
    })
}

/// A private anonymous mapping of `f64`, all zero until written.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<f64>,
    len: usize,
}

impl Mapping {
    /// Maps room for `len` numbers. No page is touched.
    ///
    /// # Errors
    /// [`KernelError::Map`] if the kernel refuses, or if `len` is 0.
    pub fn new(len: usize) -> Result<Self, KernelError> {
        let start = map(len.saturating_mul(size_of::<f64>()))?.cast();
        Ok(Self { start, len })
    }

    /// The same of huge pages, where the system has any to give.
    ///
    /// # Errors
    /// Those of [`Mapping::new`].
    pub fn of_huge_pages(len: usize) -> Result<Self, KernelError> {
        let mapping = Self::new(len)?;
        // SAFETY: exactly the range that was mapped. The advice changes no contents; a system that
        // has no huge pages refuses it, and the mapping is one of small pages.
        unsafe {
            libc::madvise(
                mapping.start.as_ptr().cast(),
                len * size_of::<f64>(),
                libc::MADV_HUGEPAGE,
            )
        };
        Ok(mapping)
    }

    /// What holds the numbers.
    pub fn pages(&self) -> Pages {
        Pages {
            start: self.start.cast(),
            bytes: self.len * size_of::<f64>(),
        }
    }

    /// The numbers.
    pub fn as_slice(&self) -> &[f64] {
        // SAFETY: as below; `&self` excludes writers.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// The numbers, to be written.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        // SAFETY: the mapping is page-aligned, holds `len` numbers (a sum that
        // did not overflow, or mmap would have failed), is zeroed by the kernel
        // and lives until drop; `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

/// The pages of a mapping of whole pages, apart from the numbers on them.
#[derive(Debug)]
pub struct Pages {
    start: NonNull<u8>,
    bytes: usize,
}

impl Pages {
    /// Puts others in their place, huge ones where the system has any to give, at the same address and with the same contents.
    ///
    /// # Errors
    /// [`KernelError::Map`] if the kernel refuses.
    ///
    /// # Safety
    /// The mapping is still there, and nobody reads or writes it meanwhile.
    pub unsafe fn renew(&self) -> Result<(), KernelError> {
        let Self { start, bytes } = *self;
        let spare = map(bytes + HUGE_PAGE)?;
        // Huge pages move whole between addresses that lie alike to their borders.
        let before = start.addr().get().wrapping_sub(spare.addr().get()) % HUGE_PAGE;
        // SAFETY: `before` is under a huge page, by which the spare range is longer. Of that range one part takes the contents
        // and then the place of the old pages, which the caller says nobody uses; the parts before and after it are given back.
        unsafe {
            let others = spare.add(before);
            libc::madvise(others.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE);
            start.copy_to_nonoverlapping(others, bytes);
            let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
            let moved = libc::mremap(others.as_ptr().cast(), bytes, bytes, flags, start.as_ptr());
            let source = io::Error::last_os_error();
            if before > 0 {
                libc::munmap(spare.as_ptr().cast(), before);
            }
            libc::munmap(others.add(bytes).as_ptr().cast(), HUGE_PAGE - before);
            if moved == libc::MAP_FAILED {
                libc::munmap(others.as_ptr().cast(), bytes);
                return Err(KernelError::Map { bytes, source });
            }
        }
        Ok(())
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly the range that `new` mapped, to which no borrow is
        // left. A failure would leave the mapping to the end of the process.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len * size_of::<f64>()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_zeroed_aligned_and_writable() {
        for new in [Mapping::new, Mapping::of_huge_pages] {
            let mut mapping = new(5000).unwrap();
            let numbers = mapping.as_mut_slice();
            assert!(numbers.as_ptr().addr().is_multiple_of(4096));
            assert!(numbers.iter().all(|x| *x == 0.0));
            numbers[4999] = 1.0;
            assert_eq!(numbers.len(), 5000);
        }
    }

    #[test]
    fn other_pages_hold_the_same_numbers_at_the_same_place() {
        for len in [512, 512 * 700, 512 * 5000] {
            let mut mapping = Mapping::of_huge_pages(len).unwrap();
            let numbers = mapping.as_mut_slice();
            (0_u32..)
                .zip(&mut *numbers)
                .for_each(|(i, number)| *number = i.into());
            let address = numbers.as_ptr().addr();
            for _ in 0..3 {
                // SAFETY: nobody uses the numbers meanwhile.
                unsafe { mapping.pages().renew() }.unwrap();
            }
            let numbers = mapping.as_slice();
            assert_eq!(numbers.as_ptr().addr(), address);
            assert!((0_u32..).zip(numbers).all(|(i, number)| *number == f64::from(i)));
        }
    }

    #[test]
    fn what_cannot_be_mapped_is_an_error() {
        assert!(matches!(Mapping::new(0), Err(KernelError::Map { bytes: 0, .. })));
        assert!(matches!(Mapping::new(usize::MAX), Err(KernelError::Map { .. })));
        assert!(matches!(Mapping::new(1 << 50), Err(KernelError::Map { .. })));
    }
}
