//! Page faults of each box, as the host's kernel counts them: of a machine, those of its VMM, which
//! are the first touches of its memory.

use super::{Collector, Stage, TrialReadings};
use crate::settle::HostMonitor;
use std::io;
use tare_model::conditions::Counter;
use tare_model::metric::Unit;

/// The name of each counter, and the kernel's in `memory.stat`.
const COUNTERS: [(&str, &str); 2] = [
    ("box-page-faults", "pgfault"),
    ("box-major-page-faults", "pgmajfault"),
];

/// Of each stage, the counts before, in the order of the names.
#[derive(Default)]
pub(super) struct Collected(Vec<[Option<u64>; 2]>);

fn counts(monitor: &HostMonitor, stage: &Option<Stage<'_>>) -> [Option<u64>; 2] {
    let memory = stage.as_ref().and_then(|stage| monitor.memory(stage.box_id));
    memory.map_or([None; 2], |memory| memory.stats(COUNTERS.map(|(_, key)| key)))
}

impl Collector for Collected {
    fn begin(&mut self, monitor: &mut HostMonitor, stages: &mut [Option<Stage<'_>>]) -> io::Result<()> {
        self.0 = stages.iter().map(|stage| counts(monitor, stage)).collect();
        Ok(())
    }

    fn end(
        &mut self,
        monitor: &mut HostMonitor,
        stages: &mut [Option<Stage<'_>>],
        seen: &mut [TrialReadings],
    ) -> io::Result<()> {
        for ((before, stage), seen) in self.0.iter().zip(&*stages).zip(seen) {
            let after = counts(monitor, stage);
            for (i, (name, _)) in COUNTERS.iter().enumerate() {
                if let Some(counter) = before[i].zip(after[i]).map(of_a_trial) {
                    seen.host.counters.insert((*name).to_owned(), counter);
                }
            }
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
fn of_a_trial((before, after): (u64, u64)) -> Counter {
    Counter {
        value: after.saturating_sub(before) as f64,
        unit: Unit::One,
    }
}
