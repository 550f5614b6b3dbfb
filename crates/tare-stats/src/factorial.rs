//! Factorial designs: what each of several factors adds, by cells in which some are on and some off.
//!
//! A cell is the set of the factors that are on in it, one bit for each. What a set does is the sum of the effects of its
//! subsets (Harsanyi's dividends); what a factor adds is its Shapley value, the mean over all orders of switching factors
//! on, which gives each its equal share of every effect that it has part in (Shapley, A value for n-person games, 1953).
//! Values add up to the difference between all factors on and none.

use std::collections::BTreeMap;

/// A design that tells what factors add.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    factors: usize,
    cells: Vec<u32>,
    /// The effects that are supposed not to be nought, by the factors that take part.
    effects: Vec<u32>,
}

impl Design {
    /// More factors than this are never told apart.
    pub const MOST_FACTORS: usize = 8;

    /// A design of these cells, in their order. In a full one any number of factors may interact; otherwise at most two.
    /// `None` without the two corners, for no or too many factors, and if a cell is there twice or has a factor that
    /// does not exist.
    pub fn of(factors: usize, cells: &[u32]) -> Option<Self> {
        if !(1..=Self::MOST_FACTORS).contains(&factors) {
            return None;
        }
        let all = (1 << factors) - 1;
        let mut sorted = cells.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let is_sound =
            sorted.len() == cells.len() && sorted.first() == Some(&0) && sorted.last() == Some(&all);
        let is_full = cells.len() == 1 << factors;
        is_sound.then(|| Self {
            factors,
            cells: cells.to_vec(),
            effects: (0..=all).filter(|set| is_full || set.count_ones() <= 2).collect(),
        })
    }

    /// The cells to measure for so many factors: all up to three; of four the fraction; of more none, all, each alone and all
    /// but each.
    pub fn cells_for(factors: usize) -> Vec<u32> {
        let all: u32 = (1 << factors) - 1;
        match factors {
            0..=3 => (0..=all).collect(),
            4 => Self::fraction(factors),
            _ => {
                let each = (0..factors).flat_map(|factor| [1 << factor, all ^ 1 << factor]);
                [0, all].into_iter().chain(each).collect()
            }
        }
    }

    /// A fraction of all cells of resolution IV: no effect of one factor is mixed up with that of two others. Half of the cells
    /// of four factors, sixteen of five to eight, where each factor behind the fourth is on as an odd number of three of the
    /// first four are (Box, Hunter, Hunter, Statistics for Experimenters, 1978, section 12.4). All cells of up to three.
    pub fn fraction(factors: usize) -> Vec<u32> {
        const THREE_OF_FOUR: [u32; 4] = [0b0111, 0b1110, 0b1101, 0b1011];
        let (free, made) = match factors {
            0..=3 => (factors, 0),
            4 => (3, 1),
            _ => (4, factors - 4),
        };
        let with_made = |cell: u32| {
            let is_on = |of: &u32| (cell & of).count_ones() % 2;
            let made = THREE_OF_FOUR.iter().take(made).enumerate();
            made.fold(cell, |cell, (i, of)| cell | is_on(of) << (free + i))
        };
        (0..1 << free).map(with_made).collect()
    }

    /// The weights of the cells, in their order, whose sum with what the cells do is what this factor adds; `None` if the
    /// design does not tell.
    pub fn value(&self, factor: usize) -> Option<Vec<f64>> {
        self.weights(|effect| {
            let has_part = effect >> factor & 1 == 1;
            if has_part {
                1.0 / f64::from(effect.count_ones())
            } else {
                0.0
            }
        })
    }

    /// The same of what a factor does as the mean over all states of the others.
    pub fn effect(&self, factor: usize) -> Option<Vec<f64>> {
        self.weights(|effect| averaged(effect, 1 << factor))
    }

    /// The same of what two factors do together beyond the sum of each, as the mean over all states of the others.
    pub fn interaction(&self, one: usize, other: usize) -> Option<Vec<f64>> {
        self.together(&[(one, other)])
    }

    /// The same of the sum of such interactions of pairs.
    pub fn together(&self, pairs: &[(usize, usize)]) -> Option<Vec<f64>> {
        let both = |(one, other): &(usize, usize)| 1 << one | 1 << other;
        self.weights(|effect| pairs.iter().map(|pair| averaged(effect, both(pair))).sum())
    }

