//! Trials in one piece, one after another.

use super::arm::{Arm, FIRST};
use super::bench::Bench;
use super::group::Measured;
use super::live::CellBoxes;
use super::recorder::Ended;
use super::{Stop, cold, group, hooks, pace, served, throttle};
use crate::failures;
use crate::load;
use crate::trial::{self, TrialBox, Tried};
use std::time::Duration;
use tare_host::interrupt;
use tare_model::gate::Order;
use tare_model::results::{HostReadings, Outcome};
use tare_model::study::Workload;
use tare_model::time::nanoseconds;
use tare_study::addresses::Book;
use tare_study::placement::Placement;
use tare_study::plan::PlannedTrial;

/// Runs trials in one piece, in their order; a box that is dead after one is removed.
pub(super) fn measure(bench: &mut Bench<'_>, due: &[PlannedTrial]) -> Result<(), Stop> {
    for planned in due {
        let kind = &planned.cell.kind;
        match bench.study.workload(&planned.cell) {
            Some(workload) if workload.is_served_command() => {
                served::run(bench, planned)?;
                continue;
            }
            Some(workload) if workload.servers().next().is_some() => {
                run_at_gate(bench, planned)?;
                continue;
            }
            _ => {}
        }
        let Some(mut held) = bench.live.remove(kind) else {
            continue;
        };
        let lives = run_in_box(bench, planned, &mut held);
        if matches!(lives, Ok(false)) {
            bench.boxes.destroy(held, &mut bench.recorder)?;
        } else {
            bench.live.insert(kind.clone(), held);
        }
        lives?;
    }
    Ok(())
}

/// One trial in a living box; false if the box is dead after it.
fn run_in_box(bench: &mut Bench<'_>, planned: &PlannedTrial, held: &mut CellBoxes) -> Result<bool, Stop> {
    let Some(workload) = bench.study.workload(&planned.cell) else {
        return Ok(true);
    };
    let timeout = trial::timeout(bench.study);
    let ready = bench.boxes.make_ready(held, &workload);
    if let Err(failure) = ready.and_then(|()| cold::cool(held, &workload)) {
        if interrupt::requested() {
            return Err(Stop::Interrupted);
        }
        let outcome = failures::without_result(held.judge_failure(failure));
        let ended = Ended::in_box(held.own.id, outcome);
        bench.recorder.record(planned, ended)?;
        return Ok(false);
    }
    let (waited, mut findings) = bench.quiet(planned)?;
    let mut tried = try_once(bench, planned, held, &workload, &Book::default())?;
    if tried.box_lives
        && let Err(failure) = hooks::tear_down(held, &workload, timeout)
    {
        tried.fail(failure);
    }
    held.judge_memory(&mut tried);
    findings.extend(tried.findings);
    let ended = Ended {
        findings,
        host: Some(readings(held, waited, tried.host)),
        ..Ended::in_box(held.own.id, tried.outcome)
    };
    bench.recorder.record(planned, ended)?;
    Ok(tried.box_lives)
}

/// Runs what is timed once, where it runs, and holds what it tells against the host.
pub(super) fn try_once(
    bench: &mut Bench<'_>,
    planned: &PlannedTrial,
    held: &mut CellBoxes,
    workload: &Workload,
    book: &Book,
) -> Result<Tried, Stop> {
    let placement = workload.timed().map_or(Placement::Cell, Placement::of);
    let padding = bench.padding(planned);
    let id = held.own.id;
    let (link, elsewhere) = held.links(&placement);
    let site = TrialBox {
        id,
        link,
        elsewhere,
        cpu_set: bench.study.cpu_set(&planned.cell.kind),
    };
    let mut tried = trial::run(
        site,
        &mut bench.boxes.monitor,
        bench.study,
        workload,
        book,
        padding,
    )?;
    if tried.interrupted {
        return Err(Stop::Interrupted);
    }
    tried.check_plausibility(
        bench.boxes.known(&planned.cell.kind, held, &placement),
        &placement,
    );
    Ok(tried)
}

