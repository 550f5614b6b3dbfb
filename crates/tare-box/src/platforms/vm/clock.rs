//! A guest's clocks: the one that it measures by, and the one on its wall.

use super::super::{ANSWER_DEADLINE, BoxError, RunningBox};
use std::time::{Duration, Instant, SystemTime};
use tare_model::protocol::Request;

/// Time for a guest's kernel to change to the clock source that it will keep:
/// the time stamp counter counts as provisional for about a second.
const DEADLINE: Duration = Duration::from_secs(20);
/// Time between two looks at it.
const POLL: Duration = Duration::from_millis(20);

/// Clock sources under which a guest's intervals are right. Others (such as
/// refined-jiffies) run slow when the vCPUs are throttled.
const GOOD: [&str; 3] = ["tsc", "kvm-clock", "hpet"];

/// Waits until the guest has the clock that it will keep, and refuses one that
/// cannot be trusted.
pub(in super::super) fn check(running: &mut dyn RunningBox) -> Result<(), BoxError> {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let clock = crate::limits::facts(running)?.clocksource;
        if clock.as_deref().is_some_and(|clock| GOOD.contains(&clock)) {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(BoxError::Engine {
                engine: "vm",
                message: format!(
                    "the guest's clock source is {}, which runs slow when the VM is throttled: a guest kernel that takes one of {} is needed",
                    clock.as_deref().unwrap_or("unknown"),
                    GOOD.join(", ")
                ),
            });
        }
        std::thread::sleep(POLL);
    }
}

/// Sets the guest's wall clock, which stood still while it was stopped.
pub(in super::super) fn set(running: &mut dyn RunningBox) -> Result<(), BoxError> {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let unix_ns = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
    running
        .link()
        .request(&Request::SetClock { unix_ns }, ANSWER_DEADLINE)?;
    Ok(())
}