    /// All pairs of factors, those together that the cells do not tell apart.
    pub fn aliases(&self) -> Vec<Vec<(usize, usize)>> {
        let differ = |pair: (usize, usize)| {
            let of = |cell: &u32| (cell >> pair.0 ^ cell >> pair.1) & 1 == 1;
            self.cells.iter().map(of).collect::<Vec<bool>>()
        };
        let mut all: BTreeMap<Vec<bool>, Vec<(usize, usize)>> = BTreeMap::new();
        for one in 0..self.factors {
            for pair in (one + 1..self.factors).map(|other| (one, other)) {
                all.entry(differ(pair)).or_default().push(pair);
            }
        }
        let mut all: Vec<Vec<(usize, usize)>> = all.into_values().collect();
        all.sort();
        all
    }

    /// The weights of least noise that give this form of the effects whatever these are: w = X z with X'X z = form, where a
    /// row of X has 1 for each effect in its cell.
    fn weights(&self, form: impl Fn(u32) -> f64) -> Option<Vec<f64>> {
        let is_in = |effect: u32, cell: u32| effect & cell == effect;
        let mut system: Vec<Vec<f64>> = Vec::new();
        for row in &self.effects {
            let together = |column: &u32| {
                self.cells
                    .iter()
                    .filter(|cell| is_in(row | column, **cell))
                    .count()
            };
            #[expect(clippy::cast_precision_loss, reason = "a number of cells")]
            let mut equation: Vec<f64> = self
                .effects
                .iter()
                .map(|column| together(column) as f64)
                .collect();
            equation.push(form(*row));
            system.push(equation);
        }
        let solved = solve(system)?;
        let of_cell = |cell: &u32| {
            let effects = self.effects.iter().zip(&solved);
            effects
                .filter(|(effect, _)| is_in(**effect, *cell))
                .map(|(_, z)| z)
                .sum()
        };
        Some(self.cells.iter().map(of_cell).collect())
    }

    /// Number of its factors.
    pub fn factors(&self) -> usize {
        self.factors
    }

    /// Its cells, in the order of the weights.
    pub fn cells(&self) -> &[u32] {
        &self.cells
    }

    /// The cell with all factors on.
    pub fn all_on(&self) -> u32 {
        (1 << self.factors) - 1
    }
}

/// The part of an effect in what these factors do together, as the mean over all states of the others.
fn averaged(effect: u32, factors: u32) -> f64 {
    if effect & factors == factors {
        1.0 / f64::from(1_u32 << (effect ^ factors).count_ones())
    } else {
        0.0
    }
}

