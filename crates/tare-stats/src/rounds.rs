//! Slices of cells that ran side by side: from the rounds of one block to the
//! figures of that block.
//!
//! A round is one slice of every cell of a group, close together in time. What is
//! computed here is one figure per block, which makes one sample: rounds are never
//! counted as samples.

use crate::{count, finite, log_ratio, mean, median};
use std::collections::BTreeMap;

/// A slice that costs over so many times the median slice is a stall.
const STALL: f64 = 2.0;

/// CPU time over wall time from which on work is bound by the CPU, and below which work that
/// never waits by itself shares its CPU with something else.
pub const CPU_BOUND: f64 = 0.9;

/// Rounds that each process needs for a median of its own.
///
/// Simulated where a slice in five is stolen from and processes do not differ, intervals by
/// the mean of two medians are 1.12 times as wide as by the median over all rounds if each is
/// of 20 rounds, but 3.7 times if it is of 10 and 5 times if it is of 5.
const FEWEST_OF_A_PROCESS: usize = 20;

/// Rounds with and without a predecessor that its effect is told from.
const FEWEST: usize = 3;

/// The loss in logs of every round: ln(cell / baseline) of costs per unit of work,
/// `cell[i]` and `baseline[i]` of the same round.
///
/// `None` where the lengths differ, there is no round, or a cost is not positive
/// and finite.
pub fn round_losses(cell: &[f64], baseline: &[f64]) -> Option<Vec<f64>> {
    if cell.is_empty() || cell.len() != baseline.len() {
        return None;
    }
    let pairs = cell.iter().zip(baseline);
    pairs
        .map(|(cell, baseline)| log_ratio(*cell, *baseline))
        .collect()
}

/// The typical loss in logs of one block: the median of [`round_losses`] over the rounds of
/// each process, and the mean of these medians. `processes[i]` tells which processes did
/// round `i`: with one alone, or where one has fewer than 20 rounds, it is the median over all.
///
/// Half of a process's rounds cost more than its median, half less. Slices are paired within
/// the round before the median is taken: what the host does for longer than a round is in
/// both of them.
///
/// Why not the median over all rounds: where processes part by more than the rounds vary, it
/// is anything between the two, and the dearer one's where slices of the cell stall. With 50
/// rounds, intervals by the mean of the medians are 0.82 to 0.96 times as wide where what
/// the processes keep varies by three times as much as a round, and 0.99 to 1.05 times where
/// it does by a third or not at all. What it gives away: half of the slices of one process
/// are enough to carry it off, a quarter of all.
///
/// Why the median, and not the mean trimmed by 20 % or the estimator of Hodges and
/// Lehmann (1963): it depends least on how bad the host is. Simulated with 4 cells
/// (`tare selftest coverage`), intervals of these two are 8 to 16 % narrower where few
/// slices are disturbed, and 8.2 and 1.6 times as wide where it is one in five. Stalls
/// of one cell, one slice in thirty five times as long, move the median by 4 % of the
/// spread of the rounds' losses, the trimmed mean by a seventh and Hodges and Lehmann's
/// by half as much again.
///
/// Where the noise of the cell and that of its baseline are skewed unlike, it lies
/// between the ratio of their median costs and that of their mean costs.
///
/// What all slices cost together, the mean loss, is [`log_ratio`] of the cell's sum
/// of time over its sum of work, and the same of the baseline.
pub fn typical<T: Ord + Copy>(cell: &[f64], baseline: &[f64], processes: &[T]) -> Option<f64> {
    mean_of_medians(&round_losses(cell, baseline)?, &told_apart(processes))
}

/// The standard error in logs of [`typical`] by the scatter of its rounds alone: what processes and boxes add is not in it.
///
/// Of a median, half the distance between the values that lie half the square root of n ranks below and above it: of n
/// independent values, n/2 ± sqrt(n)/2 lie below the true median within one standard error (binomial), whatever their
/// distribution. Values between ranks are interpolated, and the square of a distance over m ranks, which varies as a gamma of
/// shape m, is on average 1 + 1/m times that of its mean: so much is taken off. Simulated, of 20 to 250 normal, t3 and
/// exponential values, the square is 0.97 to 1.06 of the median's variance. Of the mean of several medians, the root of the
/// sum of squares over their number.
///
/// `None` where a median is of fewer than 20 rounds, or as for [`typical`].
pub fn error_of_typical<T: Ord + Copy>(cell: &[f64], baseline: &[f64], processes: &[T]) -> Option<f64> {
    let losses = round_losses(cell, baseline)?;
    let of_each = of_each(&losses, &told_apart(processes));
    let errors: Option<Vec<f64>> = of_each.into_values().map(error_of_median).collect();
    let errors = errors?;
    let squares: f64 = errors.iter().map(|error| error.powi(2)).sum();
    finite(squares.sqrt() / count(&errors))
}

