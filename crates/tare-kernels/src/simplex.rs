//! `simplex`: a linear program by the simplex method on a dense tableau (Dantzig 1947): a
//! free stand-in for 450.soplex of SPEC CPU 2006, whose programs are sparse.
//!
//! Multiples of one row are taken from all others: sums and products of doubles over some
//! tens of KiB, between searches for the next column and row.

use crate::error::KernelError;
use crate::gate::{Sliced, timed_alone};
use crate::isa::{Granted, mul_add, per_isa};
use crate::random::Random;
use crate::report::{self, worse};
use crate::size;
use tare_wire::gate::Part;
use tare_wire::kernel::{Check, KernelSpec};

/// Largest relative error of the optimum. Sound runs give about 1e-14.
const ERROR_BOUND: f64 = 1e-9;

/// What is no longer told from 0: entries begin as whole numbers.
const NOTHING: f64 = 1e-9;

/// Steps for each row after which it is given up, as going round in circles.
const STEPS_PER_ROW: usize = 100;

/// The kernel, of which a unit is a program solved.
pub struct Slices {
    isa: Granted,
    program: Program,
    tableau: Tableau,
    worst_error: f64,
}

impl Slices {
    /// # Errors
    /// [`KernelError::Size`] for a program too small or too large.
    pub fn new(spec: &KernelSpec, isa: Granted) -> Result<Self, KernelError> {
        let program = Program::new(size::count(spec)?, &mut Random::new(1));
        Ok(Self {
            isa,
            tableau: program.tableau.clone(),
            program,
            worst_error: 0.0,
        })
    }
}

impl Sliced for Slices {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        let optimum = self.program.optimum;
        let error = timed_alone(parts, units as f64, || {
            let mut worst: f64 = 0.0;
            for _ in 0..units {
                self.tableau.clone_from(&self.program.tableau);
                let found = solve(self.isa, &mut self.tableau);
                worst = worse(worst, (found / optimum - 1.0).abs());
            }
            worst
        });
        self.worst_error = worse(self.worst_error, error);
        Ok(())
    }

    fn check(&mut self) -> Check {
        report::check("relative error of the optimum", self.worst_error, ERROR_BOUND)
    }
}

/// Rows of `width` numbers. Each is a bound: its columns, then what is left of it; the
/// last one is the gain of each column, then the gain so far with its sign turned.
struct Tableau {
    width: usize,
    numbers: Vec<f64>,
}

impl Clone for Tableau {
    fn clone(&self) -> Self {
        Self {
            width: self.width,
            numbers: self.numbers.clone(),
        }
    }

    /// Into the same memory.
    fn clone_from(&mut self, other: &Self) {
        self.width = other.width;
        self.numbers.clone_from(&other.numbers);
    }
}

/// The largest c x with A x <= b and x >= 0, which is known.
struct Program {
    tableau: Tableau,
    optimum: f64,
}

impl Program {
    /// As many bounds as unknowns. Unknowns and prices are chosen first, half of each 0,
    /// and b and c made so that they are complementary: they are then the optimum of the
    /// program and of its dual. All numbers are whole, and A and b are not negative, so
    /// that x = 0 is where to begin.
    fn new(order: usize, random: &mut Random) -> Self {
        let mut draw = |_| f64::from(1 + random.below(9));
        let entries: Vec<f64> = (0..order * order).map(&mut draw).collect();
        let mut half = |i: usize| if i.is_multiple_of(2) { draw(i) } else { 0.0 };
        let unknowns: Vec<f64> = (0..order).map(&mut half).collect();
        let prices: Vec<f64> = (0..order).map(&mut half).collect();
        let slack = |at: f64, draw: f64| if at == 0.0 { draw } else { 0.0 };

        let mut numbers = Vec::with_capacity((order + 1) * (order + 1));
        let mut gains = vec![0.0; order];
        for (row, price) in entries.chunks_exact(order).zip(&prices) {
            let used: f64 = row.iter().zip(&unknowns).map(|(a, x)| a * x).sum();
            numbers.extend(row);
            numbers.push(used + slack(*price, draw(0)));
            for (gain, entry) in gains.iter_mut().zip(row) {
                *gain += price * entry;
            }
        }
        for (gain, unknown) in gains.iter_mut().zip(&unknowns) {
            *gain -= slack(*unknown, draw(0));
        }
        let optimum = gains.iter().zip(&unknowns).map(|(c, x)| c * x).sum();
        numbers.extend(gains);
        numbers.push(0.0);
        let width = order + 1;
        Self {
            tableau: Tableau { width, numbers },
            optimum,
        }
    }
}

