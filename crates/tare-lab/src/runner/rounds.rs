//! Rounds: one slice of every cell of a group, in random order, close together in time.

use super::arm::{Arm, FIRST};
use super::baselines::is_spoiled;
use super::live::LiveBoxes;
use super::sliced::Sliced;
use super::{Stop, pace};
use rand::seq::SliceRandom;
use tare_host::interrupt;
use tare_model::platform::Provisioning;
use tare_model::study::Cell;

/// Slices for which a first unit may last and yet be tried once more.
const TRIED_AGAIN: f64 = 20.0;

impl Sliced<'_, '_> {
    /// Finds how much work makes a slice of each arm. The slices that tell do not count;
    /// they are the same for all arms, so that processes whose work is not the same all
    /// along stay in step. Returns the rounds that make a trial.
    pub(super) fn find_paces(&mut self, arms: &mut [Arm], present: &mut LiveBoxes) -> Result<u32, Stop> {
        let slice_ns = self.slice().as_secs_f64() * 1e9;
        let trial_ns = self.bench.study.protocol.trial_seconds * 1e9;
        let Some(pacesetter) = self.pacesetter(arms) else {
            return Ok(0);
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
            let taken = self.guess(arms, present, guess, slice_ns)?;
            // Another one leads where that one failed.
            let Some(pacesetter) = self.pacesetter(arms) else {
                return Ok(0);
            };
            let wall_ns = taken.get(pacesetter).copied().flatten();
            match wall_ns.and_then(|wall| pace::next_guess(guess, wall, slice_ns)) {
                Some(next) => guess = next,
                None if guess == least && is_new && is_short(wall_ns, slice_ns) => is_new = false,
                None => break pacesetter,
            }
        };
        self.confirm(arms, present, (pacesetter, guess), slice_ns)?;
        self.bench.paces.note(arms);
        Ok(pace::share_out(arms, pacesetter, slice_ns, trial_ns))
    }

    /// Has all do the same slice once more where one seems far slower than it was or than the
    /// pacesetter is; the quicker of its two tells. A stall in the one slice that finds an amount of
    /// work would leave its cell with far too little in all rounds: seen once in 580 blocks,
    /// as 5.7 times the cost.
    fn confirm(
        &mut self,
        arms: &mut [Arm],
        present: &mut LiveBoxes,
        (pacesetter, units): (usize, u64),
        slice_ns: f64,
    ) -> Result<(), Stop> {
        let pacesetter_ns = arms[pacesetter].pace.unit_ns;
        let doubted = |arm: &Arm| {
            let known = self.bench.paces.of(&arm.planned.cell);
            arm.lives() && pace::is_doubtful(arm.pace.unit_ns, known, units, slice_ns, pacesetter_ns)
        };
        if !arms.iter().any(doubted) {
            return Ok(());
        }
        for arm in arms.iter_mut() {
            let held = present.get_mut(&arm.planned.cell.kind).filter(|_| arm.lives());
            let (Some(held), first) = (held, arm.pace.unit_ns) else {
                continue;
            };
            arm.go(held, FIRST, arm.pace.order)?;
            arm.pace.unit_ns = arm.pace.unit_ns.min(first);
        }
        Ok(())
    }

    /// One slice of so many units of each arm; an arm that is known to be far too slow for
    /// it does one of its own. The wall time of each.
    fn guess(
        &mut self,
        arms: &mut [Arm],
        present: &mut LiveBoxes,
        units: u64,
        slice_ns: f64,
    ) -> Result<Vec<Option<u64>>, Stop> {
        let mut taken = Vec::new();
        for arm in arms.iter_mut() {
            let held = present.get_mut(&arm.planned.cell.kind).filter(|_| arm.lives());
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
    fn pacesetter(&self, arms: &[Arm]) -> Option<usize> {
        let place = |name: &str| self.bench.study.workloads.iter().position(|w| w.name() == name);
        let rank = |arm: &Arm| {
            let Cell { kind, workload } = &arm.planned.cell;
            (
                place(workload),
                kind.platform != self.bench.study.baseline,
                kind.provisioning != Provisioning::Pinned,
            )
        };
        let living = (0..arms.len()).filter(|i| arms[*i].lives());
        living.min_by_key(|i| rank(&arms[*i]))
    }

    /// So many rounds of all arms; fewer where the group is worth nothing any more.
    pub(super) fn rounds(
        &mut self,
        arms: &mut [Arm],
        present: &mut LiveBoxes,
        rounds: u32,
        pass: u32,
    ) -> Result<(), Stop> {
        let mut rng = self.bench.round_order(arms);
        let mut order: Vec<usize> = (0..arms.len()).collect();
        for round in 0..rounds {
            if interrupt::requested() {
                return Err(Stop::Interrupted);
            }
            order.shuffle(&mut rng);
            let mut place = 0;
            for i in &order {
                let arm = &mut arms[*i];
                let held = present.get_mut(&arm.planned.cell.kind);
                let Some(held) = held.filter(|_| arm.lives() && round.is_multiple_of(arm.pace.every)) else {
                    continue;
                };
                if let Some(done) = arm.go(held, arm.process_of(round), arm.pace.order)? {
                    arm.keep(done, place);
                    place += 1;
                }
            }
            if is_spoiled(self.bench.study, arms, pass) {
                break;
            }
        }
        Ok(())
    }
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
    use crate::design::ProtocolOptions;
    use tare_model::finding::Reason;
    use tare_model::results::Failure;

    #[test]
    fn the_baseline_sets_the_pace_and_another_one_where_it_is_lost() {
        let study = study(&["fake?cost=2", "fake"], &["syscall"], ProtocolOptions::default());
        with_runner(&study, |mut runner| {
            let mut arms = arms_of(&runner.bench);
            let sliced = Sliced {
                bench: &mut runner.bench,
            };
            let pacesetter = sliced.pacesetter(&arms).unwrap();
            assert_eq!(arms[pacesetter].planned.cell.kind.platform, study.baseline);
            arms[pacesetter].lose(Failure::new(Reason::Launch, "gone"));
            assert_eq!(sliced.pacesetter(&arms), Some(1 - pacesetter));
        });
    }
}
