//! A group: cells of a cohort that run side by side, slice by slice, and become one
//! record of the group and one of each trial.

use super::arm::Arm;
use super::bench::Bench;
use super::boxes::Boxes;
use super::live::LiveBoxes;
use super::observation::HostObservation;
use super::recorder::Ended;
use super::{RunError, Stop, memory};
use crate::failures;
use crate::figures;
use crate::load::Loaded;
use crate::plausibility::{self, Exchange};
use crate::trial;
use std::time::Duration;
use tare_host::interrupt;
use tare_model::gate::Slice;
use tare_model::group::{GroupRecord, Member, Series, WorkDone};
use tare_model::kernel::KernelReport;
use tare_model::protocol::Exited;
use tare_model::results::{Failure, Outcome, Success};
use tare_model::study::BoxKind;
use tare_model::time::{nanoseconds, total};
use tare_study::placement::Placement;
use tare_study::plan::PlannedTrial;

/// How the process of an arm that lived to the end ended, with a kernel's report.
pub(super) type End = Option<(Exited, Option<KernelReport>)>;

/// What came of the rounds of a group.
pub(super) struct Measured {
    /// Aim for a slice, or length of a turn.
    pub slice: Duration,
    pub rounds: u32,
    pub seen: HostObservation,
    /// Of each arm, in their order.
    pub ends: Vec<End>,
}

impl Measured {
    /// The record of the group, if it has a trial that counts, and what came of each trial; of a group
    /// that is spoiled, those that failed alone.
    pub fn told(
        self,
        arms: &[Arm],
        group: u32,
        spoiled: bool,
    ) -> (Option<GroupRecord>, Vec<(PlannedTrial, Ended)>) {
        let is_told = |arm: &Arm| !(arm.is_shadow || spoiled && arm.lives());
        // Nothing reads a group without trials.
        let is_kept = !spoiled && arms.iter().any(|arm| arm.lives() && !arm.is_shadow);
        let record = is_kept.then(|| self.as_record(arms, group));
        let Self { mut seen, ends, .. } = self;
        let all = arms.iter().enumerate().zip(ends);
        let told = all.filter(|((_, arm), _)| is_told(arm)).map(|((i, arm), end)| {
            let ended = ended(arm, end, &mut seen, i, Some(group));
            (arm.planned.clone(), ended)
        });
        (record, told.collect())
    }

    fn as_record(&self, arms: &[Arm], group: u32) -> GroupRecord {
        let members = arms.iter().zip(&self.seen.box_ids);
        GroupRecord {
            group,
            block: arms[0].planned.block,
            slice_ns: nanoseconds(self.slice),
            rounds: self.rounds,
            members: members.filter_map(|(arm, id)| member(arm, *id)).collect(),
        }
    }
}

impl Boxes<'_> {
    /// Makes each box ready for its trial.
    pub fn supply_all(&mut self, arms: &mut [Arm], live: &mut LiveBoxes) -> Result<(), Stop> {
        for arm in arms.iter_mut().filter(|arm| arm.lives()) {
            if let Some(held) = live.get_mut(&arm.planned.cell.kind)
                && let Err(failure) = self.make_ready(held, &arm.workload)
            {
                if interrupt::requested() {
                    return Err(Stop::Interrupted);
                }
                arm.lose_box(failure);
            }
        }
        Ok(())
    }

    /// Loses the arms of which was told what does not fit what the host saw, with their boxes.
    pub fn check_plausibility(&mut self, arms: &mut [Arm], measured: &Measured, present: &LiveBoxes) {
        for ((i, arm), end) in arms.iter_mut().enumerate().zip(&measured.ends) {
            let kind = &arm.planned.cell.kind;
            let told = present.get(kind).zip(end.as_ref());
            let (Some((held, (exited, _))), Some(seen)) = (told, measured.seen.witness(i)) else {
                continue;
            };
            let placement = arm.placement();
            let known = self.known(kind, held, &placement);
            let held = if arm.tally.turns > 0 {
                plausibility::turns((arm.tally.host_ns, exited.usage.cpu_ns()), known, seen)
            } else {
                // What is told elsewhere is no CPU time of the box that was counted.
                let told_ns = match placement {
                    Placement::Host | Placement::Own(_) => 0,
                    Placement::Cell => total(arm.tally.slices.iter().map(Slice::cpu_ns)),
                };
                let busy = arm.workload.never_waits();
                plausibility::slices(&arm.tally.exchanges, (told_ns, busy), known, seen)
            };
            if let Err(failure) = held {
                arm.lose_box(failure);
            }
        }
    }
}

impl Bench<'_> {
    /// Loses the arms in whose boxes somebody was killed, or that report what does not fit what the host
    /// saw, and removes the boxes that are lost with their arms.
    pub fn judge(&mut self, arms: &mut [Arm], measured: &Measured) -> Result<(), RunError> {
        memory::judge(arms, &mut self.live);
        self.boxes.check_plausibility(arms, measured, &self.live);
        self.remove_dead(arms)
    }

    /// Removes the boxes that failed with their processes.
    pub fn remove_dead(&mut self, arms: &[Arm]) -> Result<(), RunError> {
        let is_dead = |arm: &&Arm| arm.lost.as_ref().is_some_and(|lost| !lost.box_lives);
        let mut dead = arms.iter().filter(is_dead);
        dead.try_for_each(|arm| self.remove(&arm.planned.cell.kind))
    }

    /// Removes the box of this kind, if it is there.
    pub fn remove(&mut self, kind: &BoxKind) -> Result<(), RunError> {
        match self.live.remove(kind) {
            Some(held) => self.boxes.destroy(held, &mut self.recorder),
            None => Ok(()),
        }
    }
}

