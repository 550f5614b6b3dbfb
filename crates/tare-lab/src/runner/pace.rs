//! How much work makes a slice: found in the first slices of a group, which do not
//! count, and kept from block to block as the first guess.

use super::arm::{Arm, Pace};
use std::collections::BTreeMap;
use tare_model::gate::Order;
use tare_model::study::{BoxKind, Cell};
use tare_study::plan::ROUNDS_FOR_TWO;

/// A cell whose slice of its baseline's work is longer than so many slices gets an
/// amount of work of its own: all others wait for it in each round.
const TOO_LONG: f64 = 3.0;
/// Slices that a kernel has which is so slow: what costs over three times as much is told by few.
const OF_SLOW: u32 = 20;
/// Slices of a trial at least, of a cell that takes part in a few rounds only.
const FEWEST: u32 = 10;
/// Part of a slice that is done before its clock starts, to refill caches: a tenth.
const LEAD: u64 = 10;
/// And of a kernel so long at least, or one unit: what refills caches takes its time in a short slice too.
const WARM_NS: f64 = 100_000.0;
/// Work that is timed over what surrounds it, the way of a slice and its lead-in: these are a fifth at most.
const WORTH: f64 = 4.0;
/// No slice of a kernel is shorter: the clocks of boxes tell less by then.
const SHORTEST_NS: f64 = 1e6;
/// More rounds tell no more of a trial than its processes and boxes allow.
const MOST_ROUNDS: f64 = 1000.0;
/// Most units of work by which a slice grows from one guess to the next.
const GROWTH: u64 = 16;

/// Units of work beyond which no more are asked for: an hour of system calls has fewer.
const MOST_UNITS: u64 = 1 << 40;

/// Processes of a kernel that take the rounds of a trial in turn. What a process keeps for
/// life, the pages that its memory happens to get, dominated the noise of a block: 3 % where
/// the rounds explain 0.9 (`stream`), 1.1 % where they explain 0.6 (`linpack`). Of two, its
/// variance is half, at the same measured time.
pub(super) const PROCESSES: u32 = 2;

/// What was found out about cells and boxes.
#[derive(Debug, Default)]
pub(super) struct Paces {
    /// Wall time of a unit of work in nanoseconds.
    units_ns: BTreeMap<Cell, f64>,
    /// Whether a quota throttles it when it runs in one piece.
    pub throttled: BTreeMap<Cell, bool>,
    /// Peaks of baselines in requests per second, of which rates are shares.
    pub peaks: BTreeMap<Cell, f64>,
    /// Whether a command, by the name of its workload, is let run in turns.
    pub turns: BTreeMap<String, bool>,
    /// Whether a box uses so much CPU while it waits that it is frozen between slices.
    pub freezes: BTreeMap<BoxKind, bool>,
}

impl Paces {
    /// What an earlier session of the run found.
    pub fn with_peaks(peaks: BTreeMap<Cell, f64>) -> Self {
        Self {
            peaks,
            ..Self::default()
        }
    }

    /// The pace of a cell in an earlier block.
    pub fn of(&self, cell: &Cell) -> Option<f64> {
        self.units_ns.get(cell).copied()
    }

    /// Whether a quota is known to throttle a cell when it runs in one piece.
    pub fn is_throttled(&self, cell: &Cell) -> bool {
        self.throttled.get(cell).copied().unwrap_or(false)
    }

    /// Notes the paces of these cells.
    pub fn note(&mut self, arms: &[Arm]) {
        let known = arms.iter().filter(|arm| arm.lives() && arm.pace.unit_ns > 0.0);
        self.units_ns
            .extend(known.map(|arm| (arm.planned.cell.clone(), arm.pace.unit_ns)));
    }
}

/// Units that take about so long.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number; the cast saturates"
)]
pub(super) fn units(slice_ns: f64, unit_ns: f64) -> u64 {
    ((slice_ns / unit_ns).round() as u64).max(1)
}

