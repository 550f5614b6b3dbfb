//! Turns: slices for commands that cannot be cut by asking. The boxes of a group are let
//! run and stopped in rounds, until each command has ended; the time that a command was
//! let run is what it cost, and its one slice.

use super::arm::{Arm, FIRST};
use super::baselines::is_spoiled;
use super::bench::Bench;
use super::group::{End, Measured};
use super::live::CellBoxes;
use super::{Stop, pace};
use crate::failures;
use crate::trial;
use rand::seq::SliceRandom;
use std::time::{Duration, Instant};
use tare_host::{control_cpu, interrupt};
use tare_model::finding::Reason;
use tare_model::gate::{Part, Slice};
use tare_model::protocol::{Exited, Request};
use tare_model::results::{Failure, ProcessUsage};
use tare_model::study::{BoxKind, Slicing};
use tare_model::time::nanoseconds;
use tare_platforms::link::LinkError;
use tare_study::plan::PlannedTrial;

/// A command that takes less seconds gets too few turns to be told better than by its repetitions.
const LONG_ENOUGH: f64 = 0.4;
/// CPU time over wall time of a command that keeps a CPU busy: one that waits for timers
/// or for others would wait on while it is stopped.
const BUSY: f64 = 0.9;
/// CPU time over wall time of one that others push aside, and how often in a second of CPU
/// time it waits by itself at most.
const PUSHED_ASIDE: f64 = 0.15;
const FEW_WAITS: f64 = 10.0;

/// Whether these trials of one workload take turns: what was asked for, or what one
/// run of the command tells, found out once.
pub(super) fn are_taken(bench: &mut Bench<'_>, due: &[PlannedTrial]) -> Result<bool, Stop> {
    let Some(planned) = due.first() else {
        return Ok(false);
    };
    let Some(workload) = bench.study.workload(&planned.cell) else {
        return Ok(false);
    };
    if !workload.is_command() {
        return Ok(false);
    }
    if matches!(bench.study.protocol.slicing, Slicing::Turns { .. }) {
        return Ok(true);
    }
    if let Some(known) = bench.paces.turns.get(&workload.name) {
        return Ok(*known);
    }
    let quickest = due
        .iter()
        .min_by_key(|p| p.cell.kind.platform != bench.study.baseline);
    let found = match quickest.cloned() {
        Some(planned) => is_worth_turns(bench, &planned)?,
        None => false,
    };
    bench.paces.turns.insert(workload.name, found);
    Ok(found)
}

/// Runs a command once by itself.
fn is_worth_turns(bench: &mut Bench<'_>, planned: &PlannedTrial) -> Result<bool, Stop> {
    let used = bench.probe(planned, |arm, held, _| {
        arm.go(held, FIRST, pace::order(1)).map(drop)
    })?;
    let instance = bench.study.instance_of(&planned.cell.kind);
    let cpus = instance.map_or(1.0, |instance| instance.size.cpus.as_f64());
    // What fails here fails in its trial too, and is told there.
    Ok(used
        .ok()
        .flatten()
        .is_some_and(|used| is_long_and_busy(&used, cpus)))
}

/// Starts a command in every box and lets the boxes run in turns until all have ended.
pub(super) fn measure(bench: &mut Bench<'_>, arms: &mut [Arm], pass: u32) -> Result<Measured, Stop> {
    bench.boxes.supply_all(arms, &mut bench.live)?;
    // A guest's clock stands still while its machine is stopped: it is not compared.
    arms.iter_mut().for_each(|arm| arm.freezes = true);
    let beginning = bench.boxes.look_around(arms, &mut bench.live)?;
    // A box's command keeps its CPUs busy, with more weight than ours: a turn of 20 ms took
    // 33 to 41 before we were let go on, on a busy host up to 264 where the box is not pinned.
    let instances = bench.study.instances.iter();
    let pinned = instances.flat_map(|instance| instance.pinned_set.iter().copied());
    let ends = control_cpu::clear_of(pinned, || let_run(bench, arms, pass))?;
    for arm in arms.iter_mut().filter(|arm| arm.lives() && !arm.paused) {
        if let Some(held) = bench.live.get_mut(&arm.planned.cell.kind) {
            arm.wake(held)?;
        }
    }
    let seen = bench.boxes.look_back(beginning, arms, &mut bench.live)?;
    for arm in arms.iter_mut().filter(|arm| !arm.paused) {
        if let Some(held) = bench.live.get_mut(&arm.planned.cell.kind) {
            arm.tear_down(held);
        }
    }
    // Of a group that was given up: a command is under way in them, which would go on
    // beside what runs next.
    for arm in arms.iter().filter(|arm| arm.paused) {
        bench.remove(&arm.planned.cell.kind)?;
    }
    Ok(Measured {
        slice: turn(bench),
        rounds: 1,
        seen,
        ends,
    })
}

