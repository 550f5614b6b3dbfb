//! A group: cells of a stand that run side by side, slice by slice, and become one
//! record of the group and one of each trial.

use super::arm::{Arm, FIRST, Lost};
use super::boxes::Obtain;
use super::held::{Held, Present};
use super::record::Ended;
use super::seen::Seen;
use super::{Event, RunError, Runner, Stop, aside, pace};
use crate::against::{self, Exchange};
use crate::design;
use crate::faults;
use crate::figures;
use crate::home::Home;
use crate::load::Loaded;
use crate::plan::PlannedTrial;
use crate::trial;
use std::collections::BTreeSet;
use std::time::Duration;
use tare_host::interrupt;
use tare_host::net::Network;
use tare_model::finding::Reason;
use tare_model::gate::Slice;
use tare_model::group::{GroupRecord, Member, Series, WorkDone};
use tare_model::kernel::KernelReport;
use tare_model::protocol::Exited;
use tare_model::results::{Failure, Outcome, Record, Success};
use tare_model::study::{Cell, Workload};
use tare_model::time::{nanoseconds, total};
use tare_model::workload::Place;

/// How the process of an arm that lived to the end ended, with a kernel's report.
pub(super) type End = Option<(Exited, Option<KernelReport>)>;

/// What came of the rounds of a group.
pub(super) struct Measured {
    /// Aim for a slice, or length of a turn.
    pub slice: Duration,
    pub rounds: u32,
    pub seen: Seen,
    /// Of each arm, in their order.
    pub ends: Vec<End>,
}

