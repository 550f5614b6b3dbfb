//! `fibonacci`: a Fibonacci number by two calls for each, as its definition has it.
//!
//! Nothing but calls, returns and the stack in the nearest cache. Its code is the same
//! at every level: calls and sums of whole numbers have no better instructions.

use crate::error::KernelError;
use crate::gate::{Sliced, timed_alone};
use crate::opaque::opaque;
use crate::report;
use crate::size;
use tare_wire::gate::Part;
use tare_wire::kernel::{Check, KernelSpec};

/// The kernel, of which a unit is the whole number.
pub struct Slices {
    n: u64,
    right: u64,
    wrong: u64,
}

impl Slices {
    /// # Errors
    /// [`KernelError::Size`] for a number out of bounds.
    pub fn new(spec: &KernelSpec) -> Result<Self, KernelError> {
        let n = size::check(spec)?;
        Ok(Self {
            n,
            right: by_sums(n),
            wrong: 0,
        })
    }
}

impl Sliced for Slices {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        self.wrong += timed_alone(parts, units as f64, || {
            let wrong = |_: &u64| fibonacci(opaque(self.n)) != self.right;
            (0..units).filter(wrong).count() as u64
        });
        Ok(())
    }

    fn check(&mut self) -> Check {
        report::check("Fibonacci numbers that are others", self.wrong as f64, 0.0)
    }
}

#[inline(never)]
fn fibonacci(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    // Compilers make a loop of one of the calls, each in its own way, and calls are what
    // is measured.
    opaque(fibonacci(n - 1)) + opaque(fibonacci(n - 2))
}

/// The known answer.
fn by_sums(n: u64) -> u64 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_wire::kernel::{Isa, Kernel};

    #[test]
    fn numbers_are_those_of_binet() {
        let root = 5_f64.sqrt();
        for n in 1..=30 {
            let closed = (((1.0 + root) / 2.0).powi(n) / root).round();
            let n = u64::try_from(n).unwrap();
            assert_eq!((fibonacci(n) as f64, by_sums(n) as f64), (closed, closed));
        }
    }

    #[test]
    fn wrong_numbers_are_counted() {
        let spec = KernelSpec {
            kernel: Kernel::Fibonacci,
            isa: Isa::Baseline,
            threads: 1,
            size: 20,
            seconds: 0.05,
        };
        let mut slices = Slices::new(&spec).unwrap();
        let mut parts = [Part::from((0.0, 0, 0))];
        slices.work(3, &mut parts).unwrap();
        assert_eq!(
            (slices.right, parts[0].work, slices.check().found),
            (6765, 3.0, 0.0)
        );
        slices.n -= 1;
        slices.work(2, &mut parts).unwrap();
        assert_eq!(slices.check().found, 2.0);
    }
}
