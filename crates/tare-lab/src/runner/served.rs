//! Commands with servers: a trial is one run of the command, while its servers serve.

use super::arm::{Arm, FIRST};
use super::bench::Bench;
use super::live::CellBoxes;
use super::recorder::Ended;
use super::whole_trial::readings;
use super::{Stop, cold, whole_trial};
use crate::failures;
use crate::trial::{self, Tried};
use std::time::Duration;
use tare_model::metric::Source;
use tare_model::results::{Failure, Outcome, Success};
use tare_model::study::Workload;
use tare_study::addresses::Book;
use tare_study::plan::PlannedTrial;

/// One trial of a command with its servers, which are started before it and ended after it.
pub(super) fn run(bench: &mut Bench<'_>, planned: &PlannedTrial) -> Result<(), Stop> {
    let Some(arm) = bench.arm(planned.clone(), false) else {
        return Ok(());
    };
    let mut arms = [arm];
    // What sets up a command that runs in another box needs that box.
    if let Some(held) = bench.live.get_mut(&planned.cell.kind) {
        bench
            .boxes
            .raise_beside(&mut arms[0], held, &mut bench.recorder)?;
    }
    bench.boxes.supply_all(&mut arms, &mut bench.live)?;
    let (waited, mut findings) = bench.quiet(planned)?;
    let [arm] = &mut arms;
    let Some(mut held) = bench.live.remove(&planned.cell.kind) else {
        return Ok(());
    };
    let tried = served(bench, arm, &mut held);
    let held = bench.live.entry(planned.cell.kind.clone()).or_insert(held);
    let tried = tried?;
    arm.judge_memory(held);
    let not_run = Outcome::Failed(failures::bad_report("it did not run".to_owned()));
    let mut ended = Ended::in_box(held.own.id, not_run);
    let mut printed = None;
    if let Some(tried) = tried {
        findings.extend(tried.findings);
        ended.host = Some(readings(held, waited, tried.host));
        ended.outcome = tried.outcome;
        printed = tried.printed;
    }
    ended.findings = findings;
    if let Some(lost) = &arm.lost {
        ended.outcome = failures::without_result(Failure {
            printed: Some(arm.all_printed(printed)),
            ..lost.failure.clone()
        });
    }
    bench.remove_dead(&arms)?;
    Ok(bench.recorder.record(planned, ended)?)
}

/// Starts the servers of an arm, runs its command once and ends them; `None` if it did not
/// come to the command.
fn served(bench: &mut Bench<'_>, arm: &mut Arm, held: &mut CellBoxes) -> Result<Option<Tried>, Stop> {
    if !arm.lives() {
        return Ok(None);
    }
    let bounds = trial::bounds(bench.study, &arm.workload, arm.padding_bytes);
    let mut tried = None;
    let are_new = arm.workload.stays() && held.standing.is_empty();
    let mut book = arm.open(held, FIRST, bounds)?;
    if let Some(of) = book.as_ref().filter(|_| are_new) {
        tried = warm_up(bench, arm, held, of)?;
        book = book.filter(|_| arm.lives());
    }
    if book.is_some()
        && let Err(failure) = cold::cool(held, &arm.workload)
    {
        arm.lose(failure);
        book = None;
    }
    if let Some(book) = book {
        let before = held.cpu_ns();
        let mut done = whole_trial::try_once(bench, &arm.planned, held, &arm.workload, &book)?;
        let used_ns = before
            .zip(held.cpu_ns())
            .map(|(before, after)| after.saturating_sub(before));
        match &mut done.outcome {
            Outcome::Failed(failure) | Outcome::Skipped(failure) => {
                lose(arm, failure.clone(), done.box_lives);
            }
            Outcome::Ok(success) => {
                let used = used_ns
                    .filter(|ns| *ns > 0)
                    .map(|ns| Duration::from_nanos(ns).as_secs_f64());
                tell(success, &arm.workload, &Source::Host, used);
                tell(
                    success,
                    &arm.workload,
                    &Source::Ready,
                    Some(arm.servers.ready_seconds),
                );
            }
        }
        if arm.lives() {
            done.findings.extend(arm.look_after(held)?);
        }
        tried = Some(done);
    }
    arm.stop_servers(held)?;
    arm.tear_down(held);
    Ok(tried)
}

/// Runs the command once for servers that have just begun and stay for further trials, so that the first of these finds them as the
/// others do. What came of it is told only if it failed.
fn warm_up(
    bench: &mut Bench<'_>,
    arm: &mut Arm,
    held: &mut CellBoxes,
    book: &Book,
) -> Result<Option<Tried>, Stop> {
    let done = whole_trial::try_once(bench, &arm.planned, held, &arm.workload, book)?;
    let (Outcome::Failed(failure) | Outcome::Skipped(failure)) = &done.outcome else {
        return Ok(None);
    };
    let detail = format!("in the run before the first trial: {}", failure.detail);
    let failure = Failure {
        detail,
        ..failure.clone()
    };
    lose(arm, failure, done.box_lives);
    Ok(Some(done))
}

/// An arm is lost by a run of its command, and with it the box if that is of no more use.
fn lose(arm: &mut Arm, failure: Failure, box_lives: bool) {
    if box_lives {
        arm.lose(failure);
    } else {
        arm.lose_box(failure);
    }
}

/// Adds a figure that the process itself does not tell, where its workload has it and it is known.
fn tell(success: &mut Success, workload: &Workload, from: &Source, value: Option<f64>) {
    let metric = workload.metrics.iter().find(|metric| metric.from == *from);
    if let Some((metric, value)) = metric.zip(value) {
        success.samples.insert(metric.name.clone(), value);
    }
}