fn let_run(bench: &mut Bench<'_>, arms: &mut [Arm], pass: u32) -> Result<Vec<End>, Stop> {
    let mut commands = ask_stopped(bench, arms)?;
    let turn = turn(bench);
    let limit = Duration::from_secs_f64(bench.study.protocol.timeout_seconds);
    let mut rng = bench.round_order(arms);
    let cells: Vec<_> = arms.iter().map(|arm| &arm.planned.cell.kind).collect();
    let shares = |kind: &&BoxKind| bench.boxes.shares_names(kind);
    let mut phases = phases(&cells, shares).into_iter();
    let mut order = phases.next().unwrap_or_default();
    loop {
        order.shuffle(&mut rng);
        let mut running = false;
        for i in &order {
            let (arm, command) = (&mut arms[*i], &mut commands[*i]);
            let held = bench.live.get_mut(&arm.planned.cell.kind);
            let Some(held) = held.filter(|_| arm.lives() && command.ended.is_none()) else {
                continue;
            };
            running = true;
            command.take_turn(arm, held, turn)?;
            if command.ran > limit && command.ended.is_none() {
                arm.lose_box(Failure::new(
                    Reason::Timeout,
                    format!("did not end within {} s of turns", limit.as_secs_f64()),
                ));
            }
        }
        if interrupt::requested() {
            return Err(Stop::Interrupted);
        }
        if is_spoiled(bench.study, arms, pass) {
            break;
        }
        if !running {
            match phases.next() {
                Some(next) => order = next,
                None => break,
            }
        }
    }
    Ok(commands
        .into_iter()
        .map(|command| command.ended.map(|exited| (exited, None)))
        .collect())
}

/// The cells that take turns together, by their places: never two that share files or ports with the
/// host. One that is stopped while it holds a lock would stop the other, and both would write one file.
/// Of each such cell those of its provisioning go with it, so that platforms are still compared within turns.
fn phases(kinds: &[&BoxKind], shares: impl Fn(&&BoxKind) -> bool) -> Vec<Vec<usize>> {
    let sharing: Vec<usize> = (0..kinds.len()).filter(|i| shares(&kinds[*i])).collect();
    let first_like = |i: usize| {
        let mut alike = sharing.iter();
        alike.position(|j| kinds[*j].provisioning == kinds[i].provisioning)
    };
    let mut phases = vec![Vec::new(); sharing.len().max(1)];
    for i in 0..kinds.len() {
        let own = sharing.iter().position(|j| *j == i);
        phases[own.or_else(|| first_like(i)).unwrap_or(0)].push(i);
    }
    phases
}

/// Stops every box and asks its agent to run the command, which begins with the box's
/// first turn.
fn ask_stopped(bench: &mut Bench<'_>, arms: &mut [Arm]) -> Result<Vec<Turned>, Stop> {
    let mut commands = Vec::new();
    for arm in arms {
        let command = Turned::of(trial::once(bench.study, &arm.workload, arm.padding_bytes)?);
        if let Some(held) = bench.live.get_mut(&arm.planned.cell.kind).filter(|_| arm.lives()) {
            arm.pause(held);
            let asked = held.own.running.link().ask(&command.request, arm.patience);
            if let (true, Err(e)) = (arm.lives(), asked) {
                arm.lose_box(failures::failure(&e));
            }
        }
        commands.push(command);
    }
    Ok(commands)
}

/// Length of a turn.
fn turn(bench: &Bench<'_>) -> Duration {
    Duration::try_from_secs_f64(bench.study.protocol.slicing.turn_seconds()).unwrap_or_default()
}

/// Whether a command that used this in a box of so many CPUs is worth turns: one that used
/// nearly all of them, or hardly ever waited by itself. Beside others it gets less than a
/// CPU although it wants one. Of several processes that wait for one another or for timers
/// one CPU's worth of time tells nothing.
#[expect(clippy::cast_precision_loss, reason = "nanoseconds of hours fit into 53 bits")]
fn is_long_and_busy(used: &ProcessUsage, cpus: f64) -> bool {
    let cpu_seconds = used.cpu_ns() as f64 / 1e9;
    let wall_seconds = used.wall_ns as f64 / 1e9;
    let waits = used.voluntary_switches.map_or(f64::INFINITY, |n| n as f64);
    let wants_a_cpu = cpu_seconds >= PUSHED_ASIDE * wall_seconds && waits <= FEW_WAITS * cpu_seconds;
    let all_busy = cpu_seconds >= BUSY * cpus.max(1.0) * wall_seconds;
    wall_seconds >= LONG_ENOUGH && (all_busy || wants_a_cpu)
}