impl Runner<'_> {
    /// Runs trials side by side with the baselines `partners`; those that a quota throttles
    /// follow in one piece.
    pub(super) fn side_by_side(
        &mut self,
        due: Vec<PlannedTrial>,
        partners: Vec<Cell>,
        pass: u32,
        present: &mut Present,
    ) -> Result<(), Stop> {
        if due.is_empty() {
            return Ok(());
        }
        self.rest()?;
        self.find_idle_use(present)?;
        let is_throttled = |planned: &PlannedTrial| self.paces.is_throttled(&planned.cell);
        let (pieces, sliced): (Vec<_>, Vec<_>) = due.into_iter().partition(is_throttled);
        let in_turns = self.take_turns(&sliced, present)?;
        (self.observe)(Event::SideBySide(&sliced));
        let mut arms = self.arms(sliced, partners, present);
        if arms.iter().any(|arm| !arm.is_partner) {
            let measured = if in_turns {
                self.measure_turns(&mut arms, pass, present)?
            } else {
                self.measure(&mut arms, pass, present)?
            };
            Self::judge_memory(&mut arms, present);
            self.hold_against(&mut arms, &measured, present);
            self.remove_dead(&arms, present)?;
            let spoiled = self.is_spoiled(&arms, pass);
            self.record_group(arms, measured, spoiled)?;
        }
        self.pieces(&pieces, present)
    }

    /// An arm for each cell whose box is there.
    fn arms(&self, due: Vec<PlannedTrial>, partners: Vec<Cell>, present: &Present) -> Vec<Arm> {
        let Some(first) = due.first().cloned() else {
            return Vec::new();
        };
        let of_partner = |cell| PlannedTrial {
            cell,
            ..first.clone()
        };
        let own = due.into_iter().map(|planned| (planned, false));
        let beside = partners.into_iter().map(|cell| (of_partner(cell), true));
        let all = own
            .chain(beside)
            .filter(|(planned, _)| present.contains_key(&planned.cell.kind));
        all.filter_map(|(planned, is_partner)| self.arm(planned, is_partner))
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
        serves && self.platforms.network(&cell.kind.platform) == Network::Published
    }

    /// The workload of a trial. The chance of a load is the same for all cells of a block, and
    /// its rate, as a share of a peak, for all platforms; as long as there is none, it is a closed
    /// loop, by which the peak is found.
    fn seeded(&self, planned: &PlannedTrial) -> Option<Workload> {
        let seed = self.study.protocol.seed.wrapping_add(planned.block.into());
        let peak = self.peak_of(&planned.cell);
        Some(self.study.workload(&planned.cell)?.seeded(seed, peak))
    }

    /// A cell's arm before its process is started.
    pub(super) fn arm(&self, planned: PlannedTrial, is_partner: bool) -> Option<Arm> {
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
            unit_ns: self.paces.of(&planned.cell).unwrap_or(0.0),
            order: pace::order(1),
            processes: self.processes(&planned.cell),
            waiting: BTreeSet::new(),
            serving: Vec::new(),
            ready_seconds: 0.0,
            words: Vec::new(),
            every: 1,
            units: 0,
            slices: Vec::new(),
            places: Vec::new(),
            host_ns: 0,
            exchanges: Vec::new(),
            box_cpu_seconds: Some(0.0),
            turns: 0,
            paused: false,
            lost: None,
            planned,
            is_partner,
        })
    }

    /// Starts all processes, lets them work in rounds and ends them.
    fn measure(&mut self, arms: &mut [Arm], pass: u32, present: &mut Present) -> Result<Measured, Stop> {
        self.supply_all(arms, present)?;
        for arm in arms.iter_mut() {
            self.start_in_present(arm, FIRST, present)?;
        }
        let mut rounds = 0;
        if !self.is_spoiled(arms, pass) {
            rounds = self.find_paces(arms, present)?;
            self.start_second(arms, present)?;
        }
        if self.is_spoiled(arms, pass) {
            rounds = 0;
        }
        let beginning = self.look_around(arms, present)?;
        self.rounds(arms, present, rounds, pass)?;
        let seen = self.look_back(beginning, arms, present)?;
        let mut ends = Vec::new();
        for arm in arms {
            ends.push(stop(arm, present)?);
        }
        Ok(Measured {
            slice: self.slice(),
            rounds,
            seen,
            ends,
        })
    }

    /// Makes each box ready for its trial: what its workload needs is copied into it, and set up.
    pub(super) fn supply_all(&mut self, arms: &mut [Arm], present: &mut Present) -> Result<(), Stop> {
        for arm in arms.iter_mut().filter(|arm| arm.lives()) {
            let kind = &arm.planned.cell.kind;
            let has_host_files = self.has_host_files(kind);
            let Some(held) = present.get_mut(kind) else {
                continue;
            };
            held.count_memory();
            let timeout = trial::timeout(self.study);
            if let Err(failure) = aside::make_ready(held, &arm.workload, has_host_files, timeout) {
                if interrupt::requested() {
                    return Err(Stop::Interrupted);
                }
                arm.lose_box(failure);
            }
        }
        Ok(())
    }

    fn start_in_present(&mut self, arm: &mut Arm, process: u16, present: &mut Present) -> Result<(), Stop> {
        let held = present.get_mut(&arm.planned.cell.kind).filter(|_| arm.lives());
        held.map_or(Ok(()), |held| self.start(arm, held, process))
    }

    /// Starts one of an arm's processes, in this box or in one beside it.
    pub(super) fn start(&mut self, arm: &mut Arm, held: &mut Held, process: u16) -> Result<(), Stop> {
        if self.raise_beside(arm, held)? {
            let bounds = trial::bounds(self.study, &arm.workload, arm.padding_bytes);
            arm.start(held, process, bounds)?;
        }
        Ok(())
    }

    /// Has the boxes beside this one that the arm needs; false if the arm is lost by that.
    pub(super) fn raise_beside(&mut self, arm: &mut Arm, held: &mut Held) -> Result<bool, Stop> {
        match self.raise_beside_of(held, &arm.workload, arm.planned.block) {
            Ok(()) => {}
            Err(Obtain::Stop(stop)) => return Err(stop),
            Err(Obtain::Failed(failure)) => arm.lose(failure),
        }
        Ok(arm.lives())
    }

    /// Starts the second process of the arms that are to have two; each does a slice that does
    /// not count.
    fn start_second(&mut self, arms: &mut [Arm], present: &mut Present) -> Result<(), Stop> {
        for arm in arms.iter_mut().filter(|arm| arm.processes > 1) {
            let lived = arm.lives();
            self.start_in_present(arm, FIRST + 1, present)?;
            let cannot = |lost: &Lost| lost.failure.reason == Reason::CannotRun;
            if lived && arm.lost.as_ref().is_some_and(cannot) {
                // One is there: a box that has no room for another does with it.
                arm.lost = None;
                arm.processes = 1;
            }
            match present.get_mut(&arm.planned.cell.kind) {
                Some(held) if arm.lives() && arm.processes > 1 => {
                    arm.go(held, FIRST + 1, arm.order)?;
                }
                Some(held) => arm.rest(held),
                None => {}
            }
        }
        Ok(())
    }

    /// Loses the arms of which was told what does not fit what the host saw, with their boxes.
    pub(super) fn hold_against(&mut self, arms: &mut [Arm], measured: &Measured, present: &Present) {
        for ((i, arm), end) in arms.iter_mut().enumerate().zip(&measured.ends) {
            let kind = &arm.planned.cell.kind;
            let told = present.get(kind).zip(end.as_ref());
            let (Some((held, (exited, _))), Some(seen)) = (told, measured.seen.witness(i)) else {
                continue;
            };
            let home = arm.home();
            let known = self.known(kind, held, &home);
            let held = if arm.turns > 0 {
                against::turns((arm.host_ns, exited.usage.cpu_ns()), known, seen)
            } else {
                // What is told elsewhere is no CPU time of the box that was counted.
                let told_ns = match home {
                    Home::Host | Home::Own(_) => 0,
                    Home::Cell => total(arm.slices.iter().map(Slice::cpu_ns)),
                };
                let busy = arm.workload.never_waits();
                against::slices(&arm.exchanges, (told_ns, busy), known, seen)
            };
            if let Err(failure) = held {
                arm.lose_box(failure);
            }
        }
    }

    /// Removes the boxes that failed with their processes.
    pub(super) fn remove_dead(&mut self, arms: &[Arm], present: &mut Present) -> Result<(), RunError> {
        let dead = arms
            .iter()
            .filter(|arm| arm.lost.as_ref().is_some_and(|lost| !lost.box_lives));
        for arm in dead {
            self.remove(&arm.planned.cell.kind, present)?;
        }
        Ok(())
    }

    /// The group's record, then that of each trial; of a group that is spoiled, those that
    /// failed alone.
    fn record_group(&mut self, arms: Vec<Arm>, measured: Measured, spoiled: bool) -> Result<(), RunError> {
        let Measured {
            slice,
            rounds,
            mut seen,
            ends,
        } = measured;
        let group = self.progress.groups;
        let members: Vec<Member> = arms
            .iter()
            .zip(&seen.box_ids)
            .filter_map(|(arm, id)| member(arm, *id))
            .collect();
        // Of a group without a trial, nobody would ask.
        if !spoiled && arms.iter().any(|arm| arm.lives() && !arm.is_partner) {
            self.progress.groups += 1;
            self.append(&Record::Group(GroupRecord {
                group,
                block: arms[0].planned.block,
                slice_ns: nanoseconds(slice),
                rounds,
                members,
            }))?;
        }
        let is_told = |arm: &Arm| !(arm.is_partner || spoiled && arm.lives());
        self.coming = u32::try_from(arms.iter().filter(|arm| is_told(arm)).count()).unwrap_or(u32::MAX);
        for ((i, arm), end) in arms.iter().enumerate().zip(ends) {
            if is_told(arm) {
                self.coming -= 1;
                let ended = ended(arm, end, &mut seen, i, Some(group));
                self.record(&arm.planned, ended)?;
            }
        }
        Ok(())
    }

    /// Aim for a slice.
    pub(super) fn slice(&self) -> Duration {
        Duration::try_from_secs_f64(self.study.protocol.slicing.slice_seconds()).unwrap_or_default()
    }
}