fn error_of_median(mut losses: Vec<f64>) -> Option<f64> {
    if losses.len() < FEWEST_OF_A_PROCESS {
        return None;
    }
    losses.sort_unstable_by(f64::total_cmp);
    let n = count(&losses);
    let (middle, ranks) = ((n - 1.0) / 2.0, n.sqrt());
    let apart = at_rank(&losses, middle + ranks / 2.0)? - at_rank(&losses, middle - ranks / 2.0)?;
    Some(apart / 2.0 / (1.0 + ranks.recip()).sqrt())
}

/// The value at a rank from 0, of sorted values; between two of them a share of both.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rank: what is too large has no value"
)]
fn at_rank(sorted: &[f64], rank: f64) -> Option<f64> {
    let below = rank.floor() as usize;
    let [low, high] = [sorted.get(below)?, sorted.get(below + 1)?];
    Some(low + (high - low) * rank.fract())
}

/// Of which process each round is, as [`typical`] goes by it: as it is told, or all of one
/// where a process has too few rounds for a median of its own.
pub fn told_apart<T: Ord + Copy>(processes: &[T]) -> Vec<usize> {
    let mut rounds: BTreeMap<T, usize> = BTreeMap::new();
    processes
        .iter()
        .for_each(|of| *rounds.entry(*of).or_default() += 1);
    if rounds.values().any(|rounds| *rounds < FEWEST_OF_A_PROCESS) {
        return vec![0; processes.len()];
    }
    let numbers: BTreeMap<T, usize> = rounds.into_keys().zip(0..).collect();
    processes.iter().map(|of| numbers[of]).collect()
}

/// The mean over the processes of the median of their rounds, `processes[i]` that of round
/// `i`; each counts alike, however many rounds it has.
///
/// `None` where the lengths differ, there is no round, or a loss is not finite.
pub fn mean_of_medians(losses: &[f64], processes: &[usize]) -> Option<f64> {
    let medians: Vec<f64> = medians(losses, processes)?.into_values().collect();
    mean(&medians)
}

/// The median of the rounds of each process, `processes[i]` that of round `i`.
///
/// `None` where the lengths differ, or a loss is not finite.
pub fn medians(losses: &[f64], processes: &[usize]) -> Option<BTreeMap<usize, f64>> {
    if losses.len() != processes.len() {
        return None;
    }
    let each = of_each(losses, processes).into_iter();
    each.map(|(process, losses)| Some((process, median(&losses)?)))
        .collect()
}

/// The losses of the rounds of each process.
fn of_each(losses: &[f64], processes: &[usize]) -> BTreeMap<usize, Vec<f64>> {
    let mut of_each: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (process, loss) in processes.iter().zip(losses) {
        of_each.entry(*process).or_default().push(*loss);
    }
    of_each
}

/// By how many times at most a loss, as a ratio less 1, is larger than its typical loss
/// shows; none where nothing else used the CPU to speak of. `stretch` is wall time over CPU
/// time in slices of work that never waits by itself, as [`upper_quartile`] has it.
///
/// What else runs there takes the CPU for whole turns of some milliseconds, as a scheduler
/// gives them. The median is that of rounds in which both slices saw equally many turns: in
/// these, what the cell needs more of the CPU is added to a time that is longer by the turns.
/// That it needs more turns shows in the mean alone. Where turns are much shorter than
/// slices, or come at random, the typical loss is nearly the true one.
pub fn understated_by(stretch: f64) -> Option<f64> {
    (stretch * CPU_BOUND > 1.0 && stretch.is_finite()).then_some(stretch)
}

/// What three quarters of the values do not exceed; the value itself, not one between two.
///
/// Of the slices' stretches it is that of the rounds among which the median lies, or more.
/// Their mean would be that of the few slices which waited for long.
pub fn upper_quartile(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() * 3 / 4).copied()
}

/// The share of time spent in stalls: slices whose cost per unit is beyond twice the
/// median of the series, `costs[i]` and `times[i]` of the same slice. From 0 to 1.
///
/// What the host does to everyone is in it: of interest is the cell's less that of
/// its baseline.
///
/// `None` where the lengths differ, there is no slice, or a figure is not positive
/// and finite.
pub fn stall_share(costs: &[f64], times: &[f64]) -> Option<f64> {
    let positive = |values: &[f64]| values.iter().all(|v| *v > 0.0 && v.is_finite());
    if costs.len() != times.len() || !positive(costs) || !positive(times) {
        return None;
    }
    let limit = STALL * median(costs)?;
    let stalls = costs.iter().zip(times).filter(|(cost, _)| **cost > limit);
    let stalled: f64 = stalls.map(|(_, time)| time).sum();
    finite(stalled / finite(times.iter().sum())?)
}

