//! Starting the threads of a kernel or a proof.

use crate::error::KernelError;
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Starts thread `number` of so many.
///
/// # Errors
/// [`KernelError::Thread`] if the system refuses.
pub fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    (number, threads): (u32, u32),
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, KernelError> {
    let started = Builder::new().spawn_scoped(scope, work);
    started.map_err(|source| KernelError::Thread {
        number,
        threads,
        source,
    })
}