/// Ends the processes of an arm; one whose answer is wrong is lost. What they used together,
/// and what the last reported.
pub(super) fn stop(arm: &mut Arm, present: &mut LiveBoxes) -> Result<End, Stop> {
    let Some(held) = present.get_mut(&arm.planned.cell.kind) else {
        return Ok(None);
    };
    let mut end: End = None;
    for (mut exited, stdout) in arm.stop(held)? {
        if let Some((before, _)) = &end {
            exited.usage = before.usage.and(exited.usage);
            exited.left_running += before.left_running;
        }
        match figures::report(&arm.workload, &stdout) {
            Ok(report) => end = Some((exited, report)),
            Err(failure) => arm.lose(failure),
        }
    }
    Ok(end.filter(|_| arm.lives()))
}

/// What came of the trial of the arm `i`.
pub(super) fn ended(arm: &Arm, end: End, seen: &mut HostObservation, i: usize, group: Option<u32>) -> Ended {
    let host = seen.host(i);
    let mut findings = seen.findings(i);
    let outcome = match (&arm.lost, end) {
        (None, Some((exited, report))) => match success(arm, &exited, report) {
            Ok(success) => {
                findings.extend(trial::doubts(&success, &host));
                findings.extend(trial::left_running(&exited));
                Outcome::Ok(success)
            }
            Err(failure) => Outcome::Failed(failure),
        },
        (Some(lost), _) => {
            let printed = (!arm.servers.words.is_empty()).then(|| arm.all_printed(None));
            failures::without_result(Failure {
                printed: lost.failure.printed.clone().or(printed),
                ..lost.failure.clone()
            })
        }
        (None, None) => Outcome::Failed(failures::bad_report("its end was not reported".to_owned())),
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
    if !arm.lives() || arm.tally.slices.is_empty() {
        return None;
    }
    Some(Member {
        cell: arm.planned.cell.clone(),
        box_id,
        every: arm.pace.every,
        units: arm.pace.order.units,
        lead: arm.pace.order.lead,
        places: arm.tally.places.clone(),
        gate_ns: gate_ns(arm),
        turns: arm.tally.turns,
        frozen: arm.freezes,
        processes: arm.pace.processes,
        parts: series(arm)
            .map(|(name, series)| (name.to_owned(), series))
            .collect(),
    })
}

/// The slices of an arm part by part.
fn series(arm: &Arm) -> impl Iterator<Item = (&str, Series)> {
    let parts = arm.workload.parts().into_iter().enumerate();
    parts.map(|(i, name)| {
        let of = arm.tally.slices.iter().map(|slice| slice.parts[i]);
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
    let mut times: Vec<u64> = arm.tally.exchanges.iter().map(way).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or(0)
}

/// One figure per metric, over all slices.
fn success(arm: &Arm, exited: &Exited, report: Option<KernelReport>) -> Result<Success, Failure> {
    let loaded = match arm.workload.load() {
        Some(spec) => {
            let loaded = Loaded::of(&arm.tally.slices)?;
            loaded.judge(spec)?;
            Some(loaded)
        }
        None => None,
    };
    Ok(Success {
        samples: figures::of_slices(
            &arm.workload,
            &series(arm).collect(),
            (
                &exited.usage,
                arm.tally.box_cpu_seconds,
                arm.servers.ready_seconds,
            ),
            loaded.as_ref(),
            arm.tally.units,
        ),
        process: exited.usage,
        kernel: report,
        repetitions: None,
        padding_bytes: arm.padding_bytes,
        latencies: loaded.as_ref().map(Loaded::text),
        reconnects: loaded.as_ref().map(Loaded::reconnects),
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{arms_of, study, with_runner};
    use super::*;
    use tare_model::finding::Reason;
    use tare_study::design::ProtocolOptions;

    #[test]
    fn a_spoiled_group_has_no_record_and_tells_of_what_failed_alone() {
        let study = study(&["fake", "fake?cost=2"], &["syscall"], ProtocolOptions::default());
        with_runner(&study, |runner| {
            let mut arms = arms_of(&runner.bench);
            arms[0].lose(Failure::new(Reason::Launch, "gone"));
            let told = |spoiled| {
                let seen = HostObservation {
                    box_ids: vec![0, 1],
                    ..HostObservation::default()
                };
                let measured = Measured {
                    slice: Duration::ZERO,
                    rounds: 0,
                    seen,
                    ends: vec![None, None],
                };
                let (record, trials) = measured.told(&arms, 7, spoiled);
                (record.map(|record| record.group), trials.len())
            };
            assert_eq!((told(true), told(false)), ((None, 1), (Some(7), 2)));
        });
    }
}
