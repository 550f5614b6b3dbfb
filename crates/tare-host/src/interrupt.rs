//! The user's wish to stop (Ctrl-C, SIGTERM, SIGHUP), as a flag that every
//! wait looks at.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Longest time for which a wait does not look at the flag.
const SLICE: Duration = Duration::from_millis(100);

static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Lets SIGINT, SIGTERM and SIGHUP raise the flag instead of ending the process.
///
/// # Errors
/// If a handler cannot be installed.
pub fn install() -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let flag = FLAG.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // A second signal ends the process at once: the next start sweeps.
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(flag))?;
        signal_hook::flag::register(signal, Arc::clone(flag))?;
    }
    Ok(())
}

/// Whether the user asked to stop.
pub fn requested() -> bool {
    FLAG.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// The time for which a wait may go on before it must ask again.
///
/// # Errors
/// `Interrupted` when the user asked to stop, `TimedOut` at the deadline.
pub fn next_slice(deadline: Instant) -> io::Result<Duration> {
    if requested() {
        return Err(io::Error::new(io::ErrorKind::Interrupted, "stopped by the user"));
    }
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        Err(io::ErrorKind::TimedOut.into())
    } else {
        Ok(left.min(SLICE))
    }
}
