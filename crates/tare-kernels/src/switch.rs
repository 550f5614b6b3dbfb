//! `switch`: two processes on one CPU pass a byte to and fro through pipes.
//!
//! A round trip is two writes, two reads and two switches of the CPU from one process to
//! the other, with their page tables.

mod partner;

use crate::clock;
use crate::error::KernelError;
use crate::gate::{Sliced, timed};
use crate::report;
use partner::Partner;
pub use partner::stay_on_one_cpu;
use tare_wire::gate::Part;
use tare_wire::kernel::Check;

/// The kernel, of which a unit is a round trip.
pub struct Slices {
    partner: Partner,
    trips: u64,
    wrong: u64,
}

impl Slices {
    /// # Errors
    /// [`KernelError::System`] if the other process cannot be made.
    pub fn new() -> Result<Self, KernelError> {
        Ok(Self {
            partner: Partner::start()?,
            trips: 0,
            wrong: 0,
        })
    }

    /// So many round trips, each with another byte; counts the bytes that came back changed.
    fn pass(&mut self, trips: u64) -> Result<u64, KernelError> {
        let mut wrong = 0;
        for _ in 0..trips {
            self.trips += 1;
            let byte = self.trips.to_le_bytes()[0] & partner::BALL;
            wrong += u64::from(self.partner.pass(byte)? != byte);
        }
        Ok(wrong)
    }
}

impl Sliced for Slices {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        let part = &mut parts[0];
        let before_ns = self.partner.cpu_ns()?;
        self.wrong += timed(part, clock::process_cpu_ns, || self.pass(units))?;
        part.cpu_ns += self.partner.cpu_ns()?.saturating_sub(before_ns);
        part.work += units as f64;
        Ok(())
    }

    fn check(&mut self) -> Check {
        report::check("bytes that came back changed", self.wrong as f64, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back_and_the_time_of_both_is_counted() {
        let mut slices = Slices::new().unwrap();
        let mut parts = [Part::from((0.0, 0, 0))];
        for units in [1, 500, 2000] {
            slices.work(units, &mut parts).unwrap();
        }
        assert_eq!((parts[0].work, slices.check().found), (2501.0, 0.0));
        assert!(parts[0].cpu_ns > 0 && parts[0].wall_ns > 2501 * 500, "{parts:?}");
    }
}