/// The next guess at how much work makes a slice, where `units` took `wall_ns`; `None`
/// if it is near enough to tell.
#[expect(clippy::cast_precision_loss, reason = "units and nanoseconds of one slice")]
pub(super) fn next_guess(units_done: u64, wall_ns: u64, slice_ns: f64) -> Option<u64> {
    let wall = (wall_ns as f64).max(1.0);
    // No unit is so short that so many fit into a slice: its time is not told as it is.
    (wall < slice_ns / 2.0 && units_done < MOST_UNITS)
        .then(|| units(slice_ns, wall / units_done as f64).clamp(units_done + 1, units_done * GROWTH))
}

/// Whether a cell seems far slower than it was in an earlier block, or, if it was in none,
/// than a slice of the pacesetter's work allows, by the pacesetter's time for a unit of it.
#[expect(clippy::cast_precision_loss, reason = "units of some milliseconds")]
pub(super) fn is_doubtful(
    unit_ns: f64,
    known: Option<f64>,
    units: u64,
    slice_ns: f64,
    pacesetter_ns: f64,
) -> bool {
    let longest = pacesetter_ns.max(slice_ns / units as f64);
    unit_ns > TOO_LONG * known.unwrap_or(longest)
}

/// An order for so many units.
pub(super) const fn order(units: u64) -> Order {
    Order {
        units,
        lead: units / LEAD,
    }
}

/// The same of a kernel's units of so many nanoseconds; a unit that is a whole slice has none before it.
fn order_of_kernel(count: u64, unit_ns: f64) -> Order {
    let warm = (WARM_NS / unit_ns.max(1.0)).ceil();
    Order {
        lead: if count > 1 {
            (count / LEAD).max(units(warm, 1.0))
        } else {
            0
        },
        units: count,
    }
}

/// The shortest slice that is worth its way and its lead-in, where a unit takes so long.
fn worthwhile_ns(gate_ns: f64, unit_ns: f64) -> f64 {
    (WORTH * (gate_ns + unit_ns.max(WARM_NS))).max(SHORTEST_NS)
}

/// As long as a slice of these arms is to be, `longest_ns` at most: of kernels that allow it as short as is worth it in
/// the box of the pacesetter, in trials of so many nanoseconds.
pub(super) fn slice_ns(arms: &[Arm], pacesetter: usize, longest_ns: f64, trial_ns: f64) -> f64 {
    let may_be_short = arms.iter().all(|arm| {
        let spec = arm.workload.kernel();
        spec.is_some_and(|spec| !spec.kernel.needs_long_slices())
    });
    let Pace { gate_ns, unit_ns, .. } = arms[pacesetter].pace;
    if may_be_short {
        worthwhile_ns(gate_ns, unit_ns)
            .max(trial_ns / MOST_ROUNDS)
            .min(longest_ns)
    } else {
        longest_ns
    }
}

/// Seconds that so many rounds of these arms should take; infinite where boxes are frozen in between, which takes its time.
#[expect(clippy::cast_precision_loss, reason = "units of some milliseconds")]
pub(super) fn seconds(arms: &[Arm], rounds: u32) -> f64 {
    let of = |arm: &Arm| {
        let Pace {
            order,
            every,
            gate_ns,
            unit_ns,
            ..
        } = arm.pace;
        let slice_ns = gate_ns + unit_ns * order.units.saturating_add(order.lead) as f64;
        slice_ns * f64::from(rounds / every.max(1))
    };
    let living = arms.iter().filter(|arm| arm.lives());
    if living.clone().any(|arm| arm.freezes) {
        return f64::INFINITY;
    }
    living.map(of).sum::<f64>() / 1e9
}

