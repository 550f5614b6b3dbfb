//! A stand-in for `tare_stats::rounds`, which has functions of these names and
//! arguments: once it is there, the two lines that name this module name that, and
//! this file goes.

use tare_stats::median;

/// How many times its series' median a slice costs that counts as a stall.
const STALL: f64 = 2.0;

/// The loss in logs of a block from costs per unit of work, paired by round: the
/// median over the rounds of ln(cell / baseline).
pub(super) fn typical(cell: &[f64], baseline: &[f64]) -> Option<f64> {
    let losses: Vec<f64> = cell.iter().zip(baseline).map(|(x, y)| x.ln() - y.ln()).collect();
    median(&losses)
}

/// Time in slices whose cost per unit is over twice the series' median cost, over
/// all time.
pub(super) fn stall_share(costs: &[f64], times: &[f64]) -> Option<f64> {
    let usual = median(costs)?;
    let stalls = costs.iter().zip(times).filter(|(cost, _)| **cost > STALL * usual);
    let share = stalls.map(|(_, time)| time).sum::<f64>() / times.iter().sum::<f64>();
    share.is_finite().then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_typical_cost_is_paired_first_and_then_the_median() {
        let typical = typical(&[2.0, 30.0, 4.0], &[1.0, 10.0, 4.0]).expect("rounds");
        assert!((typical - 2_f64.ln()).abs() < 1e-12);
        assert_eq!(super::typical(&[], &[]), None);
    }

    #[test]
    fn a_stall_is_a_slice_of_over_twice_the_usual_cost() {
        assert_eq!(stall_share(&[1.0, 1.0, 6.0], &[1.0, 1.0, 6.0]), Some(0.75));
        assert_eq!(stall_share(&[1.0, 1.0, 2.0], &[1.0, 1.0, 2.0]), Some(0.0));
        assert_eq!(stall_share(&[], &[]), None);
    }
}
