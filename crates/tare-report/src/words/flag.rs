//! Reasons to read an interval with care.

use crate::show::{percent, ratio};
use tare_analysis::Flag;
use tare_model::digits::digits;

/// The reason with its figures.
pub(crate) fn words(flag: &Flag) -> String {
    match flag {
        Flag::Autocorrelated { r1, widening } => format!(
            "autocorrelated (r1 {r1:.2}, interval widened by a factor of {widening:.2}, which may not be enough)"
        ),
        Flag::Skewed { g1, ends_moved, odd } => {
            let ends = if *ends_moved {
                "; bootstrap-t differs from t; the wider ends are shown"
            } else {
                ""
            };
            let odd = odd.map_or_else(String::new, |odd| {
                format!(
                    "; without block {}, where the cost is {}, blocks differ less than half as much",
                    odd.number,
                    ratio(odd.cost)
                )
            });
            format!("skewed (g1 {g1:.1}{ends}{odd})")
        }
        Flag::Contended { share, times } => format!(
            "contended (something else had at least {} of the CPU in a quarter of the rounds: a difference up to {} times as large could look the same, and the interval covers it)",
            percent(*share),
            digits(*times, 2)
        ),
        Flag::Tail { ratio_of_means } => format!(
            "tail (the ratio of means is {}: report both)",
            ratio(*ratio_of_means)
        ),
        Flag::TailOfSlices { mean_cost } => {
            format!("tail (the mean cost is {}: report both)", ratio(*mean_cost))
        }
    }
}
