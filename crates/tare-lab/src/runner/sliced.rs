//! Cells in slices: a process in each box, at its gate, which works in rounds.

use super::arm::{Arm, FIRST, Lost};
use super::baselines::is_spoiled;
use super::bench::Bench;
use super::group::{self, Measured};
use super::{Stop, pace};
use rand::seq::SliceRandom;
use std::time::{Duration, Instant};
use tare_host::interrupt;
use tare_model::finding::Reason;
use tare_model::platform::Provisioning;
use tare_model::study::{Cell, Study};
use tare_study::plan::ROUNDS_FOR_TWO;

/// Slices for which a first unit may last and yet be tried once more.
const TRIED_AGAIN: f64 = 20.0;

/// Times the time meant for a group after which no round begins: beside a compiler, `spawn` took four times as long, and
/// left nothing to the workloads that could be decided.
const OVERTIME: f64 = 2.0;

/// Starts all processes, lets them work in rounds and ends them.
pub(super) fn measure(bench: &mut Bench<'_>, arms: &mut [Arm], pass: u32) -> Result<Measured, Stop> {
    bench.boxes.supply_all(arms, &mut bench.live)?;
    for arm in arms.iter_mut() {
        start_in_present(bench, arm, FIRST)?;
    }
    let (mut rounds, mut slice) = (0, slice(bench));
    if !is_spoiled(bench.study, arms, pass) {
        (rounds, slice) = find_paces(bench, arms, slice)?;
        start_second(bench, arms)?;
    }
    if is_spoiled(bench.study, arms, pass) {
        rounds = 0;
    }
    let beginning = bench.boxes.look_around(arms, &mut bench.live)?;
    let rounds = run_rounds(bench, arms, rounds, pass)?;
    let seen = bench.boxes.look_back(beginning, arms, &mut bench.live)?;
    let mut ends = Vec::new();
    for arm in arms {
        ends.push(group::stop(arm, &mut bench.live)?);
    }
    Ok(Measured {
        slice,
        rounds,
        seen,
        ends,
    })
}

/// Starts a process in each box and finds how much work makes a slice: rounds that take so many seconds of the first arm.
pub(super) fn warm(bench: &mut Bench<'_>, arms: &mut [Arm], seconds: f64) -> Result<u32, Stop> {
    bench.boxes.supply_all(arms, &mut bench.live)?;
    for arm in arms.iter_mut() {
        start_in_present(bench, arm, FIRST)?;
    }
    let (rounds, _) = find_paces(bench, arms, slice(bench))?;
    let share = seconds / bench.study.protocol.trial_seconds;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few thousand rounds"
    )]
    Ok((f64::from(rounds) * share).ceil() as u32)
}

fn start_in_present(bench: &mut Bench<'_>, arm: &mut Arm, process: u16) -> Result<(), Stop> {
    let held = bench.live.get_mut(&arm.planned.cell.kind).filter(|_| arm.lives());
    held.map_or(Ok(()), |held| {
        bench.boxes.start(arm, held, process, &mut bench.recorder)
    })
}

