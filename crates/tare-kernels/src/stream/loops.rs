//! The four loops, one version of each per instruction set.

use crate::isa::{Granted, mul_add, per_isa};

/// STREAM's scalar is 3, with which values grow 15-fold in each pass and
/// overflow after some 260. This one solves s + s (1 + s) = 1: they stay as they are.
pub const SCALAR: f64 = std::f64::consts::SQRT_2 - 1.0;

/// One of the four loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loop {
    /// c = a
    Copy,
    /// b = s c
    Scale,
    /// c = a + b
    Add,
    /// a = b + s c
    Triad,
}

impl Loop {
    /// In the order of a pass.
    pub const ALL: [Self; 4] = [Self::Copy, Self::Scale, Self::Add, Self::Triad];

    /// Name of the metric.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Scale => "scale",
            Self::Add => "add",
            Self::Triad => "triad",
        }
    }

    /// Bytes per element as STREAM counts them.
    pub const fn bytes(self) -> f64 {
        match self {
            Self::Copy | Self::Scale => 16.0,
            Self::Add | Self::Triad => 24.0,
        }
    }

    /// Goes once over the arrays.
    pub fn run(self, isa: Granted, a: &mut [f64], b: &mut [f64], c: &mut [f64]) {
        match self {
            Self::Copy => copy(isa, c, a),
            Self::Scale => scale(isa, b, c),
            Self::Add => add(isa, c, a, b),
            Self::Triad => triad(isa, a, b, c),
        }
    }
}

per_isa!(fn copy(to: &mut [f64], from: &[f64]) = copy_body);
per_isa!(fn scale(to: &mut [f64], from: &[f64]) = scale_body);
per_isa!(fn add(to: &mut [f64], x: &[f64], y: &[f64]) = add_body);
per_isa!(fn triad(to: &mut [f64], x: &[f64], y: &[f64]) = triad_body);

#[inline(always)]
fn copy_body<const LANES: usize>(to: &mut [f64], from: &[f64]) {
    map::<LANES>(to, from, |x| x);
}

#[inline(always)]
fn scale_body<const LANES: usize>(to: &mut [f64], from: &[f64]) {
    map::<LANES>(to, from, |x| SCALAR * x);
}

#[inline(always)]
fn add_body<const LANES: usize>(to: &mut [f64], x: &[f64], y: &[f64]) {
    zip::<LANES>(to, x, y, |x, y| x + y);
}

#[inline(always)]
fn triad_body<const LANES: usize>(to: &mut [f64], x: &[f64], y: &[f64]) {
    zip::<LANES>(to, x, y, |x, y| mul_add::<LANES>(SCALAR, y, x));
}

#[inline(always)]
fn map<const LANES: usize>(to: &mut [f64], x: &[f64], f: impl Fn(f64) -> f64) {
    let (to, to_rest) = to.as_chunks_mut::<LANES>();
    let (x, x_rest) = x.as_chunks::<LANES>();
    for (to, x) in to.iter_mut().zip(x) {
        for (to, x) in to.iter_mut().zip(x) {
            *to = f(*x);
        }
        one_vector_at_a_time();
    }
    for (to, x) in to_rest.iter_mut().zip(x_rest) {
        *to = f(*x);
    }
}

#[inline(always)]
fn zip<const LANES: usize>(to: &mut [f64], x: &[f64], y: &[f64], f: impl Fn(f64, f64) -> f64) {
    let (to, to_rest) = to.as_chunks_mut::<LANES>();
    let (x, x_rest) = x.as_chunks::<LANES>();
    let (y, y_rest) = y.as_chunks::<LANES>();
    for ((to, x), y) in to.iter_mut().zip(x).zip(y) {
        for ((to, x), y) in to.iter_mut().zip(x).zip(y) {
            *to = f(*x, *y);
        }
        one_vector_at_a_time();
    }
    for ((to, x), y) in to_rest.iter_mut().zip(x_rest).zip(y_rest) {
        *to = f(*x, *y);
    }
}

/// Keeps a loop what its source says. Without it the compiler would make the
/// copy a call of memcpy, and the C library's choice of stores would be measured;
/// and it would take four vectors at a time, which gcc does not: with AVX2 that
/// was found to cost up to 6 % of the rate.
#[inline(always)]
fn one_vector_at_a_time() {
    // SAFETY: no instructions. To the compiler, it may touch any memory.
    unsafe { std::arch::asm!("", options(nostack, preserves_flags)) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa;

    #[test]
    fn loops_do_what_their_formulas_say() {
        for isa in isa::granted() {
            // Not a multiple of a cache line.
            let (mut a, mut b, mut c) = (vec![1.0; 21], vec![2.0; 21], vec![0.0; 21]);
            let mut run = |l: Loop| {
                l.run(isa, &mut a, &mut b, &mut c);
                (a[20], b[20], c[20])
            };
            assert_eq!(run(Loop::Copy), (1.0, 2.0, 1.0));
            assert_eq!(run(Loop::Scale), (1.0, SCALAR, 1.0));
            assert_eq!(run(Loop::Add), (1.0, SCALAR, 1.0 + SCALAR));
            let (a, ..) = run(Loop::Triad);
            assert!((a - 1.0).abs() < 1e-15, "{a}");
        }
    }
}
