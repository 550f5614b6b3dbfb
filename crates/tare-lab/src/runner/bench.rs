//! What every way to measure works with: the boxes, the recorder and what was found out so far.

use super::arm::{Arm, FIRST, Pace, Servers, Tally};
use super::boxes::Boxes;
use super::live::{CellBoxes, LiveBoxes};
use super::pace::{self, Paces};
use super::recorder::{Ended, Recorder};
use super::{Event, Stop};
use crate::failures;
use crate::settle::HostMonitor;
use crate::trial;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use tare_host::interrupt;
use tare_model::finding::Finding;
use tare_model::results::ProcessUsage;
use tare_model::study::{Cell, Study, Workload};
use tare_model::workload::Place;
use tare_study::design;
use tare_study::plan::PlannedTrial;

/// Set apart from the streams of blocks and of paddings.
const ROUND_STREAMS: u64 = 1 << 62;

/// The bench of a run.
pub(super) struct Bench<'a> {
    pub study: &'a Study,
    pub boxes: Boxes<'a>,
    pub recorder: Recorder<'a>,
    /// The boxes of the cohort under way.
    pub live: LiveBoxes,
    /// How long a unit of work takes in each cell, as far as was found out.
    pub paces: Paces,
}

impl Bench<'_> {
    /// An arm for each cell whose box is there.
    pub fn arms(&self, due: Vec<PlannedTrial>, shadow_baselines: Vec<Cell>) -> Vec<Arm> {
        let Some(first) = due.first().cloned() else {
            return Vec::new();
        };
        let of_shadow = |cell| PlannedTrial {
            cell,
            ..first.clone()
        };
        let own = due.into_iter().map(|planned| (planned, false));
        let beside = shadow_baselines.into_iter().map(|cell| (of_shadow(cell), true));
        let all = own
            .chain(beside)
            .filter(|(planned, _)| self.live.contains_key(&planned.cell.kind));
        all.filter_map(|(planned, is_shadow)| self.arm(planned, is_shadow))
            .collect()
    }

    /// How many processes a cell may have: a command is a new one in each repetition anyway, and
    /// the data of two kernels must fit into the box.
    fn processes(&self, cell: &Cell) -> u32 {
        let workload = self.study.workload(cell);
        let memory_bytes = self.study.instance_of(&cell.kind).map(|i| i.size.memory_bytes);
        let fit = workload
            .zip(memory_bytes)
            .is_some_and(|(workload, memory_bytes)| {
                workload.kernel().is_some()
                    && design::holds_two(&workload, memory_bytes)
                    && !self.has_one_port(cell, &workload)
            });
        if fit { pace::PROCESSES } else { 1 }
    }

    /// Whether no more than one server in its box can be reached.
    fn has_one_port(&self, cell: &Cell, workload: &Workload) -> bool {
        let serves = workload.servers().any(|role| role.place == Place::Tested);
        serves && self.boxes.platforms.network(&cell.kind.platform).is_published()
    }

    /// The workload of a trial. The chance of a load is the same for all cells of a block, and
    /// its rate, as a share of a peak, for all platforms; as long as there is none, it is a closed
    /// loop, by which the peak is found.
    fn seeded(&self, planned: &PlannedTrial) -> Option<Workload> {
        let seed = self.study.protocol.seed.wrapping_add(planned.block.into());
        let peak = self.paces.peak_of(self.study, &planned.cell);
        Some(self.study.workload(&planned.cell)?.seeded(seed, peak))
    }

    /// A cell's arm before its process is started.
    pub fn arm(&self, planned: PlannedTrial, is_shadow: bool) -> Option<Arm> {
        Some(Arm {
            workload: self.seeded(&planned)?,
            padding_bytes: self.padding(&planned),
            patience: trial::patience(self.study),
            freezes: self
                .paces
                .freezes
                .get(&planned.cell.kind)
                .copied()
                .unwrap_or(false),
            pace: Pace {
                unit_ns: self.paces.of(&planned.cell).unwrap_or(0.0),
                gate_ns: 0.0,
                order: pace::order(1),
                processes: self.processes(&planned.cell),
                every: 1,
            },
            waiting: BTreeSet::new(),
            servers: Servers::default(),
            tally: Tally {
                box_cpu_seconds: Some(0.0),
                ..Tally::default()
            },
            paused: false,
            lost: None,
            planned,
            is_shadow,
        })
    }

    /// Bytes by which the environment is padded: another stack position in
    /// every trial, the same when the study is repeated.
    pub fn padding(&self, planned: &PlannedTrial) -> u32 {
        let attempt = u32::from(self.recorder.failed_once(planned));
        let mut rng = ChaCha8Rng::seed_from_u64(self.study.protocol.seed);
        rng.set_stream((1 << 63) | (u64::from(attempt) << 32) | u64::from(planned.trial));
        rng.random_range(0..4096)
    }

    /// The order within rounds, from the study's seed.
    pub fn round_order(&self, arms: &[Arm]) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.study.protocol.seed);
        let first = arms.first().map_or(0, |arm| arm.planned.trial);
        let again = arms
            .first()
            .is_some_and(|arm| self.recorder.failed_once(&arm.planned));
        rng.set_stream(ROUND_STREAMS | (u64::from(again) << 32) | u64::from(first));
        rng
    }

    /// Waits before a trial: for how long, and what that gives reason to doubt.
    pub fn quiet(&mut self, planned: &PlannedTrial) -> Result<(Duration, Vec<Finding>), Stop> {
        let mut waited = (Duration::ZERO, Vec::new());
        if self.study.protocol.settle {
            self.recorder.observe(Event::Settling(planned));
            waited = self.boxes.monitor.settle()?;
        }
        self.rest()?;
        self.recorder.observe(Event::Running(planned));
        Ok(waited)
    }

    /// The pause before a trial, the same in every cell.
    pub fn rest(&self) -> Result<(), Stop> {
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

    /// Finds something out of each of these trials; one that fails by that is recorded and not due
    /// any more.
    pub fn find_out(
        &mut self,
        due: &mut Vec<PlannedTrial>,
        find: impl Fn(&mut Self, &PlannedTrial) -> Result<Option<Ended>, Stop>,
    ) -> Result<(), Stop> {
        for planned in std::mem::take(due) {
            match find(self, &planned)? {
                None => due.push(planned),
                Some(ended) => self.recorder.record(&planned, ended)?,
            }
        }
        Ok(())
    }

    /// Starts the process of a cell by itself, to find something out by `act`, and ends
    /// it: what it used, or how its trial failed by that. A box that is lost is removed.
    pub fn probe(
        &mut self,
        planned: &PlannedTrial,
        act: impl FnOnce(&mut Arm, &mut CellBoxes, &HostMonitor) -> Result<(), Stop>,
    ) -> Result<Result<Option<ProcessUsage>, Ended>, Stop> {
        match self.arm(planned.clone(), true) {
            Some(arm) => self.probe_by(arm, act),
            None => Ok(Ok(None)),
        }
    }

    /// The same by this arm.
    pub fn probe_by(
        &mut self,
        mut arm: Arm,
        act: impl FnOnce(&mut Arm, &mut CellBoxes, &HostMonitor) -> Result<(), Stop>,
    ) -> Result<Result<Option<ProcessUsage>, Ended>, Stop> {
        let kind = &arm.planned.cell.kind.clone();
        let Some(held) = self.live.get_mut(kind) else {
            return Ok(Ok(None));
        };
        let box_id = held.own.id;
        match self.boxes.make_ready(held, &arm.workload) {
            Err(failure) => arm.lose_box(failure),
            Ok(()) => self.boxes.start(&mut arm, held, FIRST, &mut self.recorder)?,
        }
        if arm.lives() {
            act(&mut arm, held, &self.boxes.monitor)?;
        }
        let used = arm.stop(held)?.first().map(|(exited, _)| exited.usage);
        arm.judge_memory(held);
        let Some(lost) = arm.lost else {
            return Ok(Ok(used));
        };
        if !lost.box_lives {
            self.remove(kind)?;
        }
        Ok(Err(Ended::in_box(box_id, failures::without_result(lost.failure))))
    }
}