/// A command that runs in turns.
struct Turned {
    request: Request,
    /// Time for which it was let run.
    ran: Duration,
    ended: Option<Exited>,
}

impl Turned {
    fn of(request: Request) -> Self {
        Self {
            request,
            ran: Duration::ZERO,
            ended: None,
        }
    }

    /// Lets the box run for a turn, or until its command has ended. What it takes to let it
    /// go and to stop it again is part of the time, as it is in every cell.
    fn take_turn(&mut self, arm: &mut Arm, held: &mut CellBoxes, turn: Duration) -> Result<(), Stop> {
        let begun = Instant::now();
        if !arm.resume(held) {
            return Ok(());
        }
        let answer = held.own.running.link().reply(&self.request, turn);
        arm.tally.turns += 1;
        if matches!(answer, Err(LinkError::Timeout { .. })) {
            arm.pause(held);
            self.ran += begun.elapsed();
            return Ok(());
        }
        self.ran += begun.elapsed();
        self.ended = arm.end_of_command(answer)?;
        if let Some(exited) = &mut self.ended {
            let ran_ns = nanoseconds(self.ran);
            // The box's own clock counted the time between its turns, or stood still.
            exited.usage.wall_ns = ran_ns;
            arm.tally.units = 1;
            arm.tally.places.push(0);
            arm.tally.host_ns = ran_ns;
            arm.tally.slices.push(Slice {
                parts: vec![Part {
                    work: 1.0,
                    wall_ns: ran_ns,
                    cpu_ns: exited.usage.cpu_ns(),
                }],
                untimed_ns: 0,
                load: None,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{arms_of, study, with_runner};
    use super::*;
    use tare_model::platform::Provisioning;
    use tare_study::design::ProtocolOptions;

    fn used(wall_ms: u64, cpu_ms: u64, waits: u64) -> ProcessUsage {
        ProcessUsage {
            wall_ns: wall_ms * 1_000_000,
            user_ns: cpu_ms * 1_000_000,
            voluntary_switches: Some(waits),
            ..ProcessUsage::default()
        }
    }

    #[test]
    fn a_kernel_takes_no_turns_even_if_they_are_asked_for() {
        let protocol = ProtocolOptions {
            slicing: Some(Slicing::Turns { seconds: 0.02 }),
            ..ProtocolOptions::default()
        };
        let study = study(&["fake"], &["syscall"], protocol);
        with_runner(&study, |mut runner| {
            let due: Vec<_> = arms_of(&runner.bench)
                .into_iter()
                .map(|arm| arm.planned)
                .collect();
            let are_taken = super::are_taken(&mut runner.bench, &due);
            assert!(due.len() == 1 && matches!(are_taken, Ok(false)));
        });
    }

    #[test]
    fn no_two_cells_that_share_the_hosts_names_take_turns_together() {
        let kind = |platform: &str, provisioning| BoxKind {
            platform: platform.parse().unwrap(),
            provisioning,
            instance: None,
        };
        let all = [Provisioning::Vanilla, Provisioning::Pinned]
            .map(|of| ["native", "runc"].map(|platform| kind(platform, of)));
        let kinds: Vec<&BoxKind> = all.iter().flatten().collect();
        let native = |kind: &&BoxKind| kind.platform.to_string() == "native";
        assert_eq!(phases(&kinds, native), [[0, 1], [2, 3]]);
        assert_eq!(phases(&kinds[1..], native), [vec![0, 1, 2]]);
        assert_eq!(phases(&kinds, |_| false), [[0, 1, 2, 3]]);
        assert_eq!(phases(&kinds[..2], |_| true), [[0], [1]]);
    }

    #[test]
    fn turns_are_for_what_is_long_and_keeps_a_cpu_busy() {
        assert!(is_long_and_busy(&used(1000, 980, 300), 1.0));
        assert!(
            is_long_and_busy(&used(2000, 900, 2), 1.0),
            "others had the CPU meanwhile"
        );
        assert!(is_long_and_busy(&used(1000, 980, 3), 2.0), "one of two CPUs");
        assert!(is_long_and_busy(&used(1000, 1900, 300), 2.0), "both CPUs");
        assert!(
            !is_long_and_busy(&used(1000, 1000, 250), 2.0),
            "two that wait half of the time"
        );
        assert!(!is_long_and_busy(&used(200, 199, 0), 1.0), "too short");
        assert!(
            !is_long_and_busy(&used(1000, 500, 400), 1.0),
            "it waits for others"
        );
        assert!(!is_long_and_busy(&used(1000, 1, 1), 1.0), "it sleeps");
    }
}
