//! `cryptohash`: MD5 (RFC 1321) and SHA-1 (FIPS 180-4) of a buffer.
//!
//! Additions, rotations and choices in registers, each waiting for the one before; the
//! buffer comes from a near cache. No instruction made for hashes is used.

mod md5;
mod sha1;

use crate::error::KernelError;
use crate::gate::{Sliced, timed_alone};
use crate::isa::{Granted, per_isa};
use crate::random::Random;
use crate::report;
use crate::size;
use std::hint::black_box;
use tare_wire::gate::Part;
use tare_wire::kernel::{Check, KernelSpec};

/// Bytes that both hashes take at a time.
const BLOCK: usize = 64;

/// Both hashes of a text.
type Hashes = ([u32; 4], [u32; 5]);

/// The kernel, of which a unit is both hashes of the buffer. Its work is counted in bytes
/// of the buffer, each of which is hashed twice.
pub struct Slices {
    isa: Granted,
    buffer: Vec<[u8; BLOCK]>,
    right: Hashes,
    /// Hashes that were others, and those of the published texts.
    wrong: u64,
}

impl Slices {
    /// # Errors
    /// [`KernelError::Size`] for no whole block, or a buffer too large.
    pub fn new(spec: &KernelSpec, isa: Granted) -> Result<Self, KernelError> {
        let blocks = size::count(spec)? / BLOCK;
        let mut random = Random::new(1);
        let mut byte = || random.next().to_be_bytes()[0];
        let buffer: Vec<[u8; BLOCK]> = (0..blocks).map(|_| std::array::from_fn(|_| byte())).collect();
        Ok(Self {
            right: hashes(isa, &buffer),
            isa,
            buffer,
            wrong: u64::from(!abc_is_right(isa)),
        })
    }
}

impl Sliced for Slices {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        let bytes = (self.buffer.len() * BLOCK) as f64 * units as f64;
        self.wrong += timed_alone(parts, bytes, || {
            let wrong = |_: &u64| hashes(self.isa, black_box(&self.buffer)) != self.right;
            (0..units).filter(wrong).count() as u64
        });
        Ok(())
    }

    fn check(&mut self) -> Check {
        report::check("hashes that are others", self.wrong as f64, 0.0)
    }
}

/// Whether the text "abc" has the hashes that both standards print.
fn abc_is_right(isa: Granted) -> bool {
    let md5 = [0x9850_0190, 0xb04f_d23c, 0x7d3f_96d6, 0x727f_e128];
    let sha1 = [0xa999_3e36, 0x4706_816a, 0xba3e_2571, 0x7850_c26c, 0x9cd0_d89d];
    let padded = |length: [u8; 8]| {
        let mut block = [0; BLOCK];
        block[..4].copy_from_slice(b"abc\x80");
        block[56..].copy_from_slice(&length);
        [block]
    };
    // The length in bits, in the order of bytes of each standard.
    let of_md5 = hashes(isa, &padded(24_u64.to_le_bytes())).0;
    let of_sha1 = hashes(isa, &padded(24_u64.to_be_bytes())).1;
    of_md5 == md5 && of_sha1 == sha1
}

per_isa!(fn hashes(blocks: &[[u8; BLOCK]]) -> Hashes = hashes_body);

/// Of whole blocks: padding would be one block more, whatever the size.
#[inline(always)]
fn hashes_body<const LANES: usize>(blocks: &[[u8; BLOCK]]) -> Hashes {
    let md5 = blocks.iter().fold(md5::START, md5::step);
    let sha1 = blocks.iter().fold(sha1::START, sha1::step);
    (md5, sha1)
}

/// The sixteen words of a block, by the order of bytes of a standard.
#[inline(always)]
fn words(block: &[u8; BLOCK], word: fn([u8; 4]) -> u32) -> [u32; 16] {
    let bytes = block.as_chunks::<4>().0;
    std::array::from_fn(|i| word(bytes[i]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa;
    use tare_wire::kernel::{Isa, Kernel};

    /// The blocks of a text, padded, with its length in this order of bytes.
    fn padded(text: &[u8], length: [u8; 8]) -> Vec<[u8; BLOCK]> {
        let mut bytes = text.to_vec();
        bytes.push(0x80);
        bytes.resize((bytes.len() + 8).next_multiple_of(BLOCK) - 8, 0);
        bytes.extend(length);
        bytes.as_chunks().0.to_vec()
    }

    fn md5(text: &[u8]) -> String {
        let bits = 8 * text.len() as u64;
        let hash = hashes(isa::granted()[0], &padded(text, bits.to_le_bytes())).0;
        hash.iter()
            .flat_map(|word| word.to_le_bytes())
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    fn sha1(isa: Granted, text: &[u8]) -> String {
        let bits = 8 * text.len() as u64;
        let hash = hashes(isa, &padded(text, bits.to_be_bytes())).1;
        hash.iter().map(|word| format!("{word:08x}")).collect()
    }

    #[test]
    fn the_texts_of_rfc_1321_have_its_hashes() {
        assert_eq!(md5(b""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(md5(b"message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
        let digits = b"1234567890".repeat(8);
        assert_eq!(md5(&digits), "57edf4a22be3c955ac49da2e2107b67a");
    }

    #[test]
    fn the_texts_of_fips_180_have_its_hashes_at_every_level() {
        for isa in isa::granted() {
            let long = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
            assert_eq!(sha1(isa, long), "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
            let million = vec![b'a'; 1_000_000];
            assert_eq!(sha1(isa, &million), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
            assert!(abc_is_right(isa));
        }
    }

    #[test]
    fn a_changed_buffer_is_noticed() {
        let spec = KernelSpec {
            kernel: Kernel::Cryptohash,
            isa: Isa::Baseline,
            threads: 1,
            size: 1024,
            seconds: 0.05,
        };
        let mut slices = Slices::new(&spec, isa::granted()[0]).unwrap();
        let mut parts = [Part::from((0.0, 0, 0))];
        slices.work(2, &mut parts).unwrap();
        assert_eq!((parts[0].work, slices.check().found), (2048.0, 0.0));
        slices.buffer[15][63] ^= 1;
        slices.work(3, &mut parts).unwrap();
        assert_eq!(slices.check().found, 3.0);
    }
}
