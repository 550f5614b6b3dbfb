//! Commands with servers: a trial is one run of the command, while its servers serve.

use super::arm::{Arm, FIRST};
use super::held::{Held, Present};
use super::piece::readings;
use super::record::Ended;
use super::{Runner, Stop, cold};
use crate::faults;
use crate::plan::PlannedTrial;
use crate::trial::{self, Tried};
use tare_model::metric::Source;
use tare_model::results::{Failure, Outcome, Success};
use tare_model::study::Workload;

impl Runner<'_> {
    /// One trial of a command with its servers, which are started before it and ended after it.
    pub(super) fn piece_served(&mut self, planned: &PlannedTrial, present: &mut Present) -> Result<(), Stop> {
        let Some(arm) = self.arm(planned.clone(), false) else {
            return Ok(());
        };
        let mut arms = [arm];
        // What sets up a command that runs in another box needs that box.
        if let Some(held) = present.get_mut(&planned.cell.kind) {
            self.raise_beside(&mut arms[0], held)?;
        }
        self.supply_all(&mut arms, present)?;
        let (waited, mut findings) = self.quiet(planned)?;
        let [arm] = &mut arms;
        let Some(held) = present.get_mut(&planned.cell.kind) else {
            return Ok(());
        };
        let tried = self.served(arm, held)?;
        arm.judge_memory(held);
        let mut ended = Ended {
            box_id: Some(held.own.id),
            ..Ended::without_box(Outcome::Failed(faults::bad_report("it did not run".to_owned())))
        };
        let mut printed = None;
        if let Some(tried) = tried {
            findings.extend(tried.findings);
            ended.host = Some(readings(held, waited, tried.host));
            ended.outcome = tried.outcome;
            printed = tried.printed;
        }
        ended.findings = findings;
        if let Some(lost) = &arm.lost {
            ended.outcome = faults::without_result(Failure {
                printed: Some(arm.all_printed(printed)),
                ..lost.failure.clone()
            });
        }
        self.remove_dead(&arms, present)?;
        Ok(self.record(planned, ended)?)
    }

    /// Starts the servers of an arm, runs its command once and ends them; `None` if it did not
    /// come to the command.
    fn served(&mut self, arm: &mut Arm, held: &mut Held) -> Result<Option<Tried>, Stop> {
        if !arm.lives() {
            return Ok(None);
        }
        let bounds = trial::bounds(self.study, &arm.workload, arm.padding_bytes);
        let mut tried = None;
        if let Some(book) = arm.open(held, FIRST, bounds)? {
            if let Err(failure) = cold::cool(held, &arm.workload) {
                arm.lose(failure);
                arm.stop_servers(held)?;
                return Ok(None);
            }
            let before = held.cpu_ns();
            let mut done = self.try_once(&arm.planned, held, &arm.workload, &book)?;
            let used_ns = before
                .zip(held.cpu_ns())
                .map(|(before, after)| after.saturating_sub(before));
            match &mut done.outcome {
                Outcome::Failed(failure) | Outcome::Skipped(failure) if done.box_lives => {
                    arm.lose(failure.clone());
                }
                Outcome::Failed(failure) | Outcome::Skipped(failure) => arm.lose_box(failure.clone()),
                Outcome::Ok(success) => {
                    count_boxes(success, &arm.workload, used_ns);
                    tell_ready(success, arm);
                }
            }
            tried = Some(done);
        }
        arm.stop_servers(held)?;
        arm.tear_down(held);
        Ok(tried)
    }
}

/// Adds how long its servers took to serve.
fn tell_ready(success: &mut Success, arm: &Arm) {
    let metric = arm
        .workload
        .metrics
        .iter()
        .find(|metric| metric.from == Source::Ready);
    if let Some(metric) = metric {
        success.samples.insert(metric.name.clone(), arm.ready_seconds);
    }
}

/// Adds what the boxes of a command used while it ran, where its workload has a figure of that.
#[expect(clippy::cast_precision_loss, reason = "nanoseconds of one trial")]
fn count_boxes(success: &mut Success, workload: &Workload, used_ns: Option<u64>) {
    let metric = workload.metrics.iter().find(|metric| metric.from == Source::Host);
    if let (Some(metric), Some(cpu_ns @ 1..)) = (metric, used_ns) {
        success.samples.insert(metric.name.clone(), cpu_ns as f64 / 1e9);
    }
}
