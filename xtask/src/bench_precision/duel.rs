//! Two ways to decide the same thing, and the half-widths that they reach.

use crate::median;

/// Half-widths in logs, round by round.
#[derive(Default)]
pub struct Duel {
    sliced: Vec<f64>,
    rival: Vec<f64>,
}

impl Duel {
    /// What both reached in a round.
    pub fn push(&mut self, sliced: f64, rival: f64) {
        self.sliced.push(sliced);
        self.rival.push(rival);
    }

    /// Median over rounds of the half-width in slices over that of the rival.
    pub fn ratio(&self) -> f64 {
        let rounds = self.sliced.iter().zip(&self.rival);
        median(rounds.map(|(sliced, rival)| sliced / rival).collect())
    }

    /// Medians in per cent and their ratio, in columns.
    pub fn row(&self, name: &str) -> String {
        let per_cent = |widths: &[f64]| 100.0 * median(widths.to_vec());
        format!(
            "  {name:12} {:11.2} {:11.2} {:9.3}",
            per_cent(&self.sliced),
            per_cent(&self.rival),
            self.ratio()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_that_of_neighbours_whatever_the_host_does_between_rounds() {
        let mut duel = Duel::default();
        [1.0, 10.0, 100.0]
            .iter()
            .for_each(|noise| duel.push(0.002 * noise, 0.01 * noise));
        assert!((duel.ratio() - 0.2).abs() < 1e-12);
        assert_eq!(duel.row("x"), "  x                   2.00       10.00     0.200");
    }

    #[test]
    fn without_rounds_there_is_no_ratio() {
        assert!(Duel::default().ratio().is_nan());
    }
}
