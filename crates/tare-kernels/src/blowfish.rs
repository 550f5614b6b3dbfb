//! `blowfish`: encryption of a buffer with Blowfish (Schneier 1993), block by block.
//!
//! Sixteen rounds of four look-ups each in 4 KiB of tables: integer work that a core's
//! first cache serves, where every step waits for the one before.

mod pi;

use crate::error::KernelError;
use crate::gate::{Sliced, timed_alone};
use crate::isa::{Granted, per_isa};
use crate::opaque::opaque;
use crate::random::Random;
use crate::report;
use crate::size;
use std::hint::black_box;
use tare_wire::gate::Part;
use tare_wire::kernel::{Check, KernelSpec};

/// Bytes of a block.
const BLOCK: usize = 8;
const KEY: &[u8] = b"what does the box cost?";

/// A block as its left and its right half.
type Block = [u32; 2];

/// The kernel, of which a unit is one pass over the buffer, and its work bytes.
pub struct Slices {
    isa: Granted,
    cipher: Box<Cipher>,
    plain: Vec<Block>,
    encrypted: Vec<Block>,
    /// Blocks that did not decrypt to what they were, the published one among them.
    wrong: u64,
}

impl Slices {
    /// # Errors
    /// [`KernelError::Size`] for no whole block, or a buffer too large.
    pub fn new(spec: &KernelSpec, isa: Granted) -> Result<Self, KernelError> {
        let blocks = size::count(spec)? / BLOCK;
        let mut random = Random::new(1);
        let plain: Vec<Block> = (0..blocks).map(|_| [random.next(), random.next()]).collect();
        Ok(Self {
            isa,
            cipher: Box::new(Cipher::new(KEY)),
            encrypted: vec![[0; 2]; plain.len()],
            plain,
            wrong: u64::from(!published_is_right(isa)),
        })
    }
}

impl Sliced for Slices {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        let bytes = (self.plain.len() * BLOCK) as f64 * units as f64;
        timed_alone(parts, bytes, || {
            for _ in 0..units {
                encrypt(self.isa, &self.cipher, &self.plain, &mut self.encrypted);
                black_box(&mut self.encrypted);
            }
        });
        let pairs = self.plain.iter().zip(&self.encrypted);
        let wrong = pairs.filter(|(plain, found)| self.cipher.decrypt(**found) != **plain);
        self.wrong += wrong.count() as u64;
        // Blocks that the next slice leaves out are to be noticed.
        self.encrypted.fill([0; 2]);
        Ok(())
    }

    fn check(&mut self) -> Check {
        report::check(
            "blocks that do not decrypt to the original",
            self.wrong as f64,
            0.0,
        )
    }
}

/// Whether the first of Young's vectors is met: by itself, a cipher whose tables are
/// wrong decrypts what it encrypted.
fn published_is_right(isa: Granted) -> bool {
    let mut encrypted = [[0; 2]];
    encrypt(isa, &Cipher::new(&[0; 8]), &[[0; 2]], &mut encrypted);
    encrypted == [[0x4EF9_9745, 0x6198_DD78]]
}

per_isa!(fn encrypt(cipher: &Cipher, plain: &[Block], encrypted: &mut [Block]) = encrypt_body);

#[inline(always)]
fn encrypt_body<const LANES: usize>(cipher: &Cipher, plain: &[Block], encrypted: &mut [Block]) {
    for (to, [left, right]) in encrypted.iter_mut().zip(plain) {
        // Of blocks that it knows to be apart the compiler makes vectors from v3 on, with
        // look-ups of eight at once: another kind of work.
        let both = opaque(u64::from(*left) << 32 | u64::from(*right));
        let [a, b, c, d, e, f, g, h] = both.to_be_bytes();
        let halves = [u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h])];
        *to = cipher.encrypt(halves);
    }
}

/// The key, spread over the tables.
struct Cipher {
    rounds: [u32; 18],
    boxes: [[u32; 256]; 4],
}

impl Cipher {
    fn new(key: &[u8]) -> Self {
        let mut bytes = key.iter().cycle();
        let mut digits = pi::DIGITS.into_iter();
        let mut digit = || digits.next().unwrap_or_default();
        let mut word = || (0..4).fold(0, |word, _| word << 8 | bytes.next().map_or(0, |b| u32::from(*b)));
        let mut cipher = Self {
            rounds: std::array::from_fn(|_| digit() ^ word()),
            boxes: std::array::from_fn(|_| std::array::from_fn(|_| digit())),
        };
        let mut block = [0; 2];
        for i in 0..cipher.rounds.len() / 2 {
            block = cipher.encrypt(block);
            cipher.rounds[2 * i..][..2].copy_from_slice(&block);
        }
        for i in 0..cipher.boxes.len() * 128 {
            block = cipher.encrypt(block);
            cipher.boxes[i / 128][2 * (i % 128)..][..2].copy_from_slice(&block);
        }
        cipher
    }

    #[inline(always)]
    fn mix(&self, half: u32) -> u32 {
        let [a, b, c, d] = half.to_be_bytes().map(usize::from);
        let [first, second, third, fourth] = &self.boxes;
        (first[a].wrapping_add(second[b]) ^ third[c]).wrapping_add(fourth[d])
    }

    #[inline(always)]
    fn encrypt(&self, [mut left, mut right]: Block) -> Block {
        for pair in self.rounds[..16].as_chunks::<2>().0 {
            left ^= pair[0];
            right ^= self.mix(left) ^ pair[1];
            left ^= self.mix(right);
        }
        [right ^ self.rounds[17], left ^ self.rounds[16]]
    }

    fn decrypt(&self, [first, second]: Block) -> Block {
        let (mut left, mut right) = (second ^ self.rounds[16], first ^ self.rounds[17]);
        for pair in self.rounds[..16].as_chunks::<2>().0.iter().rev() {
            left ^= self.mix(right);
            right ^= self.mix(left) ^ pair[1];
            left ^= pair[0];
        }
        [left, right]
    }
}

#[cfg(test)]
mod tests;
