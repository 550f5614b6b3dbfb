//! Evidence of causes: behind the measured blocks, in boxes of their own, what the host's kernel does for each cell while
//! it works. Probes disturb what they look at, so that no figure of a cost comes from here.

use super::arm::{Arm, FIRST};
use super::bench::Bench;
use super::live::LiveBox;
use super::{Event, Runner, Stop, group, pace, sliced};
use rand::seq::SliceRandom;
use std::time::{Duration, Instant};
use tare_host::cgroup::Meter;
use tare_host::{interrupt, settings};
use tare_model::evidence::{EvidenceRecord, Look, ProbeSet, Seen};
use tare_model::gate::{Order, Slice};
use tare_model::results::{EndReason, Record};
use tare_probes::Probes;
use tare_study::plan::{Cohort, PlannedTrial};

/// Seconds for which a cell works under each set of probes.
const SECONDS: f64 = 0.5;
/// Times that after which no round begins: a command of some seconds is seen at work once.
const OVERTIME: f64 = 2.0;
/// Pieces of work of a cell that a quota throttles in longer ones only.
const PIECES: u32 = 2;
/// Until then a process sleeps behind its answer: its last stretch on a CPU is its own.
const UNTIL_ASLEEP: Duration = Duration::from_micros(100);

impl Runner<'_> {
    /// Looks at every cell of which there is no evidence yet, if the study asks for it and its blocks have ended well.
    pub(super) fn look_for_evidence(&mut self, blocks: EndReason) -> Result<EndReason, Stop> {
        let ended_well = matches!(
            blocks,
            EndReason::Complete | EndReason::Settled | EndReason::BudgetSpent
        );
        if !(self.bench.study.protocol.evidence && ended_well) {
            return Ok(blocks);
        }
        self.bench.boxes.destroy_kept(&mut self.bench.recorder)?;
        self.bench.recorder.begin_evidence();
        for cohort in (self.plan)(0) {
            let looked = self.evidence_of(&cohort);
            for held in std::mem::take(&mut self.bench.live).into_values() {
                self.bench.boxes.destroy(held, &mut self.bench.recorder)?;
            }
            looked?;
        }
        self.bench.recorder.end_evidence();
        Ok(blocks)
    }

    fn evidence_of(&mut self, cohort: &Cohort) -> Result<(), Stop> {
        for group in &cohort.groups {
            let mut due: Vec<PlannedTrial> = group.trials.clone();
            due.retain(|planned| self.can_be_seen(planned));
            for kind in &cohort.kinds {
                self.raise(kind, &mut due, &[])?;
            }
            let mut arms = self.bench.arms(due, Vec::new());
            // Probes that see none of these would slow down everything else on the host.
            arms.retain(|arm| cgroup(&self.bench, arm).is_some());
            arms.iter_mut().for_each(|arm| arm.pace.processes = 1);
            if arms.is_empty() {
                continue;
            }
            let looks = look_with_all(&mut self.bench, &mut arms)?;
            self.bench.remove_dead(&arms)?;
            for (arm, looks) in arms.iter().zip(looks).filter(|(arm, _)| arm.lives()) {
                let own = own(&self.bench, arm);
                let record = EvidenceRecord {
                    cell: arm.planned.cell.clone(),
                    box_id: own.map_or(0, |own| own.id),
                    settings: own.and_then(first_process).map(settings::of).unwrap_or_default(),
                    looks,
                };
                self.bench.recorder.write(&Record::Evidence(record))?;
            }
        }
        Ok(())
    }

    /// Whether a cell runs here in pieces that probes can look at, and is not known yet.
    fn can_be_seen(&self, planned: &PlannedTrial) -> bool {
        let Bench {
            study,
            boxes,
            recorder,
            ..
        } = &self.bench;
        let workload = study.workload(&planned.cell);
        let in_pieces =
            workload.is_some_and(|workload| !workload.is_whole() && !study.protocol.slicing.is_off());
        let runs = !boxes.refused.contains(&planned.cell.kind) && boxes.cannot_run(planned).is_none();
        in_pieces && runs && !recorder.has_evidence(&planned.cell)
    }
}

/// What each set of probes saw of each arm.
fn look_with_all(bench: &mut Bench<'_>, arms: &mut [Arm]) -> Result<Vec<Vec<Look>>, Stop> {
    let mut looks: Vec<Vec<Look>> = arms.iter().map(|_| Vec::new()).collect();
    bench.recorder.observe(Event::LookingFor(&arms[0].planned));
    let agents = agents(bench, arms);
    let rounds = sliced::warm(bench, arms, SECONDS)?;
    let cgroups: Vec<u64> = arms.iter().filter_map(|arm| cgroup(bench, arm)).collect();
    for set in ProbeSet::ALL {
        let mut probes = Probes::attach(set, &cgroups, &agents)?;
        let seconds = f64::from(times(set)) * SECONDS;
        let work = work(bench, arms, &mut probes, (times(set) * rounds, seconds))?;
        for (looks, (seen, work)) in looks.iter_mut().zip(probes.read()?.into_iter().zip(work)) {
            looks.push(work.seen_by(set, seen));
        }
    }
    for arm in arms {
        group::stop(arm, &mut bench.live)?;
    }
    Ok(looks)
}

