//! The counters of each box: CPU time, and what its quota did.

use super::{Collector, Stage, TrialReadings};
use crate::settle::HostMonitor;
use std::io;
use std::time::Instant;
use tare_host::cgroup::Usage;

/// Of each stage, when its box was looked at and what it had used before.
#[derive(Default)]
pub(super) struct Collected(Vec<(Instant, Option<Usage>)>);

impl Collector for Collected {
    fn begin(&mut self, monitor: &mut HostMonitor, stages: &mut [Option<Stage<'_>>]) -> io::Result<()> {
        let usage = |stage: &Option<Stage>| monitor.usage(stage.as_ref()?.box_id);
        self.0 = stages
            .iter()
            .map(|stage| (Instant::now(), usage(stage)))
            .collect();
        Ok(())
    }

    fn end(
        &mut self,
        monitor: &mut HostMonitor,
        stages: &mut [Option<Stage<'_>>],
        seen: &mut [TrialReadings],
    ) -> io::Result<()> {
        for (((begun, before), stage), seen) in self.0.iter().zip(stages).zip(seen) {
            let after = stage.as_ref().and_then(|stage| monitor.usage(stage.box_id));
            seen.window = begun.elapsed();
            let Some(quota) = quota(*before, after) else {
                continue;
            };
            seen.host.cpu_ns = Some(quota.cpu_ns);
            seen.host.periods = Some(quota.periods);
            seen.host.throttled_periods = Some(quota.throttled_periods);
            seen.host.throttled_ns = Some(quota.throttled_ns);
        }
        Ok(())
    }
}

/// What a box used of its quota between two readings.
pub(crate) struct Quota {
    /// CPU time.
    pub cpu_ns: u64,
    /// Periods of the quota.
    pub periods: u64,
    /// Those in which it was used up.
    pub throttled_periods: u64,
    /// Time for which the box had to wait for that.
    pub throttled_ns: u64,
}

/// Its counters at the end less those at the beginning.
pub(crate) fn quota(before: Option<Usage>, after: Option<Usage>) -> Option<Quota> {
    let (before, after) = before.zip(after)?;
    Some(Quota {
        cpu_ns: after.cpu_ns.saturating_sub(before.cpu_ns),
        periods: after.periods.saturating_sub(before.periods),
        throttled_periods: after.throttled_periods.saturating_sub(before.throttled_periods),
        throttled_ns: after.throttled_ns.saturating_sub(before.throttled_ns),
    })
}