/// Ends the processes of an arm; one whose answer is wrong is lost. What they used together,
/// and what the last reported.
pub(super) fn stop(arm: &mut Arm, present: &mut Present) -> Result<End, Stop> {
    let Some(held) = present.get_mut(&arm.planned.cell.kind) else {
        return Ok(None);
    };
    let mut end: End = None;
    for (mut exited, stdout) in arm.stop(held)? {
        if let Some((before, _)) = &end {
            exited.usage = before.usage.and(exited.usage);
        }
        match figures::report(&arm.workload, &stdout) {
            Ok(report) => end = Some((exited, report)),
            Err(failure) => arm.lose(failure),
        }
    }
    Ok(end.filter(|_| arm.lives()))
}

/// What came of the trial of the arm `i`.
pub(super) fn ended(arm: &Arm, end: End, seen: &mut Seen, i: usize, group: Option<u32>) -> Ended {
    let host = seen.host(i);
    let mut findings = seen.findings(i);
    let outcome = match (&arm.lost, end) {
        (None, Some((exited, report))) => match success(arm, &exited, report) {
            Ok(success) => {
                findings.extend(trial::doubts(&success, &host));
                Outcome::Ok(success)
            }
            Err(failure) => Outcome::Failed(failure),
        },
        (Some(lost), _) => {
            let printed = (!arm.words.is_empty()).then(|| arm.all_printed(None));
            faults::without_result(Failure {
                printed: lost.failure.printed.clone().or(printed),
                ..lost.failure.clone()
            })
        }
        (None, None) => Outcome::Failed(faults::bad_report("its end was not reported".to_owned())),
    };
    Ended {
        box_id: Some(seen.box_ids[i]),
        group: group.filter(|_| matches!(outcome, Outcome::Ok(_))),
        begun_unix_ns: Some(seen.begun_unix_ns),
        findings,
        host: Some(host),
        outcome,
    }
}

