//! `nqueens`: counts all ways to place n queens on a board of n by n so that none takes
//! another, row by row, going back where there is no place.
//!
//! Short loops that end early: branches that a CPU guesses wrong, on data in its
//! nearest cache.

use crate::error::KernelError;
use crate::gate::{Sliced, timed_alone};
use crate::isa::{Granted, per_isa};
use crate::report;
use crate::size;
use std::hint::black_box;
use tare_wire::gate::Part;
use tare_wire::kernel::{Check, KernelSpec};

/// Of 0 queens and so on: sequence A000170 of the encyclopedia of integer sequences.
const WAYS: [u64; 15] = [
    1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365_596,
];

/// Rows of memory for the board: a power of two, so that a row is found by a mask.
const ROWS: usize = 16;

/// The kernel, of which a unit is the count of all ways.
pub struct Slices {
    isa: Granted,
    queens: i32,
    right: u64,
    wrong: u64,
}

impl Slices {
    /// # Errors
    /// [`KernelError::Size`] for a number of queens out of bounds.
    pub fn new(spec: &KernelSpec, isa: Granted) -> Result<Self, KernelError> {
        let right = WAYS.get(size::count(spec)?);
        let right = *right.ok_or_else(|| size::refused(spec))?;
        let queens = i32::try_from(spec.size).map_err(|_| size::refused(spec))?;
        Ok(Self {
            isa,
            queens,
            right,
            wrong: 0,
        })
    }
}

impl Sliced for Slices {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        self.wrong += timed_alone(parts, units as f64, || {
            let wrong = |_: &u64| ways(self.isa, black_box(self.queens)) != self.right;
            (0..units).filter(wrong).count() as u64
        });
        Ok(())
    }

    fn check(&mut self) -> Check {
        report::check("counts of ways that are others", self.wrong as f64, 0.0)
    }
}

per_isa!(fn ways(queens: i32) -> u64 = ways_body);

/// The column of the queen in each row; the row that is tried goes up and down.
#[inline(always)]
#[expect(clippy::cast_sign_loss, reason = "there is a queen at least")]
fn ways_body<const LANES: usize>(queens: i32) -> u64 {
    let mut columns = [0; ROWS];
    let last = (queens - 1) as usize;
    let (mut row, mut column, mut found) = (0, 0, 0);
    loop {
        while column < queens && !is_safe(&columns[..row % ROWS], column) {
            column += 1;
        }
        if column == queens {
            if row == 0 {
                return found;
            }
            row -= 1;
            column = columns[row % ROWS] + 1;
        } else if row < last {
            columns[row % ROWS] = column;
            row += 1;
            column = 0;
        } else {
            found += 1;
            column += 1;
        }
    }
}

/// Whether no queen of an earlier row stands in this column or on its diagonals.
#[inline(always)]
fn is_safe(earlier: &[i32], column: i32) -> bool {
    let (mut left, mut right) = (column, column);
    for queen in earlier.iter().rev() {
        left -= 1;
        right += 1;
        if *queen == column || *queen == left || *queen == right {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa;
    use tare_wire::kernel::{Isa, Kernel};

    #[test]
    fn every_level_finds_all_ways() {
        for isa in isa::granted() {
            for (queens, right) in (1..=11).zip(&WAYS[1..]) {
                assert_eq!(ways(isa, queens), *right, "{queens}");
            }
        }
    }

    #[test]
    fn wrong_counts_are_told_and_boards_without_an_answer_refused() {
        let spec = |size| KernelSpec {
            kernel: Kernel::Nqueens,
            isa: Isa::Baseline,
            threads: 1,
            size,
            seconds: 0.05,
        };
        let isa = isa::granted()[0];
        let mut slices = Slices::new(&spec(8), isa).unwrap();
        let mut parts = [Part::from((0.0, 0, 0))];
        slices.work(2, &mut parts).unwrap();
        assert_eq!((slices.right, slices.check().found), (92, 0.0));
        slices.queens = 7;
        slices.work(1, &mut parts).unwrap();
        assert_eq!((parts[0].work, slices.check().found), (3.0, 1.0));
        for size in [0, 3, 15, u64::MAX] {
            assert!(Slices::new(&spec(size), isa).is_err(), "{size}");
        }
    }
}
