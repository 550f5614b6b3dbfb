//! `futex`: two threads on one CPU hand over to each other, by the system call beneath
//! locks and channels.
//!
//! A round trip is two wake-ups, two waits and two switches of the CPU between threads that
//! share their page tables.

use crate::error::KernelError;
use crate::gate::{Sliced, timed_alone};
use crate::report;
use crate::switch::stay_on_one_cpu;
use rustix::io::Errno;
use rustix::thread::futex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread::JoinHandle;
use tare_wire::gate::Part;
use tare_wire::kernel::Check;

const OURS: u32 = 0;
const THEIRS: u32 = 1;
const OVER: u32 = 2;

/// What both threads see.
#[derive(Default)]
struct Table {
    /// Whose turn it is.
    turn: AtomicU32,
    /// Turns that the other thread took.
    taken: AtomicU64,
}

impl Table {
    /// Hands the turn over and wakes whoever waits for it.
    fn hand_over(&self, to: u32) -> Result<(), Errno> {
        self.turn.store(to, Ordering::Release);
        futex::wake(&self.turn, futex::Flags::PRIVATE, 1).map(|_| ())
    }

    /// Sleeps while the turn is `other`'s; whose it is then.
    fn wait_while(&self, other: u32) -> Result<u32, Errno> {
        loop {
            let turn = self.turn.load(Ordering::Acquire);
            if turn != other {
                return Ok(turn);
            }
            match futex::wait(&self.turn, futex::Flags::PRIVATE, other, None) {
                // The turn changed before it slept, or a signal came.
                Ok(()) | Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// The kernel, of which a unit is a round trip.
pub struct Slices {
    table: Arc<Table>,
    partner: Option<JoinHandle<()>>,
    trips: u64,
}

impl Slices {
    /// # Errors
    /// [`KernelError`] if the threads cannot stay on one CPU, or the other cannot be made.
    pub fn new() -> Result<Self, KernelError> {
        stay_on_one_cpu()?;
        let table = Arc::new(Table::default());
        let theirs = Arc::clone(&table);
        let partner = std::thread::Builder::new().spawn(move || play(&theirs));
        let partner = partner.map_err(|source| KernelError::Thread {
            number: 2,
            threads: 2,
            source,
        })?;
        Ok(Self {
            table,
            partner: Some(partner),
            trips: 0,
        })
    }
}

impl Sliced for Slices {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        let passed = timed_alone(parts, units as f64, || {
            (0..units).try_for_each(|_| {
                self.table.hand_over(THEIRS)?;
                self.table.wait_while(THEIRS).map(|_| ())
            })
        });
        passed.map_err(|errno| KernelError::System {
            what: "futex",
            source: errno.into(),
        })?;
        self.trips += units;
        Ok(())
    }

    fn check(&mut self) -> Check {
        let missed = self.table.taken.load(Ordering::Acquire).abs_diff(self.trips);
        report::check("turns that the other thread did not take", missed as f64, 0.0)
    }
}

impl Drop for Slices {
    fn drop(&mut self) {
        // Were the wake-up refused, the thread would sleep for ever: it is left alone then.
        if self.table.hand_over(OVER).is_ok()
            && let Some(partner) = self.partner.take()
        {
            // A panic of the other thread was told when it happened.
            let _ = partner.join();
        }
    }
}

/// What the other thread does until it is over. A call that fails ends it, and the turns
/// that are missing are told.
fn play(table: &Table) {
    while table.wait_while(OURS).is_ok_and(|turn| turn == THEIRS) {
        table.taken.fetch_add(1, Ordering::Release);
        // Unless it is over meanwhile.
        let ours = table
            .turn
            .compare_exchange(THEIRS, OURS, Ordering::AcqRel, Ordering::Acquire);
        if ours.is_err() || futex::wake(&table.turn, futex::Flags::PRIVATE, 1).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_thread_takes_every_turn() {
        let mut slices = Slices::new().unwrap();
        let mut parts = [Part::from((0.0, 0, 0))];
        for units in [1, 500, 2000] {
            slices.work(units, &mut parts).unwrap();
            assert!(slices.check().passed(), "{:?}", slices.check());
        }
        assert_eq!(parts[0].work, 2501.0);
        slices.trips += 1;
        assert_eq!(slices.check().found, 1.0);
    }
}
