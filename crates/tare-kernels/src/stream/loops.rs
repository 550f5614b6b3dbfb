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

/// A cache line at a time. Without the barrier the compiler would make the loop
/// a call of memcpy, and the C library's choice of stores would be measured.
#[inline(always)]
fn copy_body<const FUSED: bool>(to: &mut [f64], from: &[f64]) {
    let (to_lines, to_rest) = to.as_chunks_mut::<8>();
    let (from_lines, from_rest) = from.as_chunks::<8>();
    for (to, from) in to_lines.iter_mut().zip(from_lines) {
        *to = *from;
        // SAFETY: no instructions; to the compiler, it may touch any memory.
        unsafe { std::arch::asm!("", options(nostack, preserves_flags)) };
    }
    to_rest.copy_from_slice(from_rest);
}

#[inline(always)]
fn scale_body<const FUSED: bool>(to: &mut [f64], from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = SCALAR * from;
    }
}

#[inline(always)]
fn add_body<const FUSED: bool>(to: &mut [f64], x: &[f64], y: &[f64]) {
    for ((to, x), y) in to.iter_mut().zip(x).zip(y) {
        *to = x + y;
    }
}

#[inline(always)]
fn triad_body<const FUSED: bool>(to: &mut [f64], x: &[f64], y: &[f64]) {
    for ((to, x), y) in to.iter_mut().zip(x).zip(y) {
        *to = mul_add::<FUSED>(SCALAR, *y, *x);
    }
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
