//! What a process does first, for the sake of what it will start or be started beside.

use rustix::process::{DumpableBehavior, geteuid, set_dumpable_behavior};
use signal_hook::consts::SIGXFSZ;
use std::io;
use std::sync::Arc;

/// Of every process of the host's: no descriptor that it was started with goes into a box,
/// and a file that becomes too large for the system's limit is an error, not its end.
///
/// # Errors
/// If a signal's handler cannot be installed.
pub fn outside() -> io::Result<()> {
    tare_sys::keep_descriptors();
    outlive_large_files()
}

/// Of the agent and of the processes of kernels and proofs: as [`outside`], and the workload
/// is kept out of them. Other processes in the box can neither open their memory and
/// descriptors in /proc nor take descriptors out of them, unless they may trace any process.
/// What they execute is as open as anything else.
///
/// Without root they stay open: an agent in a cgroup that was delegated to its user was seen
/// to die of this on its second answer, and all that it runs is the same user's anyway.
///
/// # Errors
/// As [`outside`].
pub fn inside() -> io::Result<()> {
    outside()?;
    if geteuid().is_root() {
        // A kernel that has no such thing has nothing to keep it by.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
    Ok(())
}

/// Lets a write beyond the limit of files' sizes (RLIMIT_FSIZE) fail rather than end this
/// process. By a handler: what is executed would inherit that a signal is ignored.
fn outlive_large_files() -> io::Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map(drop)
}
