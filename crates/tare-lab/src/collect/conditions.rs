//! The conditions of a trial: read before and after it, outside its timed region.

use super::{Collector, Stage, TrialReadings};
use crate::settle::{HostMonitor, QUIET_LOAD};
use std::io;
use std::time::Instant;
use tare_host::conditions::Reading;
use tare_model::conditions::{ClockReading, Conditions};
use tare_model::finding::Finding;
use tare_model::protocol::{Reply, Request};
use tare_model::time::nanoseconds;
use tare_platforms::ANSWER_DEADLINE;
use tare_platforms::link::Link;

/// Most by which a clock that is disciplined (NTP) may run fast or slow: the
/// kernel slews by at most 500 ppm. Within it two clocks may differ and both be right.
const SLEW: f64 = 500e-6;
/// Change of frequency that is told.
const FREQUENCY_BAND: f64 = 0.02;

/// A reading of the box's clock, and when it was asked for and came.
#[derive(Debug, Clone, Copy)]
struct ClockAt {
    asked: Instant,
    answered: Instant,
    box_ns: u64,
}

impl ClockAt {
    /// `None` where the box cannot tell: that is no reason to fail the trial.
    fn read(link: &mut Link) -> Option<Self> {
        let asked = Instant::now();
        let answer = link.request(&Request::Counters, ANSWER_DEADLINE).ok()?;
        let Reply::Counters(counters) = answer.reply else {
            return None;
        };
        (counters.monotonic_ns > 0).then(|| Self {
            asked,
            answered: Instant::now(),
            box_ns: counters.monotonic_ns,
        })
    }
}

/// The box's seconds over the host's between two readings. Each lies somewhere
/// between question and answer: the host's time is known to within their lengths.
#[expect(clippy::cast_precision_loss, reason = "a ratio near 1")]
fn clock(first: ClockAt, last: ClockAt) -> Option<ClockReading> {
    let box_seconds = last.box_ns.checked_sub(first.box_ns)? as f64 / 1e9;
    let shortest = last.asked.duration_since(first.answered).as_secs_f64();
    let longest = last.answered.duration_since(first.asked).as_secs_f64();
    let (low, high) = (box_seconds / longest, box_seconds / shortest);
    high.is_finite().then(|| ClockReading {
        ratio: f64::midpoint(low, high),
        uncertainty: (high - low) / 2.0,
    })
}

/// What was read of one stage before.
struct Beginning {
    reading: Reading,
    clock: Option<ClockAt>,
    reading_ns: u64,
}

impl Beginning {
    fn read(stage: &mut Stage<'_>, monitor: &HostMonitor) -> io::Result<Self> {
        let begun = Instant::now();
        let reading = monitor.conditions().read()?;
        let clock = stage.link.as_deref_mut().and_then(ClockAt::read);
        Ok(Self {
            reading,
            clock,
            reading_ns: nanoseconds(begun.elapsed()),
        })
    }

    /// The conditions since; `own_ns` is the CPU time of all that ran for the trials.
    fn end(
        self,
        stage: &mut Stage<'_>,
        monitor: &HostMonitor,
        own_ns: Option<u64>,
    ) -> io::Result<Conditions> {
        let begun = Instant::now();
        let last = stage.link.as_deref_mut().and_then(ClockAt::read);
        let reading = monitor.conditions().read()?;
        let found = monitor
            .conditions()
            .between(&self.reading, &reading, stage.cpu_set, own_ns);
        Ok(Conditions {
            clock: self.clock.zip(last).and_then(|(first, last)| clock(first, last)),
            box_swap_bytes: monitor.swap_bytes(stage.box_id),
            reading_ns: self.reading_ns + nanoseconds(begun.elapsed()),
            ..found
        })
    }
}

/// Of each stage, what was read before; and what was used until then for trials.
#[derive(Default)]
pub(super) struct Collected {
    stages: Vec<Option<Beginning>>,
    own_ns: u64,
}

impl Collector for Collected {
    fn begin(&mut self, monitor: &mut HostMonitor, stages: &mut [Option<Stage<'_>>]) -> io::Result<()> {
        let read = |stage: &mut Option<Stage<'_>>| {
            let beginning = stage.as_mut().map(|stage| Beginning::read(stage, monitor));
            beginning.transpose()
        };
        self.stages = stages.iter_mut().map(read).collect::<io::Result<_>>()?;
        self.own_ns = monitor.own_ns();
        Ok(())
    }

