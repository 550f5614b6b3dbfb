//! SHA-1, block by block, as FIPS 180-4 has it.

use super::{BLOCK, words};

/// The state before the first block.
pub const START: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];

/// The state after one more block.
#[inline(always)]
pub fn step(state: [u32; 5], block: &[u8; BLOCK]) -> [u32; 5] {
    let schedule = schedule(block);
    let mut now = state;
    let (rounds, _) = schedule.as_chunks::<5>();
    for words in &rounds[..4] {
        five(&mut now, words, 0x5a82_7999, |x, y, z| z ^ (x & (y ^ z)));
    }
    for words in &rounds[4..8] {
        five(&mut now, words, 0x6ed9_eba1, |x, y, z| x ^ y ^ z);
    }
    for words in &rounds[8..12] {
        five(&mut now, words, 0x8f1b_bcdc, |x, y, z| (x & y) | (z & (x | y)));
    }
    for words in &rounds[12..] {
        five(&mut now, words, 0xca62_c1d6, |x, y, z| x ^ y ^ z);
    }
    std::array::from_fn(|i| state[i].wrapping_add(now[i]))
}

#[inline(always)]
fn schedule(block: &[u8; BLOCK]) -> [u32; 80] {
    let mut schedule = [0; 80];
    schedule[..16].copy_from_slice(&words(block, u32::from_be_bytes));
    for i in 16..80 {
        let mixed = schedule[i - 3] ^ schedule[i - 8] ^ schedule[i - 14] ^ schedule[i - 16];
        schedule[i] = mixed.rotate_left(1);
    }
    schedule
}

/// Five rounds, after which every part of the state is in its place again.
#[inline(always)]
fn five(now: &mut [u32; 5], words: &[u32; 5], constant: u32, mix: impl Fn(u32, u32, u32) -> u32) {
    let [mut a, mut b, mut c, mut d, mut e] = *now;
    let round = |a: u32, mixed: u32, e: u32, i: usize| {
        let sum = e.wrapping_add(words[i]).wrapping_add(constant);
        a.rotate_left(5).wrapping_add(mixed).wrapping_add(sum)
    };
    e = round(a, mix(b, c, d), e, 0);
    b = b.rotate_left(30);
    d = round(e, mix(a, b, c), d, 1);
    a = a.rotate_left(30);
    c = round(d, mix(e, a, b), c, 2);
    e = e.rotate_left(30);
    b = round(c, mix(d, e, a), b, 3);
    d = d.rotate_left(30);
    a = round(b, mix(c, d, e), a, 4);
    c = c.rotate_left(30);
    *now = [a, b, c, d, e];
}
