//! The boxes beside that of a cell, in which roles of its workload run: one on the host, which is
//! the same beside every cell, and one of the cell's own kind for each role that is apart.

use super::Stop;
use super::arm::Arm;
use super::boxes::{Boxes, Obtain, not_made, unknown};
use super::live::{CellBoxes, LiveBox, carry_in, hostname};
use super::recorder::Recorder;
use crate::trial;
use tare_host::interrupt;
use tare_host::net::Network;
use tare_model::finding::Reason;
use tare_model::results::Failure;
use tare_model::study::Workload;
use tare_model::workload::Role;
use tare_platforms::{ANSWER_DEADLINE, on_this_host};
use tare_study::placement::Placement;

/// The names of boxes in each of them.
const HOSTS: &str = "/etc/hosts";

impl Boxes<'_> {
    /// Starts one of an arm's processes, in this box or in one beside it.
    pub fn start(
        &mut self,
        arm: &mut Arm,
        held: &mut CellBoxes,
        process: u16,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), Stop> {
        if self.raise_beside(arm, held, recorder)? {
            let bounds = trial::bounds(self.study, &arm.workload, arm.padding_bytes);
            arm.start(held, process, bounds)?;
        }
        Ok(())
    }

    /// Has the boxes beside this one that the arm needs; false if the arm is lost by that.
    pub fn raise_beside(
        &mut self,
        arm: &mut Arm,
        held: &mut CellBoxes,
        recorder: &mut Recorder<'_>,
    ) -> Result<bool, Stop> {
        match self.raise_beside_of(held, &arm.workload, arm.planned.block, recorder) {
            Ok(()) => {}
            Err(Obtain::Stop(stop)) => return Err(stop),
            Err(Obtain::Failed(failure)) => arm.lose(failure),
        }
        Ok(arm.lives())
    }

    /// Has a box beside this one for each role of a workload that runs in another, with the files
    /// that it needs.
    fn raise_beside_of(
        &mut self,
        held: &mut CellBoxes,
        workload: &Workload,
        block: u32,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), Obtain> {
        let mut aparts = 0;
        for role in &workload.roles {
            let placement = Placement::of(role);
            aparts += usize::from(matches!(placement, Placement::Own(_)));
            if placement == Placement::Cell {
                continue;
            }
            if !held.beside.contains_key(&placement) {
                if interrupt::requested() {
                    return Err(Stop::Interrupted.into());
                }
                let made = match placement {
                    Placement::Own(_) => self.make_apart(held, (role, aparts), block, recorder)?,
                    Placement::Host | Placement::Cell => self.make_outside(role)?,
                };
                held.beside.insert(placement.clone(), made);
            }
            let has_host_files = match placement {
                Placement::Own(_) => self.has_host_files(&held.kind),
                // Without an image it has the host's own files.
                Placement::Host | Placement::Cell => self.study.image.is_none(),
            };
            if let Some(boxed) = held.beside.get_mut(&placement).filter(|_| !has_host_files) {
                carry_in(boxed, role.files.iter()).map_err(Obtain::Failed)?;
            }
        }
        self.name_boxes(held, workload).map_err(Obtain::Failed)
    }

    /// Tells all boxes of a cell the names of all, where each has an address of its own.
    fn name_boxes(&self, held: &mut CellBoxes, workload: &Workload) -> Result<(), Failure> {
        let network = self.platforms.network(&held.kind.platform);
        if workload.apart().next().is_none() || matches!(network, Network::None | Network::Host) {
            return Ok(());
        }
        let hosts = held.hosts(workload);
        if held.named == hosts {
            return Ok(());
        }
        for (_, boxed) in held.of_its_kind() {
            let carried = boxed
                .running
                .carry(HOSTS, 0o644, hosts.as_bytes(), ANSWER_DEADLINE);
            carried.map_err(|e| Failure::new(Reason::CannotRun, e.to_string()))?;
        }
        held.named = hosts;
        Ok(())
    }

    /// The box of the so many-th role that is apart, from 1.
    fn make_apart(
        &mut self,
        held: &CellBoxes,
        (role, nth): (&Role, usize),
        block: u32,
        recorder: &mut Recorder<'_>,
    ) -> Result<LiveBox, Obtain> {
        let id = *self.made;
        let by = (self.run, &*self.binary);
        let spec = self.platforms.apart(self.study, &held.kind, nth, by, &id);
        let mut spec = spec.ok_or_else(|| Obtain::Failed(unknown(&held.kind)))?;
        spec.hostname = hostname(&role.name);
        self.launch(&held.kind, &spec, (Some(&role.name), block), recorder)
    }

    fn make_outside(&mut self, role: &Role) -> Result<LiveBox, Obtain> {
        let id = *self.made;
        let spec = self.platforms.outside(&role.cpus, (self.run, &self.binary), &id);
        let running = on_this_host().launch(&spec).map_err(not_made)?;
        Ok(self.take_in(running, &spec))
    }
}