/// One solution of equations of which each is its coefficients and its right side, by elimination; `None` if there is none.
/// Variables that stay free are 0.
fn solve(mut system: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    /// What is left of whole numbers of cells below this is rounding.
    const ROUNDING: f64 = 1e-9;
    let variables = system.first().map_or(0, |equation| equation.len() - 1);
    let mut pivots = Vec::new();
    for column in 0..variables {
        let rest = pivots.len()..system.len();
        let by_size = |a: &usize, b: &usize| system[*a][column].abs().total_cmp(&system[*b][column].abs());
        let Some(best) = rest
            .max_by(by_size)
            .filter(|row| system[*row][column].abs() > ROUNDING)
        else {
            continue;
        };
        let row = pivots.len();
        system.swap(row, best);
        let pivot = system[row].clone();
        for (i, equation) in system.iter_mut().enumerate() {
            let factor = equation[column] / pivot[column];
            if i != row && factor != 0.0 {
                equation
                    .iter_mut()
                    .zip(&pivot)
                    .for_each(|(x, p)| *x -= factor * p);
            }
        }
        pivots.push(column);
    }
    let mut left = system[pivots.len()..].iter().map(|equation| equation[variables]);
    if left.any(|right| right.abs() > ROUNDING) {
        return None;
    }
    let mut solved = vec![0.0; variables];
    for (equation, column) in system.iter().zip(&pivots) {
        solved[*column] = equation[variables] / equation[*column];
    }
    Some(solved)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a set of factors does by these effects of subsets.
    fn done(set: u32, effects: &[(u32, f64)]) -> f64 {
        let part = effects.iter().filter(|(subset, _)| subset & set == *subset);
        part.map(|(_, effect)| effect).sum()
    }

    fn told(weights: &[f64], cells: &[u32], effects: &[(u32, f64)]) -> f64 {
        weights
            .iter()
            .zip(cells)
            .map(|(w, cell)| w * done(*cell, effects))
            .sum()
    }

    fn value(design: &Design, factor: usize, effects: &[(u32, f64)]) -> f64 {
        told(&design.value(factor).unwrap(), &design.cells, effects)
    }

    #[test]
    fn a_value_is_the_mean_over_all_orders() {
        // By hand: three factors, one effect of all three, of which each has a third.
        let effects = [
            (0, 0.04),
            (0b001, 0.15),
            (0b010, 0.06),
            (0b011, 0.02),
            (0b111, 0.03),
        ];
        let design = Design::of(3, &Design::cells_for(3)).unwrap();
        for (factor, expected) in [(0, 0.15 + 0.01 + 0.01), (1, 0.06 + 0.01 + 0.01), (2, 0.01)] {
            assert!(
                (value(&design, factor, &effects) - expected).abs() < 1e-12,
                "{factor}"
            );
        }
        let together = told(&design.interaction(0, 1).unwrap(), &design.cells, &effects);
        assert!((together - (0.02 + 0.03 / 2.0)).abs() < 1e-12, "{together}");
    }

    #[test]
    fn values_add_up_to_the_gap_in_every_design() {
        let effects = [
            (0, 0.04),
            (0b1, 0.15),
            (0b10, 0.06),
            (0b11, 0.02),
            (0b110, -0.03),
            (0b1000, 0.01),
        ];
        for factors in 4..=6 {
            let cells = Design::cells_for(factors);
            let design = Design::of(factors, &cells).unwrap();
            let sum: f64 = (0..factors).map(|factor| value(&design, factor, &effects)).sum();
            let gap = done(u32::MAX, &effects) - done(0, &effects);
            assert!((sum - gap).abs() < 1e-12, "{factors}: {sum} {gap}");
            assert!(
                (value(&design, 1, &effects) - (0.06 + 0.01 - 0.015)).abs() < 1e-12,
                "{factors}"
            );
        }
    }

    #[test]
    fn a_half_tells_values_with_less_noise_than_single_cells_but_no_pairs() {
        let design = Design::of(4, &Design::cells_for(4)).unwrap();
        for factor in 0..4 {
            let error: f64 = design.value(factor).unwrap().iter().map(|w| w * w).sum();
            assert!((error.sqrt() - 0.5_f64.sqrt()).abs() < 1e-9, "{error}");
        }
        assert_eq!(design.interaction(0, 1), None);
    }

    #[test]
    fn a_fraction_tells_each_factor_and_sums_of_pairs() {
        let effects = [
            (0, 0.5),
            (0b1, 0.15),
            (0b10, 0.06),
            (0b11, 0.02),
            (0b110, -0.03),
            (0b100_0000, 0.01),
        ];
        for factors in 4..=8 {
            let cells = Design::fraction(factors);
            let design = Design::of(factors, &cells).unwrap();
            let told = |weights: Option<Vec<f64>>| told(&weights.unwrap(), &cells, &effects);
            assert!(
                (told(design.effect(1)) - (0.06 + 0.01 - 0.015)).abs() < 1e-9,
                "{factors}"
            );
            // Each side of a factor has half of the cells.
            let n = 2.0 / cells.len() as f64;
            assert!(
                design
                    .effect(factors - 1)
                    .unwrap()
                    .iter()
                    .all(|w| (w.abs() - n).abs() < 1e-9)
            );
            let aliases = design.aliases();
            assert_eq!(
                aliases.iter().map(Vec::len).sum::<usize>(),
                factors * (factors - 1) / 2
            );
            let of_both = aliases.iter().find(|pairs| pairs.contains(&(0, 1))).unwrap();
            assert!((told(design.together(of_both)) - 0.02).abs() < 1e-9, "{factors}");
        }
        // Seven of three: the table of Box, Hunter and Hunter.
        let seven = Design::of(7, &Design::fraction(7)).unwrap().aliases();
        assert_eq!(
            (seven.len(), seven.iter().all(|pairs| pairs.len() == 3)),
            (7, true)
        );
        assert!(
            Design::of(3, &Design::fraction(3))
                .unwrap()
                .aliases()
                .iter()
                .all(|pairs| pairs.len() == 1)
        );
        assert_eq!(Design::fraction(0), [0]);
    }

    #[test]
    fn a_design_that_does_not_tell_a_factor_says_so() {
        // Two factors that are always on together.
        let design = Design::of(2, &[0b00, 0b11]).unwrap();
        assert_eq!((design.value(0), design.value(1)), (None, None));
        // Their sum is told where one of them is.
        let design = Design::of(3, &[0b000, 0b001, 0b111, 0b110]).unwrap();
        assert!(design.value(0).is_some() && design.value(1).is_none());
    }

    #[test]
    fn what_is_no_design_is_refused() {
        for cells in [
            &[0b01, 0b11][..],
            &[0b00, 0b01],
            &[0b00, 0b11, 0b11],
            &[0b00, 0b11, 0b100],
            &[],
        ] {
            assert_eq!(Design::of(2, cells), None, "{cells:?}");
        }
        assert_eq!(Design::of(0, &[0]), None);
        assert_eq!(Design::of(9, &Design::cells_for(9)), None);
    }
}
