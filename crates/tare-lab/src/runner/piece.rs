//! Trials in one piece, one after another.

use super::boxes::{Held, Present, supply};
use super::record::Ended;
use super::{Event, Runner, Stop};
use crate::plan::PlannedTrial;
use crate::trial;
use std::time::{Duration, Instant};
use tare_box::interrupt;
use tare_model::results::{HostReadings, Outcome};
use tare_model::time::nanoseconds;

impl Runner<'_> {
    /// Runs trials in one piece, in their order; a box that is dead after one is removed.
    pub(super) fn pieces(&mut self, due: &[PlannedTrial], present: &mut Present) -> Result<(), Stop> {
        for planned in due {
            let kind = &planned.cell.kind;
            let Some(mut held) = present.remove(kind) else {
                continue;
            };
            let lives = self.piece(planned, &mut held);
            if matches!(lives, Ok(false)) {
                self.destroy(held)?;
            } else {
                present.insert(kind.clone(), held);
            }
            lives?;
        }
        Ok(())
    }

    /// One trial in a living box; false if the box is dead after it.
    fn piece(&mut self, planned: &PlannedTrial, held: &mut Held) -> Result<bool, Stop> {
        let Some(workload) = self.study.workload(&planned.cell) else {
            return Ok(true);
        };
        if let Err(failure) = supply(held, &workload, self.has_host_files(&planned.cell.kind)) {
            if interrupt::requested() {
                return Err(Stop::Interrupted);
            }
            let ended = Ended {
                box_id: Some(held.id),
                ..Ended::without_box(Outcome::Failed(failure))
            };
            self.record(planned, ended)?;
            return Ok(false);
        }
        let mut waited = Duration::ZERO;
        let mut findings = Vec::new();
        if self.study.protocol.settle {
            (self.observe)(Event::Settling(planned));
            (waited, findings) = self.watch.settle()?;
        }
        self.rest()?;
        (self.observe)(Event::Running(planned));
        let padding = self.padding(planned);
        let set = self.study.pinned_set(&planned.cell.kind);
        let mut tried = trial::run(
            held.running.link(),
            &mut self.watch,
            held.id,
            self.study,
            &workload,
            padding,
            set,
        )?;
        if tried.interrupted {
            return Err(Stop::Interrupted);
        }
        tried.hold_against(self.known(&planned.cell.kind, held));
        findings.extend(tried.findings);
        let (freeze, thaw) = held.waking.take().unzip();
        let host = HostReadings {
            waited_ns: nanoseconds(waited),
            freeze_ns: freeze.map(nanoseconds),
            thaw_ns: thaw.map(nanoseconds),
            ..tried.host
        };
        let ended = Ended {
            box_id: Some(held.id),
            group: None,
            begun_unix_ns: None,
            findings,
            host: Some(host),
            outcome: tried.outcome,
        };
        self.record(planned, ended)?;
        Ok(tried.box_lives)
    }

    /// The pause before a trial, the same in every cell.
    pub(super) fn rest(&self) -> Result<(), Stop> {
        let pause = Duration::try_from_secs_f64(self.study.protocol.pause_seconds).unwrap_or_default();
        let until = Instant::now() + pause;
        while let Ok(slice) = interrupt::next_slice(until) {
            std::thread::sleep(slice);
        }
        if interrupt::requested() {
            return Err(Stop::Interrupted);
        }
        Ok(())
    }
}