per_isa!(fn solve(tableau: &mut Tableau) -> f64 = solve_body);

/// The gain at the optimum; NaN if it is not reached.
#[inline(always)]
fn solve_body<const LANES: usize>(tableau: &mut Tableau) -> f64 {
    let width = tableau.width;
    for _ in 0..STEPS_PER_ROW * width {
        let gains = &tableau.numbers[tableau.numbers.len() - width..];
        let Some(column) = entering(&gains[..width - 1]) else {
            return -gains[width - 1];
        };
        let Some(row) = leaving(tableau, column) else {
            return f64::NAN;
        };
        exchange::<LANES>(tableau, row, column);
    }
    f64::NAN
}

/// The column of the largest gain, if there is one.
#[inline(always)]
fn entering(gains: &[f64]) -> Option<usize> {
    let (mut found, mut most) = (None, NOTHING);
    for (column, gain) in gains.iter().enumerate() {
        if *gain > most {
            (found, most) = (Some(column), *gain);
        }
    }
    found
}

/// The row that bounds a column most, if one does.
#[inline(always)]
fn leaving(tableau: &Tableau, column: usize) -> Option<usize> {
    let (mut found, mut least) = (None, f64::INFINITY);
    let rows = tableau.numbers.chunks_exact(tableau.width);
    for (i, row) in rows.enumerate().take(tableau.width - 1) {
        let (entry, left) = (row[column], row[tableau.width - 1]);
        if entry > NOTHING && left < least * entry {
            (found, least) = (Some(i), left / entry);
        }
    }
    found
}

/// The unknown of the column and that of the row change places.
#[inline(always)]
fn exchange<const LANES: usize>(tableau: &mut Tableau, row: usize, column: usize) {
    let width = tableau.width;
    let (above, rest) = tableau.numbers.split_at_mut(row * width);
    let (pivot, below) = rest.split_at_mut(width);
    let inverse = 1.0 / pivot[column];
    pivot.iter_mut().for_each(|number| *number *= inverse);
    pivot[column] = inverse;
    for other in above.chunks_exact_mut(width).chain(below.chunks_exact_mut(width)) {
        let factor = -other[column];
        other[column] = 0.0;
        for (to, from) in other.iter_mut().zip(&*pivot) {
            *to = mul_add::<LANES>(factor, *from, *to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa;
    use tare_wire::kernel::{Isa, Kernel};

    #[test]
    fn every_level_reaches_an_optimum_from_a_textbook() {
        // Largest 3 x + 5 y with x <= 4, 2 y <= 12, 3 x + 2 y <= 18 is 36 (Hillier and
        // Lieberman, Wyndor Glass), with a third unknown that gains nothing.
        let numbers = vec![
            1.0, 0.0, 1.0, 4.0, 0.0, 2.0, 1.0, 12.0, 3.0, 2.0, 1.0, 18.0, 3.0, 5.0, 0.0, 0.0,
        ];
        for isa in isa::granted() {
            let numbers = numbers.clone();
            let mut tableau = Tableau { width: 4, numbers };
            assert!((solve(isa, &mut tableau) - 36.0).abs() < 1e-12);
        }
    }

    #[test]
    fn programs_of_any_order_have_the_optimum_that_they_were_made_with() {
        for isa in isa::granted() {
            for order in [2, 3, 10, 40, 101] {
                for seed in 0..5 {
                    let mut program = Program::new(order, &mut Random::new(seed));
                    let found = solve(isa, &mut program.tableau);
                    let error = (found / program.optimum - 1.0).abs();
                    assert!(error < ERROR_BOUND, "{order}: {error}");
                }
            }
        }
    }

    #[test]
    fn another_program_is_noticed() {
        let spec = KernelSpec {
            kernel: Kernel::Simplex,
            isa: Isa::Baseline,
            threads: 1,
            size: 40,
            seconds: 0.05,
        };
        let mut slices = Slices::new(&spec, isa::granted()[0]).unwrap();
        let mut parts = [Part::from((0.0, 0, 0))];
        slices.work(3, &mut parts).unwrap();
        assert!(slices.check().passed(), "{:?}", slices.check());
        slices.program.optimum *= 1.0 + 1e-6;
        slices.work(1, &mut parts).unwrap();
        assert_eq!(parts[0].work, 4.0);
        assert!(!slices.check().passed());
    }
}
