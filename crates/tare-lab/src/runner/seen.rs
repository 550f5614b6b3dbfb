//! What the host saw of the rounds of a group.

use super::arm::Arm;
use super::stand::Present;
use super::{Runner, Stop};
use crate::conditions::{self, Beginning};
use crate::settle::{self, Observation};
use crate::trial;
use tare_box::cgroup::Usage;
use tare_box::host;
use tare_model::finding::Finding;
use tare_model::results::HostReadings;
use tare_model::time::nanoseconds;

/// What was read before the first round.
pub(super) struct Around {
    begun_unix_ns: u64,
    observation: Observation,
    own_ns: u64,
    arms: Vec<(Option<Beginning>, Option<Usage>)>,
}

/// What was read of each arm, in their order.
pub(super) struct Seen {
    /// When the rounds began.
    pub begun_unix_ns: u64,
    pub box_ids: Vec<u32>,
    host: Vec<HostReadings>,
    findings: Vec<Vec<Finding>>,
}

impl Seen {
    /// The readings of an arm.
    pub fn host(&self, arm: usize) -> HostReadings {
        self.host.get(arm).cloned().unwrap_or_default()
    }

    /// What they give reason to doubt; told once.
    pub fn findings(&mut self, arm: usize) -> Vec<Finding> {
        self.findings.get_mut(arm).map(std::mem::take).unwrap_or_default()
    }
}

impl Runner<'_> {
    pub(super) fn look_around(&mut self, arms: &[Arm], present: &mut Present) -> Result<Around, Stop> {
        let mut read = Vec::new();
        for arm in arms {
            let held = present.get_mut(&arm.planned.cell.kind).filter(|_| arm.lives());
            read.push(match held {
                Some(held) => {
                    // A box that is frozen in between has a clock that stands still meanwhile.
                    let link = (!arm.freezes).then(|| held.running.link());
                    let beginning = Beginning::read(link, &self.watch)?;
                    (Some(beginning), self.watch.usage(held.id))
                }
                None => (None, None),
            });
        }
        Ok(Around {
            begun_unix_ns: host::unix_ns(),
            own_ns: self.watch.own_ns(),
            observation: self.watch.begin()?,
            arms: read,
        })
    }

    pub(super) fn look_back(
        &mut self,
        around: Around,
        arms: &[Arm],
        present: &mut Present,
    ) -> Result<Seen, Stop> {
        let stretch = self.watch.end(&around.observation)?;
        // Also of the controller, whose turns lie between the slices.
        let own_ns = self.watch.own_ns().saturating_sub(around.own_ns);
        let mut seen = Seen {
            begun_unix_ns: around.begun_unix_ns,
            box_ids: Vec::new(),
            host: Vec::new(),
            findings: Vec::new(),
        };
        for (arm, before) in arms.iter().zip(around.arms) {
            let held = present.get_mut(&arm.planned.cell.kind);
            seen.box_ids.push(held.as_ref().map_or(0, |held| held.id));
            let mut host = HostReadings::default();
            let mut findings = stretch.map(settle::findings).unwrap_or_default();
            if let Some(held) = held {
                let (beginning, usage) = before;
                host = trial::readings(usage, self.watch.usage(held.id));
                let (freeze, thaw) = held.waking.take().unzip();
                host.freeze_ns = freeze.map(nanoseconds);
                host.thaw_ns = thaw.map(nanoseconds);
                if let Some(beginning) = beginning {
                    let answers = arm.lives() && !arm.freezes;
                    let link = answers.then(|| held.running.link());
                    let set = self.pinned_set(&arm.planned.cell.kind);
                    host.conditions = beginning.end(link, &self.watch, held.id, set, Some(own_ns))?;
                    findings.extend(conditions::findings(&host.conditions, &mut self.watch));
                }
            }
            host.wall_ns = arm.host_ns.iter().sum();
            host.others_load = stretch.map(|s| s.others);
            host.steal = stretch.map(|s| s.steal);
            seen.host.push(host);
            seen.findings.push(findings);
        }
        Ok(seen)
    }
}
