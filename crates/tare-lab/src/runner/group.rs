//! A group: cells of a stand that run side by side, slice by slice, and become one
//! record of the group and one of each trial.

use super::arm::Arm;
use super::boxes::{Present, supply};
use super::record::Ended;
use super::seen::Seen;
use super::{Event, RunError, Runner, Stop, pace};
use crate::figures;
use crate::plan::PlannedTrial;
use crate::trial;
use std::time::Duration;
use tare_box::interrupt;
use tare_model::group::{GroupRecord, Member, Series, WorkDone, rounds_of_start};
use tare_model::kernel::KernelReport;
use tare_model::protocol::Exited;
use tare_model::results::{Outcome, Record, Success};
use tare_model::study::Cell;
use tare_model::time::nanoseconds;

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

    /// A cell's arm before its process is started.
    pub(super) fn arm(&self, planned: PlannedTrial, is_partner: bool) -> Option<Arm> {
        Some(Arm {
            workload: self.study.workload(&planned.cell)?,
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
            starts: 1,
            every: 1,
            units: 0,
            used: None,
            slices: Vec::new(),
            places: Vec::new(),
            host_ns: 0,
            ways_ns: Vec::new(),
            turns: 0,
            paused: false,
            lost: None,
            planned,
            is_partner,
        })
    }

    /// Starts all processes, lets them work in rounds and ends them; those of kernels twice.
    fn measure(&mut self, arms: &mut [Arm], pass: u32, present: &mut Present) -> Result<Measured, Stop> {
        self.supply_all(arms, present)?;
        for arm in arms.iter_mut() {
            self.start(arm, present)?;
        }
        let rounds = if self.is_spoiled(arms, pass) {
            0
        } else {
            self.find_paces(arms, present)?
        };
        let starts = arms.iter().map(|arm| arm.starts).max().unwrap_or(1);
        let beginning = self.look_around(arms, present)?;
        let mut rng = self.round_order(arms);
        for start in 0..starts {
            if start > 0 {
                self.start_anew(arms, present)?;
            }
            if self.is_spoiled(arms, pass) {
                break;
            }
            let rounds = rounds_of_start(rounds, starts, start);
            self.rounds(arms, present, rounds, &mut rng, pass)?;
        }
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

    /// Copies into each box what its workload needs.
    pub(super) fn supply_all(&mut self, arms: &mut [Arm], present: &mut Present) -> Result<(), Stop> {
        for arm in arms {
            let kind = &arm.planned.cell.kind;
            let has_host_files = self.has_host_files(kind);
            let Some(held) = present.get_mut(kind) else {
                continue;
            };
            if let Err(failure) = supply(held, &arm.workload, has_host_files) {
                if interrupt::requested() {
                    return Err(Stop::Interrupted);
                }
                arm.lose_box(failure);
            }
        }
        Ok(())
    }

    fn start(&self, arm: &mut Arm, present: &mut Present) -> Result<(), Stop> {
        let held = present.get_mut(&arm.planned.cell.kind).filter(|_| arm.lives());
        let bounds = trial::bounds(self.study, &arm.workload, arm.padding_bytes);
        held.map_or(Ok(()), |held| arm.start(held, bounds))
    }

    /// Ends the processes of those that are started twice, then starts them anew. The slice
    /// that each then does does not count.
    fn start_anew(&self, arms: &mut [Arm], present: &mut Present) -> Result<(), Stop> {
        // All end first: what one gave up is then dealt out among all.
        for arm in twice(arms) {
            arm.used = stop(arm, present)?.map(|(exited, _)| exited.usage);
        }
        for arm in twice(arms) {
            self.start(arm, present)?;
        }
        for arm in twice(arms).filter(|arm| arm.lives()) {
            if let Some(held) = present.get_mut(&arm.planned.cell.kind) {
                arm.go(held, arm.order)?;
            }
        }
        Ok(())
    }

    /// Removes the boxes that failed with their processes.
    fn remove_dead(&mut self, arms: &[Arm], present: &mut Present) -> Result<(), RunError> {
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
                let ended = ended(arm, end, &mut seen, i, group);
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

/// The arms that have two processes.
fn twice(arms: &mut [Arm]) -> impl Iterator<Item = &mut Arm> {
    arms.iter_mut().filter(|arm| arm.starts > 1)
}

/// Ends the process of an arm that lives; one whose answer is wrong is lost.
fn stop(arm: &mut Arm, present: &mut Present) -> Result<End, Stop> {
    let held = present.get_mut(&arm.planned.cell.kind).filter(|_| arm.lives());
    let Some(held) = held else {
        return Ok(None);
    };
    let Some((mut exited, stdout)) = arm.stop(held)? else {
        return Ok(None);
    };
    if let Some(before) = arm.used.take() {
        exited.usage = before.and(exited.usage);
    }
    match figures::report(&arm.workload, &stdout) {
        Ok(report) => Ok(Some((exited, report))),
        Err(failure) => {
            arm.lose(failure);
            Ok(None)
        }
    }
}

/// What came of the trial of the arm `i`.
fn ended(arm: &Arm, end: End, seen: &mut Seen, i: usize, group: u32) -> Ended {
    let host = seen.host(i);
    let mut findings = seen.findings(i);
    let outcome = match (&arm.lost, end) {
        (None, Some((exited, report))) => {
            let success = success(arm, &exited, report);
            findings.extend(trial::doubts(&success, &host));
            Outcome::Ok(success)
        }
        (Some(lost), _) => trial::without_result(lost.failure.clone()),
        (None, None) => Outcome::Failed(trial::bad_report("nothing was told of its end".to_owned())),
    };
    Ended {
        box_id: Some(seen.box_ids[i]),
        group: matches!(outcome, Outcome::Ok(_)).then_some(group),
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
        starts: arm.starts,
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
    let mut times = arm.ways_ns.clone();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or(0)
}

/// One figure per metric, over all slices.
fn success(arm: &Arm, exited: &Exited, report: Option<KernelReport>) -> Success {
    Success {
        samples: figures::of_slices(&arm.workload, &series(arm).collect(), &exited.usage, arm.units),
        process: exited.usage,
        kernel: report,
        repetitions: None,
        padding_bytes: arm.padding_bytes,
    }
}