    fn end(
        &mut self,
        monitor: &mut HostMonitor,
        stages: &mut [Option<Stage<'_>>],
        seen: &mut [TrialReadings],
    ) -> io::Result<()> {
        // Also of the controller, whose turns lie between the slices.
        let own_ns = monitor.own_ns().saturating_sub(self.own_ns);
        for ((beginning, stage), seen) in self.stages.drain(..).zip(stages).zip(seen) {
            let Some((beginning, stage)) = beginning.zip(stage.as_mut()) else {
                continue;
            };
            // What a box uses whose counters cannot be read would count as that of others.
            let own_ns = monitor.usage(stage.box_id).map(|_| own_ns);
            seen.host.conditions = beginning.end(stage, monitor, own_ns)?;
            seen.findings.extend(findings(&seen.host.conditions, monitor));
        }
        Ok(())
    }
}

/// What conditions give reason to doubt.
fn findings(conditions: &Conditions, monitor: &mut HostMonitor) -> Vec<Finding> {
    let busy = |load: &f64| *load > QUIET_LOAD;
    let drift = |clock: &ClockReading| (clock.ratio - 1.0).abs() > clock.uncertainty + SLEW;
    let frequency = conditions.frequency.map(|f| monitor.frequency_ratio(f));
    let change = |ratio: &f64| (ratio - 1.0).abs() > FREQUENCY_BAND;
    let some = |count: &u64| *count > 0;
    let clock = conditions.clock.filter(drift);
    [
        clock.map(|clock| Finding::ClockDrift { ratio: clock.ratio }),
        conditions
            .set_load
            .filter(busy)
            .map(|load| Finding::SetBusy { load }),
        conditions
            .sibling_load
            .filter(busy)
            .map(|load| Finding::SiblingBusy { load }),
        conditions
            .memory_pressure
            .filter(busy)
            .map(|share| Finding::MemoryPressure { share }),
        conditions
            .box_swap_bytes
            .filter(some)
            .map(|bytes| Finding::BoxSwapped { bytes }),
        frequency
            .filter(change)
            .map(|ratio| Finding::FrequencyChanged { ratio }),
        conditions
            .heat_throttles
            .filter(some)
            .map(|times| Finding::Overheated { times }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn at(begun: Instant, asked_ms: u64, answered_ms: u64, box_ms: u64) -> ClockAt {
        ClockAt {
            asked: begun + Duration::from_millis(asked_ms),
            answered: begun + Duration::from_millis(answered_ms),
            box_ns: box_ms * 1_000_000,
        }
    }

    fn drifts(clock: ClockReading) -> bool {
        let conditions = Conditions {
            clock: Some(clock),
            ..Conditions::default()
        };
        let mut monitor = HostMonitor::new().unwrap();
        let found = findings(&conditions, &mut monitor);
        found.iter().any(|f| matches!(f, Finding::ClockDrift { .. }))
    }

    #[test]
    fn a_clock_drifts_beyond_what_the_readings_leave_open() {
        let begun = Instant::now();
        let (first, last) = (at(begun, 0, 10, 5000), at(begun, 1000, 1010, 6005));
        let right = clock(first, last).unwrap();
        assert!(
            (right.ratio - 1.005).abs() < 0.001 && right.uncertainty < 0.011,
            "{right:?}"
        );
        assert!(!drifts(right));
        let fast = clock(first, at(begun, 1000, 1010, 6030)).unwrap();
        assert!(drifts(fast), "{fast:?}");
        assert!(!drifts(ClockReading {
            ratio: 1.0004,
            uncertainty: 0.0
        }));
    }

    #[test]
    fn a_clock_that_goes_back_has_no_reading() {
        let begun = Instant::now();
        assert!(clock(at(begun, 0, 1, 5000), at(begun, 10, 11, 4000)).is_none());
    }

    #[test]
    fn each_condition_has_its_finding() {
        let conditions = Conditions {
            set_load: Some(0.021),
            sibling_load: Some(0.5),
            memory_pressure: Some(0.3),
            heat_throttles: Some(1),
            box_swap_bytes: Some(4096),
            frequency: Some(0.9),
            ..Conditions::default()
        };
        let mut monitor = HostMonitor::new().unwrap();
        monitor.frequency_ratio(1.0);
        let found = findings(&conditions, &mut monitor);
        let names: Vec<_> = found.iter().map(Finding::name).collect();
        assert_eq!(
            names,
            [
                "set-busy",
                "sibling-busy",
                "memory-pressure",
                "box-swapped",
                "frequency-changed",
                "overheated"
            ]
        );
        assert!(findings(&Conditions::default(), &mut monitor).is_empty());
    }
}
