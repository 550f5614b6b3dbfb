//! Memory for data on its way: page-aligned, as `O_DIRECT` wants it.

use super::block;
use crate::error::KernelError;
use crate::memory;
use std::ptr::NonNull;

/// Blocks of memory, all zero until written.
#[derive(Debug)]
pub struct Buffer {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping belongs to this value alone, and no thread has a part in it.
unsafe impl Send for Buffer {}

impl Buffer {
    /// Room for so many blocks.
    ///
    /// # Errors
    /// [`KernelError::Map`] if the kernel refuses, or if there are none.
    pub fn new(blocks: usize) -> Result<Self, KernelError> {
        let bytes = blocks.saturating_mul(block::BYTES);
        let start = memory::map(bytes)?;
        Ok(Self { start, bytes })
    }

    /// Where a block begins.
    ///
    /// # Panics
    /// Of a block that is not there.
    pub fn address(&self, which: usize) -> NonNull<u8> {
        let offset = which * block::BYTES;
        assert!(offset < self.bytes, "no such block");
        // SAFETY: within the mapping, by the line above.
        unsafe { self.start.add(offset) }
    }

    /// All bytes.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: as below; `&self` excludes writers.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }

    /// All bytes, to be written.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: the mapping holds so many bytes, zeroed by the kernel, and lives until
        // drop; `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: exactly the range that `new` mapped, to which no borrow is left.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_follow_each_other() {
        let mut buffer = Buffer::new(3).unwrap();
        buffer.as_mut_slice()[block::BYTES] = 7;
        assert_eq!(buffer.as_slice().len(), 3 * block::BYTES);
        let second = buffer.address(1).as_ptr();
        assert!(second.addr().is_multiple_of(block::BYTES));
        // SAFETY: a byte of the buffer, which nobody writes.
        assert_eq!(unsafe { second.read() }, 7);
        assert!(Buffer::new(0).is_err());
    }
}
