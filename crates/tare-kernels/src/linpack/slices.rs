//! The elimination in slices.
//!
//! A slice is so many whole steps of the elimination as make its units, and the next
//! slice goes on from there. Where it stops follows from the orders alone, so that
//! boxes that were given the same orders do the same steps, however fast they are.

use super::RESIDUAL_BOUND;
use super::system::System;
use crate::clock;
use crate::error::KernelError;
use crate::gate::{Sliced, timed};
use crate::isa::Granted;
use crate::report::{self, worse};
use tare_wire::gate::Part;
use tare_wire::kernel::{Check, KernelSpec};

/// The kernel in slices, of which a unit is 2 n^2 flops: the largest step. The last
/// step of a slice is done to its end.
pub struct Slices {
    system: System,
    /// Steps done of the solution under way; with the last one it is complete.
    steps: usize,
    /// Of the solutions before it.
    worst_residual: f64,
}

impl Slices {
    /// # Errors
    /// [`KernelError`] for an order that makes no sense, and if memory cannot be had.
    pub fn new(spec: &KernelSpec, isa: Granted) -> Result<Self, KernelError> {
        let mut system = System::new(super::order(spec)?, isa)?;
        system.generate(u64::MAX);
        Ok(Self {
            system,
            steps: 0,
            worst_residual: 0.0,
        })
    }

    fn is_solved(&self) -> bool {
        self.steps == self.system.steps()
    }

    /// Up to which step there is so much work left, or all that is left, and how much
    /// it is. Solving is the work of whoever completes the elimination.
    fn reach(&self, flops: f64) -> (usize, f64) {
        let (mut step, mut reached) = (self.steps, 0.0);
        while reached < flops && step < self.system.steps() {
            reached += self.system.flops_of_step(step);
            step += 1;
        }
        if step == self.system.steps() {
            reached += self.system.flops_of_solving();
        }
        (step, reached)
    }

    fn residual(&self) -> f64 {
        if self.is_solved() {
            self.system.residual()
        } else {
            self.system.partial_residual(self.steps)
        }
    }

    fn begin_anew(&mut self) {
        self.worst_residual = worse(self.worst_residual, self.residual());
        self.system.generate(u64::MAX);
        self.steps = 0;
    }
}

impl Sliced for Slices {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        let part = &mut parts[0];
        let mut left = units as f64 * self.system.flops_of_solving();
        while left > 0.0 {
            if self.is_solved() {
                self.begin_anew();
            }
            let (end, flops) = self.reach(left);
            let steps = self.steps..end;
            timed(part, clock::process_cpu_ns, || self.system.advance(steps));
            self.steps = end;
            part.work += flops;
            left -= flops;
        }
        Ok(())
    }

    fn check(&mut self) -> Check {
        let residual = worse(self.worst_residual, self.residual());
        report::check("scaled residual", residual, RESIDUAL_BOUND)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa;
    use tare_wire::kernel::{Isa, Kernel};

    fn slices(size: u64, isa: Granted) -> Slices {
        let spec = KernelSpec {
            kernel: Kernel::Linpack,
            isa: Isa::Baseline,
            threads: 1,
            size,
            seconds: 1.0,
        };
        Slices::new(&spec, isa).unwrap()
    }

    fn work(slices: &mut Slices, units: u64) -> f64 {
        let mut parts = [Part::from((0.0, 0, 0))];
        slices.work(units, &mut parts).unwrap();
        assert!(parts[0].wall_ns > 0 && parts[0].cpu_ns > 0);
        parts[0].work
    }

    #[test]
    fn every_level_solves_the_system_whatever_its_slices() {
        for isa in isa::granted() {
            for order in [50, 100, 127] {
                let mut slices = slices(order, isa);
                for units in [1, 7, 1000, 1, 3] {
                    work(&mut slices, units);
                    let check = slices.check();
                    assert!(check.passed() && check.found < 0.1, "{order}: {check:?}");
                }
            }
        }
    }

    #[test]
    fn a_slice_is_its_units_and_at_most_one_step_more() {
        let mut slices = slices(100, isa::granted()[0]);
        for units in [1, 7, 2, 1000, 30] {
            let least = units as f64 * 2e4;
            let done = work(&mut slices, units);
            // The last step, and the solving if it is the last of all.
            assert!((least..=least + 4e4).contains(&done), "{units}: {done}");
        }
    }

    #[test]
    fn slices_together_are_whole_solutions_and_the_part_of_one() {
        let mut slices = slices(60, isa::granted()[0]);
        let whole = slices.system.flops_of_steps(59) + slices.system.flops_of_solving();
        let mut flops = 0.0;
        for _ in 0..100 {
            flops += work(&mut slices, 1);
            let part = slices.system.flops_of_steps(slices.steps % 59);
            assert_eq!((flops - part) % whole, 0.0);
        }
        assert!(flops > 4.0 * whole);
    }

    #[test]
    fn the_same_orders_lead_to_the_same_place() {
        let isa = isa::granted()[0];
        let (mut one, mut other) = (slices(100, isa), slices(100, isa));
        // Orders that no pattern of the elimination fits.
        let orders = (1..60_u64).map(|i| i * i * 7919 % 53);
        for units in orders.filter(|units| *units > 0) {
            assert_eq!(work(&mut one, units), work(&mut other, units));
            assert_eq!(one.steps, other.steps);
        }
    }

    #[test]
    fn a_damaged_matrix_is_noticed_before_and_after_the_end_of_its_solution() {
        for units in [3, 1000] {
            let mut slices = slices(200, isa::granted()[0]);
            work(&mut slices, 20);
            slices.system.matrix.as_mut_slice()[150 * 200 + 120] *= 1.0 + 1e-6;
            work(&mut slices, units);
            assert!(!slices.check().passed(), "{units}");
        }
    }
}
