//! Cells in slices: a process in each box, at its gate, which works in rounds.

use super::Stop;
use super::arm::{Arm, FIRST, Lost};
use super::baselines::is_spoiled;
use super::bench::Bench;
use super::group::{self, Measured};
use super::live::LiveBoxes;
use std::time::Duration;
use tare_model::finding::Reason;

/// Measures the cells of a group slice by slice.
pub(super) struct Sliced<'b, 'a> {
    pub bench: &'b mut Bench<'a>,
}

impl Sliced<'_, '_> {
    /// Starts all processes, lets them work in rounds and ends them.
    pub fn measure(
        &mut self,
        arms: &mut [Arm],
        pass: u32,
        present: &mut LiveBoxes,
    ) -> Result<Measured, Stop> {
        self.bench.boxes.supply_all(arms, present)?;
        for arm in arms.iter_mut() {
            self.start_in_present(arm, FIRST, present)?;
        }
        let mut rounds = 0;
        if !is_spoiled(self.bench.study, arms, pass) {
            rounds = self.find_paces(arms, present)?;
            self.start_second(arms, present)?;
        }
        if is_spoiled(self.bench.study, arms, pass) {
            rounds = 0;
        }
        let beginning = self.bench.boxes.look_around(arms, present)?;
        self.rounds(arms, present, rounds, pass)?;
        let seen = self.bench.boxes.look_back(beginning, arms, present)?;
        let mut ends = Vec::new();
        for arm in arms {
            ends.push(group::stop(arm, present)?);
        }
        Ok(Measured {
            slice: self.slice(),
            rounds,
            seen,
            ends,
        })
    }

    fn start_in_present(&mut self, arm: &mut Arm, process: u16, present: &mut LiveBoxes) -> Result<(), Stop> {
        let held = present.get_mut(&arm.planned.cell.kind).filter(|_| arm.lives());
        held.map_or(Ok(()), |held| self.bench.start(arm, held, process))
    }

    /// Starts the second process of the arms that are to have two; each does a slice that does
    /// not count.
    fn start_second(&mut self, arms: &mut [Arm], present: &mut LiveBoxes) -> Result<(), Stop> {
        for arm in arms.iter_mut().filter(|arm| arm.pace.processes > 1) {
            let lived = arm.lives();
            self.start_in_present(arm, FIRST + 1, present)?;
            let cannot = |lost: &Lost| lost.failure.reason == Reason::CannotRun;
            if lived && arm.lost.as_ref().is_some_and(cannot) {
                // One is there: a box that has no room for another does with it.
                arm.lost = None;
                arm.pace.processes = 1;
            }
            match present.get_mut(&arm.planned.cell.kind) {
                Some(held) if arm.lives() && arm.pace.processes > 1 => {
                    arm.go(held, FIRST + 1, arm.pace.order)?;
                }
                Some(held) => arm.rest(held),
                None => {}
            }
        }
        Ok(())
    }

    /// Aim for a slice.
    pub fn slice(&self) -> Duration {
        Duration::try_from_secs_f64(self.bench.study.protocol.slicing.slice_seconds()).unwrap_or_default()
    }
}