/// An arm that was there to the end, as it is stored.
fn member(arm: &Arm, box_id: u32) -> Option<Member> {
    if !arm.lives() || arm.slices.is_empty() {
        return None;
    }
    Some(Member {
        cell: arm.planned.cell.clone(),
        box_id,
        every: arm.every,
        units: arm.order.units,
        lead: arm.order.lead,
        places: arm.places.clone(),
        gate_ns: gate_ns(arm),
        turns: arm.turns,
        frozen: arm.freezes,
        processes: arm.processes,
        parts: series(arm)
            .map(|(name, series)| (name.to_owned(), series))
            .collect(),
    })
}

/// The slices of an arm part by part.
fn series(arm: &Arm) -> impl Iterator<Item = (&str, Series)> {
    let parts = arm.workload.parts().into_iter().enumerate();
    parts.map(|(i, name)| {
        let of = arm.slices.iter().map(|slice| slice.parts[i]);
        let series = Series {
            work: WorkDone::packed(of.clone().map(|part| part.work).collect()),
            wall_ns: of.clone().map(|part| part.wall_ns).collect(),
            cpu_ns: of.map(|part| part.cpu_ns).collect(),
        };
        (name, series)
    })
}

/// Median time of a slice's way to the box and back.
fn gate_ns(arm: &Arm) -> u64 {
    let way = |e: &Exchange| e.host_ns.saturating_sub(e.timed_ns.saturating_add(e.untimed_ns));
    let mut times: Vec<u64> = arm.exchanges.iter().map(way).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or(0)
}

/// One figure per metric, over all slices.
fn success(arm: &Arm, exited: &Exited, report: Option<KernelReport>) -> Result<Success, Failure> {
    let loaded = match arm.workload.load() {
        Some(spec) => {
            let loaded = Loaded::of(&arm.slices)?;
            loaded.judge(spec)?;
            Some(loaded)
        }
        None => None,
    };
    Ok(Success {
        samples: figures::of_slices(
            &arm.workload,
            &series(arm).collect(),
            (&exited.usage, arm.box_cpu_seconds, arm.ready_seconds),
            loaded.as_ref(),
            arm.units,
        ),
        process: exited.usage,
        kernel: report,
        repetitions: None,
        padding_bytes: arm.padding_bytes,
        latencies: loaded.map(|loaded| loaded.text()),
    })
}
