//! Where threads wait for one another within a slice.

use crate::clock;
use rustix::thread::futex::{self, Flags};
use std::hint;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// Longer than a thread takes to wake up.
const AWAKE_NS: u64 = 1_000_000;

/// Looks at who is there between two looks at the clock.
const LOOKS: u32 = 100;

/// A barrier at which threads stay awake for a while. A loop's part of a slice lasts
/// some milliseconds, of which waking a thread would be a good share, and a larger
/// one in a VM than elsewhere: a barrier that sleeps would show that and not memory.
pub struct Meeting {
    threads: u32,
    arrived: AtomicU32,
    /// Grows with every meeting.
    held: AtomicU32,
}

impl Meeting {
    pub fn new(threads: u32) -> Self {
        Self {
            threads,
            arrived: AtomicU32::new(0),
            held: AtomicU32::new(0),
        }
    }

    /// Waits for all threads.
    pub fn wait(&self) {
        // No meeting is held before this thread has arrived.
        let held = self.held.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.held.fetch_add(1, Ordering::Release);
            // There is nothing that could fail for these arguments.
            let _ = futex::wake(&self.held, Flags::PRIVATE, i32::MAX.unsigned_abs());
        } else if !self.is_held_soon(held) {
            self.sleep(held);
        }
    }

    fn is_held(&self, before: u32) -> bool {
        self.held.load(Ordering::Acquire) != before
    }

    /// Waits awake, but lets others have the CPU: they may be those waited for.
    fn is_held_soon(&self, before: u32) -> bool {
        let deadline_ns = clock::now_ns().saturating_add(AWAKE_NS);
        while clock::now_ns() < deadline_ns {
            for _ in 0..LOOKS {
                if self.is_held(before) {
                    return true;
                }
                hint::spin_loop();
            }
            thread::yield_now();
        }
        false
    }

    fn sleep(&self, before: u32) {
        while !self.is_held(before) {
            // Ends with the wake, at once if it came before, or for no reason.
            let _ = futex::wait(&self.held, Flags::PRIVATE, before, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Whether anyone left one of the meetings before all had come to it.
    fn leave_too_early(threads: u32, meetings: u32, late: Duration) -> bool {
        let (meeting, came) = (Meeting::new(threads), AtomicU32::new(0));
        let attend = |number: u32| {
            let mut early = false;
            for so_far in 1..=meetings {
                if number == 0 {
                    thread::sleep(late);
                }
                came.fetch_add(1, Ordering::SeqCst);
                meeting.wait();
                early |= came.load(Ordering::SeqCst) < so_far * threads;
            }
            early
        };
        thread::scope(|scope| {
            let attend = &attend;
            let all: Vec<_> = (0..threads)
                .map(|number| scope.spawn(move || attend(number)))
                .collect();
            all.into_iter().any(|thread| thread.join().unwrap())
        })
    }

    #[test]
    fn nobody_leaves_before_all_have_come() {
        for threads in [1, 2, 5] {
            assert!(!leave_too_early(threads, 500, Duration::ZERO));
        }
    }

    #[test]
    fn those_who_fell_asleep_are_woken() {
        assert!(!leave_too_early(3, 4, Duration::from_millis(5)));
    }
}
