//! Against Eric Young's test vectors, and the tables against pi.

use super::*;
use crate::isa;
use tare_wire::kernel::{Isa, Kernel};

fn slices(isa: Granted) -> Slices {
    let spec = KernelSpec {
        kernel: Kernel::Blowfish,
        isa: Isa::Baseline,
        threads: 1,
        size: 4096,
        seconds: 0.05,
    };
    Slices::new(&spec, isa).unwrap()
}

fn halves(block: u64) -> Block {
    [block >> 32, block & 0xFFFF_FFFF].map(|half| u32::try_from(half).unwrap())
}

#[test]
fn published_vectors_are_met() {
    // Key, plain and encrypted, from the cipher's own page.
    let vectors: [(u64, u64, u64); 6] = [
        (0, 0, 0x4EF9_9745_6198_DD78),
        (u64::MAX, u64::MAX, 0x5186_6FD5_B85E_CB8A),
        (
            0x3000_0000_0000_0000,
            0x1000_0000_0000_0001,
            0x7D85_6F9A_6130_63F2,
        ),
        (
            0x1111_1111_1111_1111,
            0x1111_1111_1111_1111,
            0x2466_DD87_8B96_3C9D,
        ),
        (
            0x0123_4567_89AB_CDEF,
            0x1111_1111_1111_1111,
            0x61F9_C380_2281_B096,
        ),
        (
            0xFEDC_BA98_7654_3210,
            0x0123_4567_89AB_CDEF,
            0x0ACE_AB0F_C6A0_A28D,
        ),
    ];
    for (key, plain, encrypted) in vectors {
        let cipher = Cipher::new(&key.to_be_bytes());
        assert_eq!(cipher.encrypt(halves(plain)), halves(encrypted), "{key:x}");
        assert_eq!(cipher.decrypt(halves(encrypted)), halves(plain), "{key:x}");
    }
}

/// arctan(1/x) in words of 32 bits after the point, the first of them whole.
fn arctan(x: u64, words: usize) -> Vec<u64> {
    let divide = |number: &mut [u64], by: u64| {
        let mut rest = 0;
        for word in number.iter_mut() {
            let all = (rest << 32) + *word;
            (*word, rest) = (all / by, all % by);
        }
    };
    let mut power = vec![0; words];
    power[0] = 1;
    divide(&mut power, x);
    let mut sum = power.clone();
    for n in 1.. {
        divide(&mut power, x * x);
        if power.iter().all(|word| *word == 0) {
            return sum;
        }
        let mut term = power.clone();
        divide(&mut term, 2 * n + 1);
        add(&mut sum, &term, if n % 2 == 0 { 1 } else { -1 });
    }
    sum
}

/// Adds `factor` times a number.
fn add(sum: &mut [u64], number: &[u64], factor: i64) {
    let mut carry = 0_i64;
    for (to, from) in sum.iter_mut().zip(number).rev() {
        let all = to.cast_signed() + factor * from.cast_signed() + carry;
        *to = all.rem_euclid(1 << 32).cast_unsigned();
        carry = all.div_euclid(1 << 32);
    }
}

#[test]
fn the_tables_are_the_digits_of_pi() {
    // Machin: pi = 16 arctan(1/5) - 4 arctan(1/239). Three words more than are compared.
    let words = 1 + pi::DIGITS.len() + 3;
    let mut sum = vec![0; words];
    add(&mut sum, &arctan(5, words), 16);
    add(&mut sum, &arctan(239, words), -4);
    assert_eq!(sum[0], 3);
    for (found, right) in pi::DIGITS.iter().zip(&sum[1..]) {
        assert_eq!(u64::from(*found), *right);
    }
}

#[test]
fn every_level_encrypts_what_decrypts_again() {
    for isa in isa::granted() {
        let mut slices = slices(isa);
        let mut parts = [Part::from((0.0, 0, 0))];
        slices.work(3, &mut parts).unwrap();
        assert_eq!(parts[0].work, 3.0 * 4096.0);
        assert!(slices.check().passed(), "{:?}", slices.check());
        assert!(published_is_right(isa));
    }
}

#[test]
fn blocks_that_were_not_encrypted_are_counted() {
    let mut slices = slices(isa::granted()[0]);
    let mut parts = [Part::from((0.0, 0, 0))];
    slices.work(0, &mut parts).unwrap();
    assert_eq!(slices.check().found, 512.0);
}
