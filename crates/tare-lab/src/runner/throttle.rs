//! Which cells a quota throttles when they run in one piece: they are not sliced, since a
//! box that rests between its slices saves up quota.

use super::arm::{Arm, FIRST};
use super::bench::Bench;
use super::live::CellBoxes;
use super::recorder::Ended;
use super::{Stop, pace};
use crate::collect::quota;
use crate::settle::HostMonitor;
use tare_model::platform::Provisioning;
use tare_model::study::Cell;
use tare_study::plan::PlannedTrial;

/// Length of the stretch that tells: some quota periods of 100 ms.
pub(super) const STRETCH_NS: f64 = 350e6;
/// Share of the stretch for which a cell that counts as throttled was.
const SHARE: f64 = 0.01;

/// Finds out which of these cells a quota throttles, of each once. What fails by that
/// is a trial that failed.
pub(super) fn probe_quotas(bench: &mut Bench<'_>, due: &mut Vec<PlannedTrial>) -> Result<(), Stop> {
    bench.find_out(due, probe_quota)
}

fn probe_quota(bench: &mut Bench<'_>, planned: &PlannedTrial) -> Result<Option<Ended>, Stop> {
    let cell = &planned.cell;
    if cell.kind.provisioning == Provisioning::Pinned || bench.paces.throttled.contains_key(cell) {
        return Ok(None);
    }
    let found = match threads_over_quota(bench, cell) {
        Some(over) => over > 1.0,
        None => match try_quota(bench, planned)? {
            Ok(found) => found,
            Err(ended) => return Ok(Some(ended)),
        },
    };
    bench.paces.throttled.insert(cell.clone(), found);
    Ok(None)
}

/// Threads of a kernel over the CPUs of its quota, where that tells all: a thread uses
/// one CPU at most. `None` of a command, and of a box with threads of its own.
fn threads_over_quota(bench: &mut Bench<'_>, cell: &Cell) -> Option<f64> {
    let instance = bench.study.instance_of(&cell.kind)?;
    let workload = bench.study.workload(cell)?;
    let quota = instance.size.cpus.as_f64();
    let threads = f64::from(workload.threads()?);
    let platform = bench.boxes.platforms.get(&cell.kind.platform)?;
    let tells = threads > quota || platform.quota_view() == tare_platforms::QuotaView::Inside;
    tells.then(|| threads / quota)
}

/// Runs it for some quota periods and looks at the counters of its quota.
fn try_quota(bench: &mut Bench<'_>, planned: &PlannedTrial) -> Result<Result<bool, Ended>, Stop> {
    let mut throttled = false;
    let probed = bench.probe(planned, |arm, held, monitor| {
        throttled = is_throttled(arm, held, monitor)?;
        Ok(())
    })?;
    Ok(probed.map(|_| throttled))
}

/// Whether its quota throttles a process that works for some periods without a rest.
fn is_throttled(arm: &mut Arm, held: &mut CellBoxes, monitor: &HostMonitor) -> Result<bool, Stop> {
    if monitor.usage(held.own.id).is_none() {
        // Nobody can tell: in one piece it is right either way.
        return Ok(true);
    }
    let mut units = arm.workload.least_units();
    loop {
        let before = monitor.usage(held.own.id);
        let Some(done) = arm.go(held, FIRST, pace::order(units))? else {
            return Ok(false);
        };
        let throttled = quota(before, monitor.usage(held.own.id)).map_or(0, |quota| quota.throttled_ns);
        let wall_ns = done.slice.wall_ns();
        match pace::next_guess(units, wall_ns, STRETCH_NS) {
            Some(next) => units = next,
            None => {
                #[expect(clippy::cast_precision_loss, reason = "a share of a second")]
                let share = throttled as f64 / wall_ns as f64;
                return Ok(share > SHARE);
            }
        }
    }
}
