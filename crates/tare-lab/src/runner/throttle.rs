//! Which cells a quota throttles when they run in one piece: they are not sliced, since a
//! box that rests between its slices saves up quota.

use super::arm::Arm;
use super::boxes::{Held, supply};
use super::stand::Present;
use super::{Runner, Stop, pace};
use crate::plan::PlannedTrial;
use crate::settle::Watch;
use crate::trial;
use tare_model::platform::Provisioning;
use tare_model::results::ProcessUsage;
use tare_model::study::Cell;

/// Length of the stretch that tells: some quota periods of 100 ms.
const STRETCH_NS: f64 = 350e6;
/// Share of the stretch for which a cell that counts as throttled was.
const SHARE: f64 = 0.01;

impl Runner<'_> {
    /// Parts the trials that run in one piece, since a quota throttles them, from those
    /// that run in slices.
    pub(super) fn part(
        &mut self,
        due: Vec<PlannedTrial>,
        present: &mut Present,
    ) -> Result<(Vec<PlannedTrial>, Vec<PlannedTrial>), Stop> {
        let mut parted = (Vec::new(), Vec::new());
        for planned in due {
            if self.is_throttled(&planned, present)? {
                parted.0.push(planned);
            } else {
                parted.1.push(planned);
            }
        }
        Ok(parted)
    }

    /// Whether a quota throttles a cell, found out once.
    fn is_throttled(&mut self, planned: &PlannedTrial, present: &mut Present) -> Result<bool, Stop> {
        let cell = &planned.cell;
        if cell.kind.provisioning == Provisioning::Pinned {
            return Ok(false);
        }
        if let Some(known) = self.paces.throttled.get(cell) {
            return Ok(*known);
        }
        let found = match self.threads_over_quota(cell) {
            Some(over) => over > 1.0,
            None => self.is_seen_throttled(planned, present)?,
        };
        self.paces.throttled.insert(cell.clone(), found);
        Ok(found)
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

    /// Runs it for some quota periods and looks at the counters of its quota.
    fn is_seen_throttled(&mut self, planned: &PlannedTrial, present: &mut Present) -> Result<bool, Stop> {
        let mut throttled = false;
        self.probe(planned, present, |arm, held, watch| {
            if watch.usage(held.id).is_none() {
                // Nobody can tell: in one piece it is right either way.
                throttled = true;
                return Ok(());
            }
            let mut units = 1;
            loop {
                let before = watch.usage(held.id);
                let Some(slice) = arm.go(held, pace::order(units))? else {
                    return Ok(());
                };
                let stretch = trial::readings(before, watch.usage(held.id));
                let wall_ns = slice.wall_ns();
                if let Some(next) = pace::next_guess(units, wall_ns, STRETCH_NS) {
                    units = next;
                    continue;
                }
                #[expect(clippy::cast_precision_loss, reason = "a share of a second")]
                let share = stretch.throttled_ns.unwrap_or(0) as f64 / wall_ns as f64;
                throttled = share > SHARE;
                return Ok(());
            }
        })?;
        Ok(throttled)
    }

    /// Starts the process of a cell by itself, to find something out by `act`, and ends
    /// it; what it used. What fails here fails in its trial too, and is told there.
    pub(super) fn probe(
        &mut self,
        planned: &PlannedTrial,
        present: &mut Present,
        act: impl FnOnce(&mut Arm, &mut Held, &Watch) -> Result<(), Stop>,
    ) -> Result<Option<ProcessUsage>, Stop> {
        let kind = &planned.cell.kind;
        let has_host_files = self.has_host_files(kind);
        let (Some(mut arm), Some(held)) = (self.arm(planned.clone(), true), present.get_mut(kind)) else {
            return Ok(None);
        };
        if supply(held, &arm.workload, has_host_files).is_err() {
            return Ok(None);
        }
        arm.start(held, trial::bounds(self.study, &arm.workload, arm.padding_bytes))?;
        if arm.lives() {
            act(&mut arm, held, &self.watch)?;
        }
        let mut used = None;
        if arm.lives() {
            used = arm.stop(held)?.map(|(exited, _)| exited.usage);
        } else if arm.lost.as_ref().is_some_and(|lost| !lost.box_lives)
            && let Some(held) = present.remove(kind)
        {
            self.destroy(held)?;
        }
        Ok(used)
    }
}
