//! `integer`: so many iterations of one chain of dependent integer operations.
//!
//! Every iteration is as long as any other, nothing leaves the registers, and
//! twenty-one iterations are 21/20 of the work of twenty: a known cost, by which
//! self-tests check that what is measured is what was put in. The work is never
//! bounded by time, unlike that of the other kernels, since it is what is known.

use crate::clock;
use crate::error::KernelError;
use crate::gate::{Sliced, timed};
use crate::report::{self, Stretches};
use crate::size;
use std::hint::black_box;
use tare_wire::gate::Part;
use tare_wire::kernel::{Check, KernelReport, KernelSpec};

/// Multiplier and increment of Knuth's generator (MMIX): x -> a x + c modulo 2^64.
const A: u64 = 6_364_136_223_846_793_005;
const C: u64 = 1_442_695_040_888_963_407;
/// Steps of the generator per iteration: some 0.4 microseconds.
const STEPS: u64 = 256;
/// The state before the first iteration.
const START: u64 = 1;

/// Runs the kernel.
///
/// # Errors
/// [`KernelError::Size`] for no iterations, or more than a day's.
pub fn run(spec: &KernelSpec) -> Result<KernelReport, KernelError> {
    size::check(spec)?;
    // Brings code and clock to where they are in the middle of the work.
    black_box(iterate(1, spec.size.min(1000)));
    let (cpu, start) = (clock::process_cpu_ns(), clock::now_ns());
    let found = iterate(START, spec.size);
    let (wall, cpu) = (clock::now_ns() - start, clock::process_cpu_ns() - cpu);
    let work = Stretches {
        name: "work",
        work: spec.size as f64,
        seconds: vec![clock::seconds(wall)],
    };
    let seconds = clock::seconds(wall).max(1e-9);
    let metrics = [("time", seconds), ("cpu", clock::seconds(cpu).max(1e-9))];
    let check = check(found, spec.size);
    Ok(report::report(spec, metrics, [work], seconds, 1.0, check))
}

/// Whether `found` is the state after so many iterations. Their steps are counted
/// modulo 2^64, which is the period of the generator.
fn check(found: u64, iterations: u64) -> Check {
    let right = found == jump(START, iterations.wrapping_mul(STEPS));
    let wrong = if right { 0.0 } else { 1.0 };
    report::check("wrong state after the last iteration", wrong, 0.0)
}

/// The kernel in slices, of which a unit is the iterations of a whole run.
pub struct Slices {
    iterations_per_unit: u64,
    state: u64,
    iterations: u64,
}

impl Slices {
    /// # Errors
    /// As [`run`].
    pub fn new(spec: &KernelSpec) -> Result<Self, KernelError> {
        size::check(spec)?;
        Ok(Self {
            iterations_per_unit: spec.size,
            state: START,
            iterations: 0,
        })
    }
}

impl Sliced for Slices {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        let part = &mut parts[0];
        // More would not end in a thousand years.
        let iterations = units.saturating_mul(self.iterations_per_unit);
        self.state = timed(part, clock::process_cpu_ns, || iterate(self.state, iterations));
        self.iterations = self.iterations.wrapping_add(iterations);
        part.work += units as f64;
        Ok(())
    }

    fn check(&mut self) -> Check {
        check(self.state, self.iterations)
    }
}

/// So many iterations from the state `x`.
fn iterate(mut x: u64, iterations: u64) -> u64 {
    // Of constants, two steps would be folded into one.
    let (a, c) = black_box((A, C));
    for _ in 0..iterations {
        for _ in 0..STEPS {
            x = x.wrapping_mul(a).wrapping_add(c);
        }
        // An iteration is not to be merged with the next one.
        x = black_box(x);
    }
    x
}

/// The state so many steps after `x`, by squaring: the known answer.
fn jump(x: u64, steps: u64) -> u64 {
    let (mut a, mut c) = (A, C);
    let (mut all_a, mut all_c) = (1_u64, 0_u64);
    let mut left = steps;
    while left > 0 {
        if left & 1 == 1 {
            all_c = all_c.wrapping_mul(a).wrapping_add(c);
            all_a = all_a.wrapping_mul(a);
        }
        c = c.wrapping_mul(a).wrapping_add(c);
        a = a.wrapping_mul(a);
        left >>= 1;
    }
    x.wrapping_mul(all_a).wrapping_add(all_c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_wire::kernel::{Isa, Kernel};

    fn spec(size: u64) -> KernelSpec {
        KernelSpec {
            kernel: Kernel::Integer,
            isa: Isa::Baseline,
            threads: 1,
            size,
            seconds: 0.05,
        }
    }

    #[test]
    fn steps_taken_at_once_end_where_single_ones_do() {
        for iterations in [1, 2, 3, 100, 1023] {
            assert_eq!(jump(7, iterations * STEPS), iterate(7, iterations));
        }
    }

    #[test]
    fn a_twentieth_more_iterations_are_a_twentieth_more_work() {
        let report = run(&spec(21_000)).unwrap();
        assert!(report.check.passed());
        assert_eq!(report.work_per_stretch["work"], 21_000.0);
        assert!(report.metrics["cpu"] > 0.0);
    }

    #[test]
    fn slices_end_where_one_piece_does() {
        let mut slices = Slices::new(&spec(7)).unwrap();
        let mut parts = [Part::from((0.0, 0, 0))];
        for units in [1, 7, 1000] {
            slices.work(units, &mut parts).unwrap();
        }
        assert_eq!(parts[0].work, 1008.0);
        assert_eq!(slices.state, iterate(START, 7 * 1008));
        assert!(slices.check().passed());
        slices.state ^= 1;
        assert!(!slices.check().passed());
    }

    #[test]
    fn no_work_and_a_day_of_work_are_refused() {
        for size in [0, u64::MAX] {
            let refused = run(&spec(size)).unwrap_err().to_string();
            assert!(refused.contains("iterations"), "{refused}");
        }
    }
}