/// Starts the second process of the arms that are to have two; each does a slice that does
/// not count.
fn start_second(bench: &mut Bench<'_>, arms: &mut [Arm]) -> Result<(), Stop> {
    for arm in arms.iter_mut().filter(|arm| arm.pace.processes > 1) {
        let lived = arm.lives();
        start_in_present(bench, arm, FIRST + 1)?;
        let cannot = |lost: &Lost| lost.failure.reason == Reason::CannotRun;
        if lived && arm.lost.as_ref().is_some_and(cannot) {
            // One is there: a box that has no room for another does with it.
            arm.lost = None;
            arm.pace.processes = 1;
        }
        match bench.live.get_mut(&arm.planned.cell.kind) {
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
pub(super) fn slice(bench: &Bench<'_>) -> Duration {
    Duration::try_from_secs_f64(bench.study.protocol.slicing.slice_seconds()).unwrap_or_default()
}

/// Finds how much work makes a slice of each arm. The slices that tell do not count;
/// they are the same for all arms, so that processes whose work is not the same all
/// along stay in step. Returns the rounds that make a trial, and how long a slice is to be.
fn find_paces(bench: &mut Bench<'_>, arms: &mut [Arm], longest: Duration) -> Result<(u32, Duration), Stop> {
    let slice_ns = longest.as_secs_f64() * 1e9;
    let share = arms
        .first()
        .map_or(1.0, |arm| bench.recorder.share(arm.workload.name()));
    let trial_ns = share * bench.study.protocol.trial_seconds * 1e9;
    let Some(pacesetter) = choose_pacesetter(bench.study, arms) else {
        return Ok((0, longest));
    };
    let mut guess = match arms[pacesetter].pace.unit_ns {
        pace if pace > 0.0 => pace::units(slice_ns, pace),
        _ => 1,
    };
    let least = arms[pacesetter].workload.least_units();
    guess = guess.max(least);
    // The first unit of all touches memory and connects for the first time. A stall in it would
    // leave a trial with one unit in each slice: seen once, 302 round trips in 3 s.
    let mut is_new = arms[pacesetter].pace.unit_ns <= 0.0;
    let pacesetter = loop {
        if interrupt::requested() {
            return Err(Stop::Interrupted);
        }
        let taken = try_units(bench, arms, guess, slice_ns)?;
        // Another one leads where that one failed.
        let Some(pacesetter) = choose_pacesetter(bench.study, arms) else {
            return Ok((0, longest));
        };
        let wall_ns = taken.get(pacesetter).copied().flatten();
        match wall_ns.and_then(|wall| pace::next_guess(guess, wall, slice_ns)) {
            Some(next) => guess = next,
            None if guess == least && is_new && is_short(wall_ns, slice_ns) => is_new = false,
            None => break pacesetter,
        }
    };
    confirm(bench, arms, (pacesetter, guess), slice_ns)?;
    bench.paces.note(arms);
    let aim_ns = if bench.study.protocol.slicing.are_found() {
        pace::slice_ns(arms, pacesetter, slice_ns, trial_ns)
    } else {
        slice_ns
    };
    let rounds = pace::share_out(arms, pacesetter, (aim_ns, slice_ns), trial_ns);
    Ok((rounds, Duration::from_secs_f64(aim_ns / 1e9)))
}

/// Has all do the same slice once more, and the quicker of the two tells: a stall in the one slice
/// that finds an amount of work would leave a cell, or the whole group, with far too little in all
/// rounds. Slices of kernels cost little; others are repeated where one seems far slower than it
/// was or than the pacesetter is.
fn confirm(
    bench: &mut Bench<'_>,
    arms: &mut [Arm],
    (pacesetter, units): (usize, u64),
    slice_ns: f64,
) -> Result<(), Stop> {
    let pacesetter_ns = arms[pacesetter].pace.unit_ns;
    let doubted = |arm: &Arm| {
        let known = bench.paces.of(&arm.planned.cell);
        let is_quick = arm.workload.kernel().is_some() && arm.pace.unit_ns <= slice_ns;
        let is_doubtful = || pace::is_doubtful(arm.pace.unit_ns, known, units, slice_ns, pacesetter_ns);
        arm.lives() && (is_quick || is_doubtful())
    };
    if !arms.iter().any(doubted) {
        return Ok(());
    }
    for arm in arms.iter_mut() {
        let held = bench.live.get_mut(&arm.planned.cell.kind).filter(|_| arm.lives());
        let (Some(held), unit_ns, gate_ns) = (held, arm.pace.unit_ns, arm.pace.gate_ns) else {
            continue;
        };
        arm.go(held, FIRST, arm.pace.order)?;
        arm.pace.unit_ns = arm.pace.unit_ns.min(unit_ns);
        arm.pace.gate_ns = arm.pace.gate_ns.min(gate_ns);
    }
    Ok(())
}

/// One slice of so many units of each arm; an arm that is known to be far too slow for
/// it does one of its own. The wall time of each.
fn try_units(
    bench: &mut Bench<'_>,
    arms: &mut [Arm],
    units: u64,
    slice_ns: f64,
) -> Result<Vec<Option<u64>>, Stop> {
    let mut taken = Vec::new();
    for arm in arms.iter_mut() {
        let held = bench.live.get_mut(&arm.planned.cell.kind).filter(|_| arm.lives());
        let Some(held) = held else {
            taken.push(None);
            continue;
        };
        #[expect(clippy::cast_precision_loss, reason = "units of some milliseconds")]
        let too_slow = arm.pace.unit_ns * units as f64 > 4.0 * slice_ns;
        let own = if too_slow {
            pace::units(slice_ns, arm.pace.unit_ns).max(arm.workload.least_units())
        } else {
            units
        };
        arm.pace.order = pace::order(own);
        let done = arm.go(held, FIRST, arm.pace.order)?;
        taken.push(done.map(|done| done.slice.wall_ns()));
    }
    Ok(taken)
}

/// The arm whose amount of work all take that do the same kind of work: a pinned
/// baseline, which nothing throttles; of several workloads the study's first.
fn choose_pacesetter(study: &Study, arms: &[Arm]) -> Option<usize> {
    let place = |name: &str| study.workloads.iter().position(|w| w.name() == name);
    let rank = |arm: &Arm| {
        let Cell { kind, workload } = &arm.planned.cell;
        (
            place(workload),
            kind.platform != study.baseline,
            kind.provisioning != Provisioning::Pinned,
        )
    };
    let living = (0..arms.len()).filter(|i| arms[*i].lives());
    living.min_by_key(|i| rank(&arms[*i]))
}

/// So many rounds of all arms; fewer where the group is worth nothing any more, or takes far longer than it should. How
/// many they were.
fn run_rounds(bench: &mut Bench<'_>, arms: &mut [Arm], rounds: u32, pass: u32) -> Result<u32, Stop> {
    let mut rng = bench.round_order(arms);
    let mut order: Vec<usize> = (0..arms.len()).collect();
    let (begun, most) = (Instant::now(), OVERTIME * pace::seconds(arms, rounds));
    for round in 0..rounds {
        if interrupt::requested() {
            return Err(Stop::Interrupted);
        }
        if round >= 2 * ROUNDS_FOR_TWO && begun.elapsed().as_secs_f64() > most {
            return Ok(round);
        }
        order.shuffle(&mut rng);
        // Between the slices of others, those of slow cells would part what is compared.
        order.sort_by_key(|i| arms[*i].pace.every > 1);
        let mut place = 0;
        for i in &order {
            let arm = &mut arms[*i];
            let held = bench.live.get_mut(&arm.planned.cell.kind);
            let Some(held) = held.filter(|_| arm.lives() && round.is_multiple_of(arm.pace.every)) else {
                continue;
            };
            if let Some(done) = arm.go(held, arm.process_of(round), arm.pace.order)? {
                arm.keep(done, place);
                place += 1;
            }
        }
        if is_spoiled(bench.study, arms, pass) {
            return Ok(round + 1);
        }
    }
    Ok(rounds)
}

/// Whether a unit that was longer than a slice may have been so by a stall.
#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a unit")]
fn is_short(wall_ns: Option<u64>, slice_ns: f64) -> bool {
    wall_ns.is_some_and(|wall| (wall as f64) < TRIED_AGAIN * slice_ns)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{arms_of, study, with_runner};
    use super::*;
    use tare_model::finding::Reason;
    use tare_model::results::Failure;
    use tare_study::design::ProtocolOptions;

    #[test]
    fn rounds_should_take_what_their_slices_do_unless_boxes_are_frozen() {
        let study = study(&["fake?cost=2", "fake"], &["syscall"], ProtocolOptions::default());
        with_runner(&study, |runner| {
            let mut arms = arms_of(&runner.bench);
            for (arm, every) in arms.iter_mut().zip([1, 4]) {
                arm.pace.order = pace::order(10);
                (arm.pace.unit_ns, arm.pace.gate_ns, arm.pace.every) = (1e6, 1e5, every);
            }
            // Ten units and one before them, and the way there.
            let seconds = pace::seconds(&arms, 100);
            assert!((seconds - 125.0 * 11.1e-3).abs() < 1e-9, "{seconds}");
            arms[1].freezes = true;
            assert_eq!(pace::seconds(&arms, 100), f64::INFINITY);
        });
    }

    #[test]
    fn the_baseline_sets_the_pace_and_another_one_where_it_is_lost() {
        let study = study(&["fake?cost=2", "fake"], &["syscall"], ProtocolOptions::default());
        with_runner(&study, |runner| {
            let mut arms = arms_of(&runner.bench);
            let pacesetter = choose_pacesetter(&study, &arms).unwrap();
            assert_eq!(arms[pacesetter].planned.cell.kind.platform, study.baseline);
            arms[pacesetter].lose(Failure::new(Reason::Launch, "gone"));
            assert_eq!(choose_pacesetter(&study, &arms), Some(1 - pacesetter));
        });
    }
}
