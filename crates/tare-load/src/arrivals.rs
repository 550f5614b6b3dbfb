//! When requests of an open loop come: as those of many users who know nothing of one another
//! (a Poisson process), drawn from a seed and thus the same for every server.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Times between arrivals.
#[derive(Debug)]
pub struct Arrivals {
    random: ChaCha8Rng,
    mean_ns: f64,
}

impl Arrivals {
    /// Of so many a second in the mean.
    pub fn new(rate: f64, seed: u64) -> Self {
        Self {
            random: ChaCha8Rng::seed_from_u64(seed),
            mean_ns: 1e9 / rate,
        }
    }

    /// Nanoseconds from one arrival to the next: exponentially distributed.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number; the cast saturates"
    )]
    pub fn gap_ns(&mut self) -> u64 {
        let uniform: f64 = self.random.random();
        (-(1.0 - uniform).ln() * self.mean_ns) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_have_the_mean_and_the_spread_of_a_poisson_process() {
        let mut arrivals = Arrivals::new(1000.0, 7);
        let gaps: Vec<f64> = (0..100_000).map(|_| arrivals.gap_ns() as f64).collect();
        let mean = gaps.iter().sum::<f64>() / 1e5;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / 1e5;
        assert!((mean / 1e6 - 1.0).abs() < 0.02, "{mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "{variance}");
    }

    #[test]
    fn the_same_seed_gives_the_same_arrivals() {
        let draw = |seed| {
            let mut arrivals = Arrivals::new(50.0, seed);
            (0..10).map(|_| arrivals.gap_ns()).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
