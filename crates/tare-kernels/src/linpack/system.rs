//! The linear system, its solution and its known answer.

use super::lu;
use super::matrix::Columns;
use crate::clock;
use crate::error::KernelError;
use crate::isa::Granted;
use crate::memory::Mapping;
use crate::report::worse;
use std::ops::Range;

/// A system A x = b, where b is A times a vector of ones.
pub struct System {
    order: usize,
    isa: Granted,
    /// A by columns; once solved, its factors.
    pub(super) matrix: Mapping,
    pivots: Vec<usize>,
    /// The right side: sums of the rows of A.
    sums: Vec<f64>,
    /// Sums of the magnitudes in the rows of A.
    magnitudes: Vec<f64>,
    /// The right side; once solved, the solution.
    x: Vec<f64>,
}

/// One timed solution, or as much of one as there was time for.
#[derive(Debug, Clone, Copy)]
pub struct Solution {
    pub start_ns: u64,
    pub end_ns: u64,
    /// Steps of the elimination.
    pub steps: usize,
    /// Whether the system was solved.
    pub whole: bool,
}

impl Solution {
    pub fn seconds(&self) -> f64 {
        // A clock too coarse to see it must not make the rate infinite.
        clock::seconds((self.end_ns - self.start_ns).max(1))
    }
}

impl System {
    pub fn new(order: usize, isa: Granted) -> Result<Self, KernelError> {
        Ok(Self {
            order,
            isa,
            matrix: Mapping::new(order * order)?,
            pivots: vec![0; order - 1],
            sums: vec![0.0; order],
            magnitudes: vec![0.0; order],
            x: vec![0.0; order],
        })
    }

    /// Makes A and b, to be solved; `false` if the deadline passed before all columns were made.
    pub fn generate(&mut self, deadline_ns: u64) -> bool {
        self.sums.fill(0.0);
        self.magnitudes.fill(0.0);
        let mut columns = Columns::new(self.order);
        for column in self.matrix.as_mut_slice().chunks_exact_mut(self.order) {
            if clock::now_ns() >= deadline_ns {
                return false;
            }
            columns.next_column(|row, a| {
                column[row] = a;
                self.sums[row] += a;
                self.magnitudes[row] += a.abs();
            });
        }
        self.x.copy_from_slice(&self.sums);
        true
    }

    /// Factors A and solves for b, timed; stops at the first step of the
    /// elimination that would begin after the deadline.
    pub fn solve(&mut self, deadline_ns: u64) -> Solution {
        let a = self.matrix.as_mut_slice();
        let start_ns = clock::now_ns();
        let steps = lu::dgefa(self.isa, a, self.order, &mut self.pivots, deadline_ns);
        let whole = steps == self.pivots.len();
        if whole {
            lu::dgesl(self.isa, a, self.order, &self.pivots, &mut self.x);
        }
        let end_ns = clock::now_ns();
        Solution {
            start_ns,
            end_ns,
            steps,
            whole,
        }
    }

    /// Does these steps of the elimination, before which only those before them were
    /// done, and solves for b once all are done.
    pub fn advance(&mut self, steps: Range<usize>) {
        let (a, end) = (self.matrix.as_mut_slice(), steps.end);
        lu::eliminate(self.isa, a, self.order, &mut self.pivots, steps);
        if end == self.pivots.len() {
            lu::dgesl(self.isa, a, self.order, &self.pivots, &mut self.x);
        }
    }

    /// Steps of the whole elimination.
    pub fn steps(&self) -> usize {
        self.pivots.len()
    }

    /// Floating-point operations of a solution as LINPACK counts them.
    pub fn flops(&self) -> f64 {
        let n = self.order as f64;
        2.0 * n.powi(3) / 3.0 + self.flops_of_solving()
    }

    /// Of those, what is not elimination: 2 n^2.
    pub fn flops_of_solving(&self) -> f64 {
        2.0 * (self.order as f64).powi(2)
    }

    /// Floating-point operations of the first steps of the elimination.
    pub fn flops_of_steps(&self, steps: usize) -> f64 {
        (0..steps).map(|step| self.flops_of_step(step)).sum()
    }

    /// Floating-point operations of a step, counted from 0: with m rows left below
    /// the pivot, it scales m multipliers and updates m columns by m multiplications
    /// and m additions, m + 2 m^2 in all.
    pub fn flops_of_step(&self, step: usize) -> f64 {
        let m = (self.order - 1 - step) as f64;
        m + 2.0 * m * m
    }

