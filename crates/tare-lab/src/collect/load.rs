//! What others on the host did meanwhile, and its hypervisor: the same for all trials.

use super::{Collector, Others, Stage, TrialReadings};
use crate::settle::{self, HostMonitor, Observation};
use std::io;
use tare_model::time::nanoseconds;

/// When it began.
#[derive(Default)]
pub(super) struct Collected(Option<Observation>);

impl Collector for Collected {
    fn begin(&mut self, monitor: &mut HostMonitor, _: &mut [Option<Stage<'_>>]) -> io::Result<()> {
        self.0 = Some(monitor.begin()?);
        Ok(())
    }

    fn end(
        &mut self,
        monitor: &mut HostMonitor,
        _: &mut [Option<Stage<'_>>],
        seen: &mut [TrialReadings],
    ) -> io::Result<()> {
        let Some(begun) = &self.0 else { return Ok(()) };
        let observed = monitor.end(begun)?;
        for seen in seen {
            seen.others = Others {
                of_host: observed.during.others,
                of_a_cpu: (observed.during.others * monitor.cpus()).min(1.0),
            };
            let Some(told) = &observed.told else { continue };
            seen.host.others_load = Some(told.stretch.others);
            seen.host.steal = Some(told.stretch.steal);
            seen.host.noise_ns = told.is_longer.then(|| nanoseconds(told.length));
            seen.findings.extend(settle::findings(told.stretch));
        }
        Ok(())
    }
}
