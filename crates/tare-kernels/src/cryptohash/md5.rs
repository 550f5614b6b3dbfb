//! MD5, block by block, as RFC 1321 has it.

use super::{BLOCK, words};

/// The state before the first block.
pub const START: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];

/// 2^32 |sin(i + 1)|, whole.
#[rustfmt::skip]
const SINES: [u32; 64] = [
    0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
    0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
    0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
    0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
    0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
    0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
    0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
    0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
];

/// The state after one more block.
#[inline(always)]
pub fn step(state: [u32; 4], block: &[u8; BLOCK]) -> [u32; 4] {
    let words = words(block, u32::from_le_bytes);
    let mut now = state;
    for i in (0..16).step_by(4) {
        let mix = |x: u32, y: u32, z: u32| z ^ (x & (y ^ z));
        four(
            &mut now,
            &words,
            [i, i + 1, i + 2, i + 3],
            i,
            [7, 12, 17, 22],
            mix,
        );
    }
    for i in (0..16).step_by(4) {
        let mix = |x: u32, y: u32, z: u32| y ^ (z & (x ^ y));
        let at = [5 * i + 1, 5 * i + 6, 5 * i + 11, 5 * i + 16];
        four(&mut now, &words, at, 16 + i, [5, 9, 14, 20], mix);
    }
    for i in (0..16).step_by(4) {
        let mix = |x: u32, y: u32, z: u32| x ^ y ^ z;
        let at = [3 * i + 5, 3 * i + 8, 3 * i + 11, 3 * i + 14];
        four(&mut now, &words, at, 32 + i, [4, 11, 16, 23], mix);
    }
    for i in (0..16).step_by(4) {
        let mix = |x: u32, y: u32, z: u32| y ^ (x | !z);
        let at = [7 * i, 7 * i + 7, 7 * i + 14, 7 * i + 21];
        four(&mut now, &words, at, 48 + i, [6, 10, 15, 21], mix);
    }
    std::array::from_fn(|i| state[i].wrapping_add(now[i]))
}

/// Four operations, after which every part of the state has been replaced once: `at` are
/// the words that they take, modulo 16, `sine` the number of the first one's constant.
#[inline(always)]
fn four(
    now: &mut [u32; 4],
    words: &[u32; 16],
    at: [usize; 4],
    sine: usize,
    turns: [u32; 4],
    mix: impl Fn(u32, u32, u32) -> u32,
) {
    let [mut a, mut b, mut c, mut d] = *now;
    let sum = |x: u32, mixed: u32, i: usize| {
        let word = words[at[i] % 16].wrapping_add(SINES[(sine + i) % 64]);
        x.wrapping_add(mixed).wrapping_add(word).rotate_left(turns[i])
    };
    a = sum(a, mix(b, c, d), 0).wrapping_add(b);
    d = sum(d, mix(a, b, c), 1).wrapping_add(a);
    c = sum(c, mix(d, a, b), 2).wrapping_add(d);
    b = sum(b, mix(c, d, a), 3).wrapping_add(c);
    *now = [a, b, c, d];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constants_are_sines() {
        for (i, sine) in SINES.iter().enumerate() {
            let right = (i as f64 + 1.0).sin().abs() * 2_f64.powi(32);
            assert_eq!(f64::from(*sine), right.floor());
        }
    }
}
