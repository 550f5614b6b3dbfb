//! Tests that make boxes or measure take turns by file: those of one file may run side by side, and not
//! beside those of another, which would wait for their boxes, miss their engines or read their load.

use std::panic::Location;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Held by a test for as long as it needs its turn.
pub struct Turn(());

struct Holders {
    file: &'static str,
    count: usize,
}

static HOLDERS: Mutex<Holders> = Mutex::new(Holders { file: "", count: 0 });
static LEFT: Condvar = Condvar::new();

impl Turn {
    /// Waits until no test of another file than the caller's holds a turn.
    #[track_caller]
    pub fn take() -> Self {
        let file = Location::caller().file();
        let others = |holders: &mut Holders| holders.count > 0 && holders.file != file;
        let mut holders = LEFT
            .wait_while(holders(), others)
            .unwrap_or_else(PoisonError::into_inner);
        holders.file = file;
        holders.count += 1;
        Self(())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        holders().count -= 1;
        LEFT.notify_all();
    }
}

fn holders() -> MutexGuard<'static, Holders> {
    HOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}
