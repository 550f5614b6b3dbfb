//! Which cells a quota throttles when they run in one piece: they are not sliced, since a
//! box that rests between its slices saves up quota.

use super::arm::Arm;
use super::boxes::{Held, supply};
use super::record::Ended;
use super::stand::Present;
use super::{Runner, Stop, pace};
use crate::plan::PlannedTrial;
use crate::trial;
use tare_model::platform::Provisioning;
use tare_model::study::Cell;

/// Length of the stretch that tells: some quota periods of 100 ms.
const STRETCH_NS: f64 = 350e6;
/// Share of the stretch for which a cell that counts as throttled was.
const SHARE: f64 = 0.01;

impl Runner<'_> {
    /// Finds out which of these cells a quota throttles, of each once. What fails by that
    /// is a trial that failed.
    pub(super) fn probe_quotas(
        &mut self,
        due: &mut Vec<PlannedTrial>,
        present: &mut Present,
    ) -> Result<(), Stop> {
        for planned in std::mem::take(due) {
            match self.probe_quota(&planned, present)? {
                None => due.push(planned),
                Some(ended) => self.record(&planned, ended)?,
            }
        }
        Ok(())
    }

    fn probe_quota(&mut self, planned: &PlannedTrial, present: &mut Present) -> Result<Option<Ended>, Stop> {
        let cell = &planned.cell;
        if cell.kind.provisioning == Provisioning::Pinned || self.paces.throttled.contains_key(cell) {
            return Ok(None);
        }
        let found = match self.threads_over_quota(cell) {
            Some(over) => over > 1.0,
            None => match self.try_quota(planned, present)? {
                Ok(found) => found,
                Err(ended) => return Ok(Some(ended)),
            },
        };
        self.paces.throttled.insert(cell.clone(), found);
        Ok(None)
    }

    /// Threads of a kernel over the CPUs of its quota, where that tells all: a thread uses
    /// one CPU at most. `None` of a command, and of a box with threads of its own.
    fn threads_over_quota(&mut self, cell: &Cell) -> Option<f64> {
        let instance = self.study.instance_of(&cell.kind)?;
        let workload = self.study.workload(cell)?;
        let quota = instance.size.cpus.as_f64();
        let threads = f64::from(workload.threads()?);
        let platform = self.platforms.get(&cell.kind.platform)?;
        let tells = threads > quota || platform.quota_view() == tare_box::platforms::QuotaView::Inside;
        tells.then(|| threads / quota)
    }

    /// Runs it for some quota periods and looks at the counters of its quota; a box that
    /// is lost by it is removed.
    fn try_quota(
        &mut self,
        planned: &PlannedTrial,
        present: &mut Present,
    ) -> Result<Result<bool, Ended>, Stop> {
        let kind = &planned.cell.kind;
        let (Some(mut arm), Some(held)) = (self.arm(planned.clone(), true), present.get_mut(kind)) else {
            return Ok(Ok(false));
        };
        let box_id = held.id;
        let found = self.stretch(&mut arm, held)?;
        let Some(lost) = arm.lost else {
            return Ok(Ok(found));
        };
        if !lost.box_lives
            && let Some(held) = present.remove(kind)
        {
            self.destroy(held)?;
        }
        Ok(Err(Ended {
            box_id: Some(box_id),
            ..Ended::without_box(trial::without_result(lost.failure))
        }))
    }

    /// Whether its quota throttles a process that is started and ended for that.
    fn stretch(&mut self, arm: &mut Arm, held: &mut Held) -> Result<bool, Stop> {
        if let Err(failure) = supply(held, &arm.workload, self.has_host_files(&held.kind)) {
            arm.lose_box(failure);
            return Ok(false);
        }
        arm.start(held, trial::bounds(self.study, &arm.workload, arm.padding_bytes))?;
        let (mut units, mut throttled) = (1, false);
        while arm.lives() {
            let before = self.watch.usage(held.id);
            let Some(slice) = arm.go(held, pace::order(units))? else {
                break;
            };
            let after = self.watch.usage(held.id);
            let wall_ns = slice.wall_ns();
            if let Some(next) = pace::next_guess(units, wall_ns, STRETCH_NS) {
                units = next;
                continue;
            }
            let stretch = trial::readings(before, after);
            #[expect(clippy::cast_precision_loss, reason = "a share of a second")]
            let share = stretch.throttled_ns.unwrap_or(0) as f64 / wall_ns as f64;
            throttled = share > SHARE;
            break;
        }
        if arm.lives() {
            arm.stop(held)?;
        }
        Ok(throttled)
    }
}