/// A trial in one piece of a kernel whose server is a process of its own: one long slice,
/// behind some that warm up and tell how much work that is.
fn run_at_gate(bench: &mut Bench<'_>, planned: &PlannedTrial) -> Result<(), Stop> {
    let Some(arm) = bench.arm(planned.clone(), false) else {
        return Ok(());
    };
    let mut arms = [arm];
    bench.boxes.supply_all(&mut arms, &mut bench.live)?;
    let (waited, mut findings) = bench.quiet(planned)?;
    let [arm] = &mut arms;
    let mut order = None;
    if let Some(held) = bench.live.get_mut(&planned.cell.kind).filter(|_| arm.lives()) {
        bench.boxes.start(arm, held, FIRST, &mut bench.recorder)?;
        // An open loop lasts as long as its file says: rare latencies take many requests.
        let told = arm.workload.seconds.filter(|_| arm.workload.is_open_loop());
        let trial_ns = told.unwrap_or(bench.study.protocol.trial_seconds) * 1e9;
        // In a part of a quota's period, work is either not throttled at all or stands still.
        let least_ns = match bench.paces.is_throttled(&planned.cell) {
            true => throttle::STRETCH_NS,
            false => 0.0,
        };
        order = order_of(arm, held, trial_ns, least_ns.max(WARM_UP * trial_ns))?;
    }
    let beginning = bench.boxes.look_around(&arms, &mut bench.live)?;
    let [arm] = &mut arms;
    arm.tally.host_ns = 0;
    if let (Some(order), Some(held)) = (order, bench.live.get_mut(&planned.cell.kind))
        && let Some(done) = arm.go(held, FIRST, order)?
    {
        arm.keep(done, 0);
    }
    let seen = bench.boxes.look_back(beginning, &arms, &mut bench.live)?;
    let [arm] = &mut arms;
    let ends = vec![group::stop(arm, &mut bench.live)?];
    let mut measured = Measured {
        slice: Duration::ZERO,
        rounds: 1,
        seen,
        ends,
    };
    bench.judge(&mut arms, &measured)?;
    let end = measured.ends.pop().flatten();
    let mut ended = group::ended(&arms[0], end, &mut measured.seen, 0, None);
    ended.findings.append(&mut findings);
    if let Outcome::Failed(failure) = ended.outcome {
        let peak = bench.paces.own_peak(bench.study, &planned.cell);
        ended.outcome = Outcome::Failed(load::explained(failure, &ended.findings, peak));
    }
    if let Some(host) = &mut ended.host {
        host.waited_ns = nanoseconds(waited);
    }
    Ok(bench.recorder.record(planned, ended)?)
}

/// What the host read of a trial, and how long waking its box took.
pub(super) fn readings(held: &mut CellBoxes, waited: Duration, host: HostReadings) -> HostReadings {
    let (freeze, thaw) = held.waking.take().unzip();
    HostReadings {
        waited_ns: nanoseconds(waited),
        freeze_ns: freeze.map(nanoseconds),
        thaw_ns: thaw.map(nanoseconds),
        ..host
    }
}

/// Part of a trial in one piece that the slices before it are worked up to: a tenth.
const WARM_UP: f64 = 0.1;

/// The order for so many nanoseconds of work, found in ever longer slices up to those of a
/// warm-up; `None` if the arm is lost in one of them.
pub(super) fn order_of(
    arm: &mut Arm,
    held: &mut CellBoxes,
    trial_ns: f64,
    warm_up_ns: f64,
) -> Result<Option<Order>, Stop> {
    let least = arm.workload.least_units();
    let mut units = least;
    while arm.lives() {
        let Some(done) = arm.go(held, FIRST, pace::order(units))? else {
            break;
        };
        match pace::next_guess(units, done.slice.wall_ns(), warm_up_ns) {
            Some(next) => units = next,
            None => {
                return Ok(Some(Order {
                    units: pace::units(trial_ns, arm.pace.unit_ns).max(least),
                    lead: 0,
                }));
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{study, with_runner};
    use super::*;
    use tare_study::design::ProtocolOptions;
    use tare_study::plan::{self, Room};

    #[test]
    fn a_trial_in_one_piece_is_of_no_group_and_leaves_its_box() {
        let study = study(&["fake"], &["syscall"], ProtocolOptions::default());
        let planned = plan::block(&study, Room::UNBOUNDED, 0)[0].groups[0].trials[0].clone();
        let results = with_runner(&study, |runner| {
            let mut bench = runner.bench;
            let kind = &planned.cell.kind;
            let Ok(Some(held)) = bench.boxes.obtain(kind, 0, &mut bench.recorder) else {
                panic!("no box");
            };
            bench.live.insert(kind.clone(), held);
            let measured = measure(&mut bench, std::slice::from_ref(&planned));
            assert!(measured.is_ok() && bench.live.contains_key(kind));
            bench.remove(kind).unwrap();
        });
        let trials: Vec<_> = results.trials().collect();
        assert!(matches!(trials[0].outcome, Outcome::Ok(_)), "{trials:?}");
        assert_eq!((trials.len(), trials[0].group), (1, None));
    }
}
