//! What holds for the rounds of any block.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tare_stats::{after, error_of_typical, mean, median, round_losses, sd, stall_share, typical};

fn cost() -> impl Strategy<Value = f64> {
    (-5.0..5.0_f64).prop_map(f64::exp)
}

/// Costs of a cell and of its baseline, round by round.
fn block() -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop::collection::vec((cost(), cost()), 1..60)
}

/// Losses of rounds, and which of three cells ran before.
fn preceded() -> impl Strategy<Value = Vec<(f64, u8)>> {
    prop::collection::vec((-1.0..1.0, 0..3_u8), 12..60)
}

/// The typical loss; where there is none, what equals nothing.
fn of(rounds: &[(f64, f64)]) -> f64 {
    let (cell, baseline): (Vec<_>, Vec<_>) = rounds.iter().copied().unzip();
    let processes: Vec<usize> = (0..cell.len()).map(|round| round % 2).collect();
    typical(&cell, &baseline, &processes).unwrap_or(f64::NAN)
}

fn shift(rounds: &[(f64, u8)]) -> Option<f64> {
    let (losses, before): (Vec<_>, Vec<_>) = rounds.iter().copied().unzip();
    after(&losses, &before, &0)
}

#[track_caller]
fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9, "{a} {b}");
}

proptest! {
    #[test]
    fn what_slows_a_whole_round_changes_nothing(rounds in block(), by in prop::collection::vec(cost(), 60)) {
        let slowed: Vec<_> = rounds.iter().zip(by).map(|((x, y), by)| (by * x, by * y)).collect();
        close(of(&slowed), of(&rounds));
    }

    #[test]
    fn work_that_is_added_to_every_slice_is_found(rounds in block(), factor in cost()) {
        let slower: Vec<_> = rounds.iter().map(|(x, y)| (factor * x, *y)).collect();
        close(of(&slower), of(&rounds) + factor.ln());
    }

    #[test]
    fn exchanging_cell_and_baseline_flips_the_sign(rounds in block()) {
        let exchanged: Vec<_> = rounds.iter().map(|(x, y)| (*y, *x)).collect();
        close(of(&exchanged), -of(&rounds));
    }

    #[test]
    fn the_order_of_rounds_does_not_matter(rounds in block()) {
        let turns: Vec<usize> = (0..rounds.len()).map(|round| round % 2).collect();
        let (cell, baseline): (Vec<_>, Vec<_>) = rounds.iter().rev().copied().unzip();
        let processes: Vec<usize> = turns.iter().rev().copied().collect();
        close(typical(&cell, &baseline, &processes).unwrap(), of(&rounds));
    }

    #[test]
    fn one_process_has_the_median_of_all_its_rounds(rounds in block()) {
        let (cell, baseline): (Vec<_>, Vec<_>) = rounds.iter().copied().unzip();
        let losses = round_losses(&cell, &baseline).unwrap();
        prop_assert_eq!(typical(&cell, &baseline, &vec![1; cell.len()]), median(&losses));
    }

    #[test]
    fn what_a_process_keeps_counts_for_half(rounds in prop::collection::vec((cost(), cost()), 40..60), luck in cost()) {
        let lucky = |(round, (x, y)): (usize, &(f64, f64))| (if round % 2 == 0 { luck * x } else { *x }, *y);
        let kept: Vec<_> = rounds.iter().enumerate().map(lucky).collect();
        close(of(&kept), of(&rounds) + luck.ln() / 2.0);
    }

    #[test]
    fn stalls_in_less_than_half_of_the_rounds_stay_among_the_others(
        rounds in prop::collection::vec((cost(), cost()), 3..60),
        stall in 1.0..1e6_f64,
    ) {
        let of = |rounds: &[(f64, f64)]| {
            let (cell, baseline): (Vec<_>, Vec<_>) = rounds.iter().copied().unzip();
            typical(&cell, &baseline, &vec![0; cell.len()]).unwrap()
        };
        let stalled = (rounds.len() - 1) / 2;
        let mut slices = rounds.clone();
        slices[..stalled].iter_mut().for_each(|(x, _)| *x *= stall);
        let (x, y): (Vec<_>, Vec<_>) = slices[stalled..].iter().copied().unzip();
        let others = round_losses(&x, &y).unwrap();
        prop_assert!(others.iter().any(|loss| *loss >= of(&slices)));
        prop_assert!(of(&slices) >= of(&rounds) - 1e-9);
    }

    #[test]
    fn the_stall_share_is_a_share_whatever_the_units(
        slices in prop::collection::vec((cost(), cost()), 1..60),
        unit in cost(),
    ) {
        let (costs, times): (Vec<_>, Vec<_>) = slices.iter().copied().unzip();
        let share = stall_share(&costs, &times).unwrap();
        prop_assert!((0.0..=1.0).contains(&share));
        // A power of two: the limit moves with the costs to the last digit.
        let doubled: Vec<f64> = costs.iter().map(|cost| 2.0 * cost).collect();
        let scaled: Vec<f64> = times.iter().map(|time| unit * time).collect();
        close(stall_share(&doubled, &scaled).unwrap(), share);
    }

    #[test]
    fn what_a_predecessor_adds_is_found(rounds in preceded(), added in -3.0..3.0_f64, offset in -3.0..3.0_f64) {
        let moved: Vec<_> = rounds
            .iter()
            .map(|(loss, before)| (loss + offset + if *before == 0 { added } else { 0.0 }, *before))
            .collect();
        match (shift(&rounds), shift(&moved)) {
            (Some(was), Some(is)) => close(is, was + added),
            (was, is) => prop_assert_eq!(was, is),
        }
    }

    #[test]
    fn the_others_see_the_shift_from_the_other_side(rounds in preceded()) {
        let (losses, before): (Vec<_>, Vec<bool>) = rounds.iter().map(|(l, b)| (*l, *b == 0)).unzip();
        let sides = [true, false].map(|who| after(&losses, &before, &who));
        prop_assert_eq!(sides[0].is_some(), sides[1].is_some());
        close(sides[0].unwrap_or(0.0), -sides[1].unwrap_or(0.0));
    }

    #[test]
    fn whatever_is_given_a_figure_is_finite_or_absent(
        slices in prop::collection::vec((any::<f64>(), any::<f64>(), 0..2_u8), 0..20),
    ) {
        let x: Vec<f64> = slices.iter().map(|s| s.0).collect();
        let y: Vec<f64> = slices.iter().map(|s| s.1).collect();
        let before: Vec<u8> = slices.iter().map(|s| s.2).collect();
        let figures = [typical(&x, &y, &before), stall_share(&x, &y), after(&x, &before, &0)];
        prop_assert!(figures.into_iter().flatten().all(f64::is_finite));
    }
}

/// Over many blocks the squared error by rounds is the variance of the typical loss.
#[test]
fn the_error_by_rounds_is_what_blocks_of_mere_rounds_differ_by() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for rounds in [20, 25, 60, 125] {
        let block = |_| {
            // Two-sided exponential noise.
            let costs: Vec<f64> = (0..rounds)
                .map(|_| {
                    rng.random_range(f64::MIN_POSITIVE..1.0_f64).powf(0.01)
                        / rng.random_range(f64::MIN_POSITIVE..1.0_f64).powf(0.01)
                })
                .collect();
            let (ones, one) = (vec![1.0; rounds], vec![0; rounds]);
            let loss = typical(&costs, &ones, &one).unwrap();
            (loss, error_of_typical(&costs, &ones, &one).unwrap().powi(2))
        };
        let (losses, squares): (Vec<f64>, Vec<f64>) = (0..2000).map(block).unzip();
        let ratio = mean(&squares).unwrap() / sd(&losses).unwrap().powi(2);
        assert!((0.88..1.15).contains(&ratio), "{rounds} rounds: {ratio}");
    }
}
