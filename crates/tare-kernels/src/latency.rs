//! `latency`: loads that each hang on the one before, through a buffer in random order.
//!
//! All lines of the buffer lie on one cycle (Sattolo 1986), so that no line comes again
//! before every other one did, and no hardware foresees the next.

use crate::clock;
use crate::error::KernelError;
use crate::gate::{Sliced, timed_alone};
use crate::memory::Mapping;
use crate::random::Random;
use crate::report;
use crate::size;
use std::hint::black_box;
use tare_wire::gate::Part;
use tare_wire::kernel::{Check, KernelSpec};

/// Numbers in a cache line of 64 bytes, of which the first is used.
const LINE: usize = 8;

/// Time that making the cycle may take however short the aim.
const SET_UP_SECONDS: f64 = 3.0;

/// Lines laid between two looks at the clock.
const LINES_PER_LOOK: usize = 4096;

/// The kernel, of which a unit is a load.
pub struct Slices {
    /// In the first number of each line where the next one begins, as the bits of a
    /// whole number: only ever copied, never computed with.
    buffer: Mapping,
    lines: usize,
    at: usize,
    loads: u64,
}

impl Slices {
    /// # Errors
    /// [`KernelError`] for a buffer too small or too large, if memory cannot be had, and
    /// if the box cannot make the cycle in time.
    pub fn new(spec: &KernelSpec) -> Result<Self, KernelError> {
        let lines = size::count(spec)? / (LINE * size_of::<f64>());
        let mut buffer = Mapping::new(lines * LINE)?;
        let deadline_ns = clock::deadline_ns(spec.seconds.max(SET_UP_SECONDS));
        if !lay(buffer.as_mut_slice(), lines, deadline_ns) {
            return Err(KernelError::TooSlow {
                kernel: spec.kernel,
                seconds: spec.seconds,
            });
        }
        Ok(Self {
            buffer,
            lines,
            at: 0,
            loads: 0,
        })
    }

    /// Loads that are left until the cycle is where it is now, counted line by line; none
    /// if it never comes by here.
    fn distance(&self) -> Option<u64> {
        let numbers = self.buffer.as_slice();
        let mut at = 0;
        for distance in 0..self.lines {
            if at == self.at {
                return Some(distance as u64);
            }
            at = chase(numbers, at, 1);
        }
        None
    }
}

impl Sliced for Slices {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        let numbers = self.buffer.as_slice();
        self.at = timed_alone(parts, units as f64, || chase(numbers, black_box(self.at), units));
        self.loads += units;
        Ok(())
    }

    /// Whether the cycle is where so many loads lead.
    fn check(&mut self) -> Check {
        let right = self.distance() == Some(self.loads % self.lines as u64);
        let wrong = if right { 0.0 } else { 1.0 };
        report::check("wrong line after the last load", wrong, 0.0)
    }
}

/// Lays one cycle through all lines; whether it was done in time. The pages are touched in
/// order, as they would be by a program that fills its memory.
fn lay(numbers: &mut [f64], lines: usize, deadline_ns: u64) -> bool {
    for line in 0..lines {
        numbers[line * LINE] = f64::from_bits((line * LINE) as u64);
    }
    let mut random = Random::new(1);
    for line in (1..lines).rev() {
        // Never the line itself: that would make it a cycle of its own.
        let other = random.below(u32::try_from(line).unwrap_or(u32::MAX)) as usize;
        numbers.swap(line * LINE, other * LINE);
        if line.is_multiple_of(LINES_PER_LOOK) && clock::now_ns() > deadline_ns {
            return false;
        }
    }
    true
}

/// Where so many loads lead from `at`.
#[inline(never)]
#[expect(clippy::cast_possible_truncation, reason = "it was made of an index")]
fn chase(numbers: &[f64], mut at: usize, loads: u64) -> usize {
    for _ in 0..loads {
        at = numbers[at].to_bits() as usize;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_wire::kernel::{Isa, Kernel};

    fn slices(size: u64) -> Slices {
        let spec = KernelSpec {
            kernel: Kernel::Latency,
            isa: Isa::Baseline,
            threads: 1,
            size,
            seconds: 0.05,
        };
        Slices::new(&spec).unwrap()
    }

    #[test]
    fn one_cycle_goes_through_all_lines() {
        for size in [4096, 8192, 64 * 1001] {
            let slices = slices(size);
            let numbers = slices.buffer.as_slice();
            let mut seen = vec![false; slices.lines];
            let mut at = 0;
            for _ in 0..slices.lines {
                assert!(at % LINE == 0 && !seen[at / LINE]);
                seen[at / LINE] = true;
                at = chase(numbers, at, 1);
            }
            assert_eq!(at, 0, "it comes back after all of them");
        }
    }

    #[test]
    fn loads_go_on_from_slice_to_slice_and_a_wrong_turn_is_noticed() {
        let mut slices = slices(8192);
        let mut parts = [Part::from((0.0, 0, 0))];
        for units in [1, 50, 1000] {
            slices.work(units, &mut parts).unwrap();
            assert!(slices.check().passed());
        }
        assert_eq!(parts[0].work, 1051.0);
        slices.at = chase(slices.buffer.as_slice(), slices.at, 1);
        assert!(!slices.check().passed());
    }

    #[test]
    fn making_the_cycle_stops_at_its_deadline() {
        let lines = 1 << 16;
        let mut numbers = vec![0.0; lines * LINE];
        assert!(!lay(&mut numbers, lines, 0));
    }
}