/// How many times as long as under others: a function is known by its samples.
const fn times(set: ProbeSet) -> u32 {
    match set {
        ProbeSet::Times | ProbeSet::Calls => 1,
        ProbeSet::Stacks => 2,
    }
}

fn own<'a>(bench: &'a Bench<'_>, arm: &Arm) -> Option<&'a LiveBox> {
    Some(&bench.live.get(&arm.planned.cell.kind)?.own)
}

/// By which this kernel knows the box of an arm, if it does.
fn cgroup(bench: &Bench<'_>, arm: &Arm) -> Option<u64> {
    own(bench, arm)?.meter.as_ref()?.number()
}

/// The agent of a box, or the machine around it.
fn first_process(own: &LiveBox) -> Option<u32> {
    let processes = own.meter.as_ref()?.processes();
    let is_agent = |pid: &u32| std::fs::read(format!("/proc/{pid}/comm")).is_ok_and(|name| name == b"tare\n");
    processes
        .iter()
        .copied()
        .find(is_agent)
        .or_else(|| processes.first().copied())
}

/// The processes that are in boxes before any work is: agents, and what engines need beside them. All of a machine is one
/// process, which is looked at whole.
fn agents(bench: &Bench<'_>, arms: &[Arm]) -> Vec<u32> {
    let own = arms.iter().filter_map(|arm| own(bench, arm));
    let meters = own
        .filter(|own| !own.has_own_kernel)
        .filter_map(|own| own.meter.as_ref());
    meters.flat_map(Meter::processes).collect()
}

/// Has the arms work in so many rounds, which should take so many seconds of each, in their turns: what each did.
fn work(
    bench: &mut Bench<'_>,
    arms: &mut [Arm],
    probes: &mut Probes,
    (rounds, seconds): (u32, f64),
) -> Result<Vec<Work>, Stop> {
    let mut work = vec![Work::default(); arms.len()];
    let plan: Vec<(Order, u32)> = arms.iter().map(|arm| orders(bench, arm, rounds)).collect();
    let mut rng = bench.round_order(arms);
    let mut order: Vec<usize> = (0..arms.len()).collect();
    let most = Duration::from_secs_f64(OVERTIME * seconds) * u32::try_from(arms.len()).unwrap_or(u32::MAX);
    let begun = Instant::now();
    for round in 0..rounds {
        if interrupt::requested() {
            return Err(Stop::Interrupted);
        }
        if round > 0 && begun.elapsed() > most {
            break;
        }
        order.shuffle(&mut rng);
        for &i in &order {
            let ((pieces, every), arm) = (plan[i], &mut arms[i]);
            let held = bench.live.get_mut(&arm.planned.cell.kind);
            let Some(held) = held.filter(|_| arm.lives() && round.is_multiple_of(every)) else {
                continue;
            };
            probes.turn(Some(i))?;
            let done = arm.go(held, FIRST, pieces)?;
            std::thread::sleep(UNTIL_ASLEEP);
            probes.turn(None)?;
            work[i].add(done.map(|done| done.slice).as_ref(), pieces);
        }
    }
    Ok(work)
}

/// What an arm does at a time, and in every how many-th round.
fn orders(bench: &Bench<'_>, arm: &Arm, rounds: u32) -> (Order, u32) {
    if !bench.paces.is_throttled(&arm.planned.cell) {
        return (arm.pace.order, arm.pace.every);
    }
    let piece_ns = SECONDS * 1e9 / f64::from(PIECES);
    (
        pace::order(pace::units(piece_ns, arm.pace.unit_ns)),
        rounds.div_ceil(PIECES).max(1),
    )
}

/// What an arm did while it was looked at.
#[derive(Debug, Clone, Copy, Default)]
struct Work {
    units: u64,
    wall_ns: u64,
}

impl Work {
    fn add(&mut self, slice: Option<&Slice>, order: Order) {
        if let Some(slice) = slice {
            self.units += order.units + order.lead;
            self.wall_ns += slice.wall_ns() + slice.untimed_ns;
        }
    }

    fn seen_by(self, probes: ProbeSet, seen: Seen) -> Look {
        Look {
            probes,
            units: self.units,
            wall_ns: self.wall_ns,
            seen,
        }
    }
}
