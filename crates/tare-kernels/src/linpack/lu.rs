//! dgefa and dgesl of LINPACK: LU factorisation with partial pivoting and
//! solution, by columns, one version of each per instruction set.
//!
//! As in the original, a step swaps elements in the columns to its right only:
//! multipliers stay where they were computed, and the factors are applied step
//! by step. Multipliers are stored negated.

use crate::clock;
use crate::isa::{mul_add, per_isa};
use std::ops::Range;

// Factors the matrix `a` of order `n`, stored by columns, in as many steps as
// there are pivots (n - 1 are all); stops before a step that would begin after
// the deadline. Returns the steps done.
per_isa!(pub fn dgefa(a: &mut [f64], n: usize, pivots: &mut [usize], deadline_ns: u64) -> usize = dgefa_body);

// The same for the steps of a range, all of them; those before it have been done.
per_isa!(pub fn eliminate(a: &mut [f64], n: usize, pivots: &mut [usize], steps: Range<usize>) = eliminate_body);

// Solves for the right side `b`, in place, with the factors of all steps.
per_isa!(pub fn dgesl(a: &[f64], n: usize, pivots: &[usize], b: &mut [f64]) = dgesl_body);

#[inline(always)]
fn dgefa_body<const LANES: usize>(a: &mut [f64], n: usize, pivots: &mut [usize], deadline_ns: u64) -> usize {
    for (k, pivot) in pivots.iter_mut().enumerate() {
        // Some 25 ns in a step of up to 1 ms.
        if clock::now_ns() >= deadline_ns {
            return k;
        }
        *pivot = step::<LANES>(a, n, k);
    }
    pivots.len()
}

#[inline(always)]
fn eliminate_body<const LANES: usize>(a: &mut [f64], n: usize, pivots: &mut [usize], steps: Range<usize>) {
    for k in steps {
        pivots[k] = step::<LANES>(a, n, k);
    }
}

/// Eliminates below the diagonal of column `k`. Returns the row of the pivot.
#[inline(always)]
fn step<const LANES: usize>(a: &mut [f64], n: usize, k: usize) -> usize {
    let (left, right) = a.split_at_mut((k + 1) * n);
    let column = &mut left[k * n..];
    let pivot = k + largest(&column[k..]);
    column.swap(pivot, k);
    let t = -1.0 / column[k];
    let below = &mut column[k + 1..];
    below.iter_mut().for_each(|x| *x *= t);
    for other in right.chunks_exact_mut(n) {
        other.swap(pivot, k);
        add_multiple::<LANES>(&mut other[k..], below);
    }
    pivot
}

#[inline(always)]
fn dgesl_body<const LANES: usize>(a: &[f64], n: usize, pivots: &[usize], b: &mut [f64]) {
    forward::<LANES>(a, n, pivots, b);
    for k in (0..n).rev() {
        let column = &a[k * n..][..=k];
        b[k] /= column[k];
        let t = -b[k];
        axpy::<LANES>(t, &column[..k], &mut b[..k]);
    }
}

/// Applies as many steps of the factorisation as there are pivots to `b`.
#[inline(always)]
pub fn forward<const LANES: usize>(a: &[f64], n: usize, pivots: &[usize], b: &mut [f64]) {
    for (k, pivot) in pivots.iter().enumerate() {
        b.swap(*pivot, k);
        add_multiple::<LANES>(&mut b[k..], &a[k * n..][k + 1..n]);
    }
}

/// Adds the first element of `y` times `x` to the elements after it.
#[inline(always)]
fn add_multiple<const LANES: usize>(y: &mut [f64], x: &[f64]) {
    if let Some((t, y)) = y.split_first_mut() {
        axpy::<LANES>(*t, x, y);
    }
}

/// daxpy: y = t x + y.
#[inline(always)]
fn axpy<const LANES: usize>(t: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = mul_add::<LANES>(t, *x, *y);
    }
}

/// idamax: the first position of the largest magnitude.
#[inline(always)]
fn largest(x: &[f64]) -> usize {
    let mut best = 0;
    let mut magnitude = x[0].abs();
    for (i, x) in x.iter().enumerate().skip(1) {
        if x.abs() > magnitude {
            best = i;
            magnitude = x.abs();
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa;

    #[test]
    fn a_small_system_is_solved_with_its_rows_swapped() {
        // 0 2 1        By columns. The first pivot is zero without a swap.
        // 4 1 0  x = (1, 2, 3)
        // 2 3 5
        let matrix = [0.0, 4.0, 2.0, 2.0, 1.0, 3.0, 1.0, 0.0, 5.0];
        for isa in isa::granted() {
            let (mut a, mut b, mut pivots) = (matrix, [7.0, 6.0, 23.0], [0; 2]);
            assert_eq!(dgefa(isa, &mut a, 3, &mut pivots, u64::MAX), 2);
            assert_eq!(pivots, [1, 2]);
            dgesl(isa, &a, 3, &pivots, &mut b);
            for (x, right) in b.iter().zip([1.0, 2.0, 3.0]) {
                assert!((x - right).abs() < 1e-14, "{b:?}");
            }
        }
    }

    #[test]
    fn the_first_of_equal_magnitudes_is_the_pivot() {
        assert_eq!(largest(&[1.0, -3.0, 3.0, 2.0]), 1);
        assert_eq!(largest(&[1.0]), 0);
    }

    #[test]
    fn no_step_begins_after_the_deadline() {
        let isa = isa::granted()[0];
        let mut a = [4.0, 1.0, 2.0, 3.0];
        assert_eq!(dgefa(isa, &mut a, 2, &mut [0], 0), 0);
        assert_eq!(a, [4.0, 1.0, 2.0, 3.0]);
    }
}
