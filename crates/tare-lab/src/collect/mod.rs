//! What is looked at on the host around trials: read before the first of their clocks runs
//! and after the last one stopped, never in a timed region, and nothing of it in the agent.

mod conditions;
mod faults;
mod load;
mod quota;

pub(crate) use quota::quota;

use crate::settle::HostMonitor;
use std::io;
use std::time::Duration;
use tare_model::finding::Finding;
use tare_model::results::HostReadings;
use tare_platforms::link::Link;

/// A trial under way, as collectors see it.
pub(crate) struct Stage<'a> {
    box_id: u32,
    /// The way to its agent, if that answers now and the box's clock does not stand still
    /// between the two readings.
    link: Option<&'a mut Link>,
    /// The CPUs that it may run on; empty: all.
    cpu_set: &'a [u32],
}

impl<'a> Stage<'a> {
    /// A trial in this box.
    pub(crate) fn new(box_id: u32, link: Option<&'a mut Link>, cpu_set: &'a [u32]) -> Self {
        Self {
            box_id,
            link,
            cpu_set,
        }
    }
}

/// What collectors read of a trial.
#[derive(Default)]
pub(crate) struct TrialReadings {
    pub host: HostReadings,
    /// What they give reason to doubt.
    pub findings: Vec<Finding>,
    /// Between the readings of the box's counters.
    pub window: Duration,
    /// CPU time of others; of a short trial told only roughly.
    pub others: Others,
}

/// CPU time of others.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Others {
    /// Over the host's, 0 to 1.
    pub of_host: f64,
    /// Over that of one CPU, at most 1: all of it may have been on the one of a box.
    pub of_a_cpu: f64,
}

/// Looks at one thing around trials that run side by side. A stage is `None` where its box
/// is gone; the same trial has the same place in both lists.
trait Collector {
    /// Takes the first reading.
    fn begin(&mut self, monitor: &mut HostMonitor, stages: &mut [Option<Stage<'_>>]) -> io::Result<()>;

    /// Takes the second reading, and adds the difference to each trial.
    fn end(
        &mut self,
        monitor: &mut HostMonitor,
        stages: &mut [Option<Stage<'_>>],
        seen: &mut [TrialReadings],
    ) -> io::Result<()>;
}

/// All collectors, while trials run.
pub(crate) struct Collectors(Vec<Box<dyn Collector>>);

impl Collectors {
    /// Takes the first readings, the slowest first (`conditions` asks agents, some 100 us each; the others read a few
    /// files), so that the last are close to the trials.
    pub(crate) fn begin(monitor: &mut HostMonitor, stages: &mut [Option<Stage<'_>>]) -> io::Result<Self> {
        let mut all: Vec<Box<dyn Collector>> = vec![
            Box::<conditions::Collected>::default(),
            Box::<faults::Collected>::default(),
            Box::<quota::Collected>::default(),
            Box::<load::Collected>::default(),
        ];
        for collector in &mut all {
            collector.begin(monitor, stages)?;
        }
        Ok(Self(all))
    }

    /// What was read of each trial, in the order of the stages.
    pub(crate) fn end(
        mut self,
        monitor: &mut HostMonitor,
        stages: &mut [Option<Stage<'_>>],
    ) -> io::Result<Vec<TrialReadings>> {
        let mut seen: Vec<TrialReadings> = stages.iter().map(|_| TrialReadings::default()).collect();
        for collector in self.0.iter_mut().rev() {
            collector.end(monitor, stages, &mut seen)?;
        }
        Ok(seen)
    }
}