    /// HPL's scaled residual of the solution,
    /// |A x - b| / (eps n (|A| |x| + |b|)), all norms the largest ones: free of
    /// the growth with n that LINPACK's own figure has.
    pub fn residual(&self) -> f64 {
        let mut rest = self.sums.clone();
        let mut columns = Columns::new(self.order);
        for x in &self.x {
            columns.next_column(|row, a| rest[row] -= a * x);
        }
        self.scaled(largest(&rest), largest(&self.x))
    }

    /// The same figure for factors of some steps only. By its row operations the
    /// elimination turns A into U, of which the first `steps` columns are done,
    /// and b = A 1 into a vector that must be U 1: the sums of U's rows. A wrong
    /// multiplier would leave what it should have eliminated out of the sum.
    pub fn partial_residual(&self, steps: usize) -> f64 {
        let n = self.order;
        let a = self.matrix.as_slice();
        let mut rest = self.sums.clone();
        lu::forward::<2>(a, n, &self.pivots[..steps], &mut rest);
        for (j, column) in a.chunks_exact(n).enumerate() {
            // Below the diagonal of the columns done, multipliers are stored.
            let rows = if j < steps { j + 1 } else { n };
            for (rest, u) in rest.iter_mut().zip(&column[..rows]) {
                *rest -= u;
            }
        }
        self.scaled(largest(&rest), 1.0)
    }

    fn scaled(&self, residual: f64, largest_x: f64) -> f64 {
        let size = largest(&self.magnitudes) * largest_x + largest(&self.sums);
        residual / (f64::EPSILON * self.order as f64 * size)
    }
}

/// The largest magnitude; NaN if there is one.
fn largest(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x.abs()).fold(0.0, worse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa;

    const BOUND: f64 = 0.1;

    fn system(order: usize, isa: Granted) -> System {
        let mut system = System::new(order, isa).unwrap();
        assert!(system.generate(u64::MAX));
        system
    }

    /// A system whose elimination was stopped after so many steps.
    fn stopped(order: usize, steps: usize, isa: Granted) -> System {
        let mut system = system(order, isa);
        let a = system.matrix.as_mut_slice();
        lu::dgefa(isa, a, order, &mut system.pivots[..steps], u64::MAX);
        system
    }

    #[test]
    fn residuals_of_sound_solutions_are_small_at_any_order() {
        for isa in isa::granted() {
            for order in [50, 100, 127, 256, 500, 1000] {
                let mut system = system(order, isa);
                assert!(system.solve(u64::MAX).whole);
                let residual = system.residual();
                assert!(residual < BOUND, "{order}: {residual}");
            }
        }
    }

    #[test]
    fn residuals_of_sound_partial_factors_are_small_after_any_step() {
        for isa in isa::granted() {
            for steps in [0, 1, 7, 100, 150, 199] {
                let residual = stopped(200, steps, isa).partial_residual(steps);
                assert!(residual < BOUND, "{steps}: {residual}");
            }
        }
    }

    #[test]
    fn a_wrong_solution_is_noticed() {
        let mut system = system(200, isa::granted()[0]);
        system.solve(u64::MAX);
        for bad in [1.0 + 1e-6, f64::NAN] {
            let right = std::mem::replace(&mut system.x[50], bad);
            let residual = system.residual();
            assert!(residual.is_nan() || residual > 16.0, "{bad}: {residual}");
            system.x[50] = right;
        }
    }

    #[test]
    fn a_damaged_factor_is_noticed() {
        let (order, steps) = (200, 60);
        let isa = isa::granted()[0];
        // An element of U, a multiplier, and one not yet eliminated.
        for (row, column) in [(3, 10), (59, 59), (120, 10), (199, 59), (150, 150)] {
            let mut system = stopped(order, steps, isa);
            system.matrix.as_mut_slice()[column * order + row] *= 1.0 + 1e-6;
            let residual = system.partial_residual(steps);
            assert!(residual > 16.0, "({row}, {column}): {residual}");
        }
    }

    #[test]
    fn a_wrong_pivot_or_an_elimination_not_done_is_noticed() {
        let isa = isa::granted()[0];
        let mut system = stopped(200, 60, isa);
        system.pivots[20] = if system.pivots[20] == 30 { 31 } else { 30 };
        assert!(system.partial_residual(60) > 16.0);
        assert!(stopped(200, 59, isa).partial_residual(60) > 16.0);
    }

    #[test]
    fn the_steps_together_are_the_elimination() {
        let system = system(1000, isa::granted()[0]);
        let steps = system.flops_of_steps(999);
        assert_eq!(steps, 2e9 / 3.0 - 1e6 / 2.0 - 1000.0 / 6.0);
        assert!((steps / system.flops() - 1.0).abs() < 0.01);
    }

    #[test]
    fn generating_ends_with_its_deadline() {
        assert!(!System::new(100, isa::granted()[0]).unwrap().generate(0));
    }
}
