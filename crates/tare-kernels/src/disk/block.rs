//! Blocks, and what stands in them: where a block lies, and which write put it there.

/// Bytes of a block.
pub const BYTES: usize = 4096;

/// The write of blocks that are as they were laid out.
const LAID: u64 = u64::MAX;

/// What a block says of itself, in its first words. The rest of it is zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Which block it is.
    pub position: u64,
    /// Number of the write that put it there.
    write: u64,
}

impl Stamp {
    /// Of a block as it is laid out.
    pub const fn laid(position: u64) -> Self {
        Self {
            position,
            write: LAID,
        }
    }

    /// Of a block that this write put there.
    pub const fn written(position: u64, write: u64) -> Self {
        Self { position, write }
    }

    /// The write that put it there; `None` of a block that was never written again.
    pub fn write(self) -> Option<u64> {
        (self.write != LAID).then_some(self.write)
    }

    /// What `block` says.
    pub fn of(block: &[u8]) -> Self {
        let word = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&block[at..at + 8]);
            u64::from_le_bytes(bytes)
        };
        Self {
            position: word(0),
            write: word(8),
        }
    }

    /// Stamps `block`.
    pub fn put(self, block: &mut [u8]) {
        block[..8].copy_from_slice(&self.position.to_le_bytes());
        block[8..16].copy_from_slice(&self.write.to_le_bytes());
    }

    /// The sum of all bytes of a block with this stamp.
    pub fn sum(self) -> u64 {
        let words = [self.position, self.write];
        words.into_iter().flat_map(u64::to_le_bytes).map(u64::from).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_as_it_was_put_and_its_sum_is_that_of_the_block() {
        for stamp in [Stamp::laid(7), Stamp::written(u64::MAX / 3, 259)] {
            let mut block = [0; BYTES];
            stamp.put(&mut block);
            assert_eq!(Stamp::of(&block), stamp);
            assert_eq!(
                block.iter().map(|byte| u64::from(*byte)).sum::<u64>(),
                stamp.sum()
            );
        }
        assert_eq!(Stamp::laid(7).write(), None);
        assert_eq!(Stamp::written(7, 0).write(), Some(0));
    }
}