/// By how much `losses`, those of the rounds of one block, are larger in the rounds
/// in which `who` ran right before than in the others: the shift of Hodges and Lehmann
/// (1963), the median of all differences between a round of the one kind and one of
/// the other. `before[i]` ran right before the slice in question in round i.
///
/// Who comes before is random in every round, so without carry-over it is as often
/// positive as negative, whatever the noise. Its values over blocks are independent:
/// [`crate::t_estimate`] tells whether their mean is 0. The difference of two means
/// would serve too, but its interval is 7 times as wide where one slice in a hundred
/// is disturbed, 23 times where it is one in twenty. Who runs before the baseline in
/// some of the other rounds makes the effect on a ratio look larger, by a fourth with
/// 4 cells: "before the cell" and "before the baseline" are two effects.
///
/// `None` where the lengths differ, fewer than 3 rounds are of either kind, or a
/// loss is not finite.
pub fn after<T: PartialEq>(losses: &[f64], before: &[T], who: &T) -> Option<f64> {
    if losses.len() != before.len() {
        return None;
    }
    let rounds = losses.iter().zip(before);
    let (with, without): (Vec<_>, Vec<_>) = rounds.partition(|(_, before)| *before == who);
    if with.len() < FEWEST || without.len() < FEWEST {
        return None;
    }
    let less = |loss: f64| without.iter().map(move |(other, _)| loss - **other);
    let differences: Vec<f64> = with.iter().flat_map(|(loss, _)| less(**loss)).collect();
    median(&differences)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn about(found: Option<f64>, right: f64) {
        let found = found.expect("a figure");
        assert!((found - right).abs() < 1e-12, "{found}, not {right}");
    }

    /// The typical loss of one process.
    fn of_one(cell: &[f64], baseline: &[f64]) -> Option<f64> {
        typical(cell, baseline, &vec![0; cell.len()])
    }

    /// Two processes that take rounds in turn.
    fn turns(rounds: usize) -> Vec<usize> {
        (0..rounds).map(|round| round % 2).collect()
    }

    /// Costs of two processes that take rounds in turn, the second of which costs 4.
    fn costs(rounds: usize) -> Vec<f64> {
        turns(rounds).iter().map(|of| [1.0, 4.0][*of]).collect()
    }

    #[test]
    fn a_shared_cpu_is_one_that_a_quarter_of_the_slices_had_to_share() {
        let times = |stretches: &[f64]| understated_by(upper_quartile(stretches)?);
        assert_eq!(times(&[1.0, 1.02, 1.05, 1.09]), None);
        assert_eq!(times(&[1.0, 3.0, 1.0, 2.0]), Some(3.0));
        // One long wait among many slices moves no median.
        assert_eq!(times(&[1.0, 1.0, 1.0, 1.0, 1.0, 50.0]), None);
        // A box that cannot tell its CPU time.
        assert_eq!(times(&[1.0, f64::INFINITY, f64::NAN]), None);
        assert_eq!(times(&[]), None);
    }

    #[test]
    fn the_error_of_a_median_is_that_of_its_scatter() {
        let scores = |n: u32| {
            let at = |i: u32| (f64::from(i) + 0.5) / f64::from(n);
            // Of the logistic distribution, whose median has a standard error of 2 / sqrt(n).
            (0..n)
                .map(|i| (0.01 * (at(i) / (1.0 - at(i))).ln()).exp())
                .collect::<Vec<f64>>()
        };
        let costs = scores(400);
        let error = error_of_typical(&costs, &vec![1.0; 400], &vec![0; 400]).unwrap();
        assert!((error / 0.001 - 1.0).abs() < 0.05, "{error}");
        // Two processes with 200 rounds each tell as much together.
        let both = error_of_typical(&costs, &vec![1.0; 400], &turns(400)).unwrap();
        assert!((both / error - 1.0).abs() < 0.15, "{both}");
        assert_eq!(error_of_typical(&costs[..19], &[1.0; 19], &[0; 19]), None);
    }

    #[test]
    fn the_typical_loss_is_that_of_the_middle_round() {
        about(of_one(&[2.0, 3.0, 40.0], &[1.0, 2.0, 4.0]), 2.0_f64.ln());
        about(of_one(&[1.0, 4.0], &[1.0, 1.0]), 2.0_f64.ln());
        about(of_one(&[1.5], &[1.0]), 1.5_f64.ln());
    }

    #[test]
    fn each_process_counts_for_half() {
        let found = |costs: &[f64]| typical(costs, &vec![1.0; costs.len()], &turns(costs.len()));
        about(found(&costs(40)), 2.0_f64.ln());
        // One has a round more, or stalls now and then: over all rounds it would be 1 or 4.
        about(found(&costs(41)), 2.0_f64.ln());
        let mut stalls = costs(40);
        stalls[0] = 90.0;
        about(found(&stalls), 2.0_f64.ln());
        about(of_one(&costs(41), &[1.0; 41]), 0.0);
        about(of_one(&stalls, &[1.0; 40]), 4.0_f64.ln());
    }

    #[test]
    fn a_process_of_few_rounds_has_no_median_of_its_own() {
        let found = |rounds: usize| typical(&costs(rounds), &vec![1.0; rounds], &turns(rounds));
        about(found(39), 0.0);
        assert_eq!(told_apart(&turns(39)), [0; 39]);
        assert_eq!(told_apart(&turns(40)), turns(40));
        // Told by any names, and however many there are.
        let pairs: Vec<[u8; 2]> = turns(40).iter().map(|of| [[7, 1], [3, 0]][*of]).collect();
        assert_eq!(told_apart(&pairs)[..3], [1, 0, 1]);
        assert_eq!(told_apart(&[5; 3]), [0; 3]);
        assert_eq!(told_apart::<u8>(&[]), Vec::<usize>::new());
    }

    #[test]
    fn rounds_are_paired_before_the_median_is_taken() {
        // The host slows down fivefold; the cell takes 1 % more in every round.
        let baseline = [1.0, 2.0, 3.0, 4.0, 5.0];
        about(
            of_one(&baseline.map(|cost| 1.01 * cost), &baseline),
            1.01_f64.ln(),
        );
        // Both have the same median, but most rounds say that the cell is faster.
        let found = of_one(&[1.0, 2.0, 9.0], &[2.0, 3.0, 1.0]);
        about(found, (2.0_f64 / 3.0).ln());
    }

    #[test]
    fn stalls_are_told_by_their_share_of_time() {
        about(stall_share(&[1.0, 1.0, 1.0, 5.0], &[1.0, 1.0, 1.0, 5.0]), 0.625);
        // Twice the median is not beyond it.
        about(stall_share(&[1.0, 1.0, 2.0], &[1.0, 1.0, 2.0]), 0.0);
        // A slice that did twice the work in twice the time is none.
        about(stall_share(&[1.0, 1.0, 1.0], &[1.0, 3.0, 1.0]), 0.0);
    }

    #[test]
    fn a_predecessor_shifts_the_rounds_that_it_precedes() {
        let losses = [0.0, 1.0, 0.1, 1.1, -0.1, 0.9, 0.0];
        let before = ["other", "it", "other", "it", "third", "it", "other"];
        about(after(&losses, &before, &"it"), 1.0);
        // One stall among them says nothing.
        let stalled = [0.0, 1.0, 0.1, 90.0, -0.1, 0.9, 0.0];
        assert!(after(&stalled, &before, &"it").expect("a shift") < 1.2);
    }

    #[test]
    fn what_came_before_in_too_few_rounds_has_no_effect() {
        let losses = [0.0, 1.0, 0.1, 1.1, 0.2, 0.3];
        assert_eq!(after(&losses, &[0, 1, 0, 1, 0, 0], &1), None);
        assert_eq!(after(&losses, &[0, 1, 1, 1, 1, 0], &1), None);
        assert_eq!(after(&losses, &[0, 1], &1), None);
    }

    #[test]
    fn where_a_figure_is_not_defined_there_is_none() {
        assert_eq!(of_one(&[], &[]), None);
        assert_eq!(of_one(&[1.0, 2.0], &[1.0]), None);
        assert_eq!(typical(&[1.0, 2.0], &[1.0, 2.0], &[0]), None);
        assert_eq!(stall_share(&[], &[]), None);
        assert_eq!(stall_share(&[1.0], &[1.0, 1.0]), None);
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(of_one(&[1.0, bad], &[1.0, 1.0]), None);
            assert_eq!(of_one(&[1.0, 1.0], &[1.0, bad]), None);
            assert_eq!(stall_share(&[1.0, bad], &[1.0, 1.0]), None);
            assert_eq!(stall_share(&[1.0, 1.0], &[1.0, bad]), None);
        }
        let unsure = [0.0, f64::NAN, 0.0, 1.0, 1.0, 1.0];
        assert_eq!(after(&unsure, &[0, 0, 0, 1, 1, 1], &1), None);
    }
}
