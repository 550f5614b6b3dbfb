//! What the host saw of the rounds of a group.

use super::Stop;
use super::arm::Arm;
use super::boxes::Boxes;
use super::live::LiveBoxes;
use crate::collect::{self, Collectors, Stage};
use crate::plausibility::Witness;
use tare_host::host;
use tare_model::finding::Finding;
use tare_model::results::HostReadings;
use tare_model::study::Study;
use tare_model::time::nanoseconds;

/// What was read before the first round.
pub(super) struct Around {
    begun_unix_ns: u64,
    collectors: Collectors,
}

/// What was read of each arm, in their order.
#[derive(Default)]
pub(super) struct HostObservation {
    /// When the rounds began.
    pub begun_unix_ns: u64,
    pub box_ids: Vec<u32>,
    pub of_arms: Vec<collect::TrialReadings>,
}

impl HostObservation {
    /// The readings of an arm.
    pub fn host(&self, arm: usize) -> HostReadings {
        self.of_arms
            .get(arm)
            .map(|seen| seen.host.clone())
            .unwrap_or_default()
    }

    /// What an arm can be held against.
    pub fn witness(&self, arm: usize) -> Option<Witness<'_>> {
        let seen = self.of_arms.get(arm)?;
        Some(Witness {
            readings: &seen.host,
            window: seen.window,
            others: seen.others,
        })
    }

    /// What they give reason to doubt; told once.
    pub fn findings(&mut self, arm: usize) -> Vec<Finding> {
        let seen = self.of_arms.get_mut(arm);
        seen.map(|seen| std::mem::take(&mut seen.findings))
            .unwrap_or_default()
    }
}

impl Boxes<'_> {
    pub fn look_around(&mut self, arms: &[Arm], present: &mut LiveBoxes) -> Result<Around, Stop> {
        let mut stages = stages(arms, present, self.study);
        for (stage, arm) in stages.iter_mut().zip(arms) {
            if !arm.lives() {
                *stage = None;
            }
        }
        let collectors = Collectors::begin(&mut self.monitor, &mut stages)?;
        Ok(Around {
            begun_unix_ns: host::unix_ns(),
            collectors,
        })
    }

    pub fn look_back(
        &mut self,
        around: Around,
        arms: &[Arm],
        present: &mut LiveBoxes,
    ) -> Result<HostObservation, Stop> {
        let mut stages = stages(arms, present, self.study);
        let mut of_arms = around.collectors.end(&mut self.monitor, &mut stages)?;
        let mut box_ids = Vec::new();
        for (arm, seen) in arms.iter().zip(&mut of_arms) {
            let held = present.get_mut(&arm.planned.cell.kind);
            box_ids.push(held.as_ref().map_or(0, |held| held.own.id));
            let (freeze, thaw) = held.and_then(|held| held.waking.take()).unzip();
            seen.host.freeze_ns = freeze.map(nanoseconds);
            seen.host.thaw_ns = thaw.map(nanoseconds);
            seen.host.wall_ns = arm.tally.host_ns;
        }
        Ok(HostObservation {
            begun_unix_ns: around.begun_unix_ns,
            box_ids,
            of_arms,
        })
    }
}

/// The stage of each arm whose box is there. A box that is frozen between its slices has a
/// clock that stands still meanwhile.
fn stages<'a>(arms: &[Arm], present: &'a mut LiveBoxes, study: &'a Study) -> Vec<Option<Stage<'a>>> {
    let mut links: Vec<_> = present
        .iter_mut()
        .map(|(kind, held)| (kind, held.own.id, held.own.running.link()))
        .collect();
    let stage = |arm: &Arm| {
        let kind = &arm.planned.cell.kind;
        let at = links.iter().position(|(of, ..)| *of == kind)?;
        let (_, box_id, link) = links.swap_remove(at);
        let link = (arm.lives() && !arm.freezes).then_some(link);
        Some(Stage::new(box_id, link, study.cpu_set(kind)))
    };
    arms.iter().map(stage).collect()
}