/// Gives each arm its order: the pacesetter's amount of work, so that all do the same at
/// the same time, or one of its own where that takes it far longer or its work is of
/// another kind. Returns the rounds that make a trial of so many nanoseconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "positive numbers; the casts saturate"
)]
pub(super) fn share_out(
    arms: &mut [Arm],
    pacesetter: usize,
    (slice_ns, longest_ns): (f64, f64),
    trial_ns: f64,
) -> u32 {
    let pacesetter_ns = arms[pacesetter].pace.unit_ns.max(1.0);
    let family = arms[pacesetter].workload.family.clone();
    let least = arms[pacesetter].workload.least_units();
    let common = units(slice_ns, pacesetter_ns).max(least);
    let longest = slice_ns.max(common as f64 * pacesetter_ns);
    // Slices that are long since they must hold so much are no fewer for that.
    let fewest = if least > 1 { FEWEST } else { 1 };
    let rounds = ((trial_ns / longest).ceil() as u32).max(fewest);
    for arm in arms.iter_mut().filter(|arm| arm.lives()) {
        let is_short = arm.pace.unit_ns * common as f64 <= TOO_LONG * longest;
        let alike = is_short && arm.workload.family == family;
        let is_kernel = arm.workload.kernel().is_some();
        let count = if alike {
            common
        } else if is_kernel {
            let own_ns = worthwhile_ns(arm.pace.gate_ns, arm.pace.unit_ns).min(longest_ns);
            units(own_ns.max(longest), arm.pace.unit_ns).max(least)
        } else {
            units(longest, arm.pace.unit_ns).max(least)
        };
        arm.pace.order = if is_kernel {
            // What is done beforehand is the same as well.
            let unit_ns = if alike { pacesetter_ns } else { arm.pace.unit_ns };
            order_of_kernel(count, unit_ns)
        } else {
            order(count)
        };
        let slices = arm.pace.unit_ns * count as f64 / longest;
        let fewest = rounds.min(FEWEST);
        // What works far more slowly sets up its data so too: it would take longer than its slices.
        if !alike || rounds < ROUNDS_FOR_TWO {
            arm.pace.processes = 1;
        }
        let apart = if is_kernel && !is_short {
            f64::from(rounds / OF_SLOW).max(slices)
        } else {
            slices / TOO_LONG
        };
        arm.pace.every = apart.ceil().clamp(1.0, f64::from(rounds / fewest)) as u32;
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_is_found_in_few_guesses() {
        for unit_ns in [50, 2_000, 400_000] {
            let (mut guess, mut guesses) = (1, 1);
            while let Some(next) = next_guess(guess, guess * unit_ns, 1e7) {
                (guess, guesses) = (next, guesses + 1);
            }
            let wall = guess * unit_ns;
            assert!(
                (5_000_000..20_000_000).contains(&wall) && guesses < 8,
                "{wall} ns in {guesses}"
            );
        }
    }

    #[test]
    fn who_tells_of_no_time_is_not_asked_for_ever() {
        let (mut guess, mut guesses) = (1, 1);
        while let Some(next) = next_guess(guess, 1, 1e7) {
            (guess, guesses) = (next, guesses + 1);
        }
        assert!(guesses < 20 && guess < u64::MAX / 2, "{guess} units in {guesses}");
    }

    #[test]
    fn a_pace_is_doubted_where_it_is_far_from_what_was_known() {
        let known = Some(30_000.0);
        assert!(!is_doubtful(31_000.0, known, 10_000, 1e7, 1e3));
        assert!(is_doubtful(100_000.0, known, 10_000, 1e7, 1e3));
        assert!(!is_doubtful(1_200.0, None, 10_000, 1e7, 1e3));
        assert!(is_doubtful(30_000.0, None, 10_000, 1e7, 1e3));
        // A unit that is longer than a slice is so for the pacesetter too.
        assert!(!is_doubtful(5e8, None, 1, 1e7, 5e8));
    }

    #[test]
    fn a_slice_of_a_kernel_is_as_short_as_what_surrounds_it_allows() {
        // A fifth of way, lead-in and slice are 0.25 of the slice.
        for (gate_ns, unit_ns, slice_ns) in [(1e5, 200.0, 1e6), (2e5, 200.0, 1.2e6), (2e5, 4e5, 2.4e6)] {
            let found = worthwhile_ns(gate_ns, unit_ns);
            assert!((found - slice_ns).abs() < 1.0, "{found}");
            let order = order_of_kernel(units(found, unit_ns), unit_ns);
            let [work, lead] = [order.units, order.lead].map(|n| n as f64 * unit_ns);
            assert!(lead >= 1e5 && gate_ns + lead <= 0.27 * work, "{order:?}");
        }
        assert_eq!(order_of_kernel(1, 5e7), Order { units: 1, lead: 0 });
    }

    #[test]
    fn a_unit_longer_than_a_slice_is_never_cut() {
        assert_eq!(units(1e7, 5e8), 1);
        assert_eq!(order(1), Order { units: 1, lead: 0 });
        assert_eq!(next_guess(1, 500_000_000, 1e7), None);
    }
}
