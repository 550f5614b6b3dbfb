//! What each factor of a design adds to the gap of a cell, and its share of that gap.

use crate::{Design, LEVEL, Share, TEstimate, holm, share, t_estimate};

/// The gaps of the cells of a design, in the blocks that have all of them.
#[derive(Debug, Clone)]
pub struct Gaps<'a> {
    design: &'a Design,
    /// By block, of each cell in the order of the design.
    by_block: Vec<Vec<f64>>,
    /// The gaps with all factors on.
    whole: Vec<f64>,
    /// By how much autocorrelation widens the interval of the gap, and so all others.
    widening: f64,
    is_shown: bool,
}

/// What something adds to a gap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Added {
    pub adds: TEstimate,
    /// Absent unless the gap is shown.
    pub share: Option<Share>,
    /// What the cell with all factors on saves of its whole cost, which is 1 more than the gap, without this: by the cell that
    /// lacks this factor alone, and where the design has none, as the mean over all orders.
    pub saves: Option<Share>,
    /// Two-sided p value of adding nothing; that of a factor is corrected for all factors (Holm).
    p: f64,
}

impl Added {
    /// Whether it is shown to add something, or to take something off.
    pub fn has_part(&self) -> bool {
        self.p < 1.0 - LEVEL
    }
}

impl<'a> Gaps<'a> {
    /// `None` if a block does not have one gap for each cell.
    pub fn new(design: &'a Design, by_block: Vec<Vec<f64>>, widening: f64) -> Option<Self> {
        let is_complete = by_block.iter().all(|block| block.len() == design.cells().len());
        let whole = is_complete.then(|| of_set(design, &by_block, design.all_on()))?;
        let is_shown = t_estimate(&whole, LEVEL, widening).is_some_and(|gap| !gap.interval.contains(0.0));
        Some(Self {
            design,
            by_block,
            whole,
            widening,
            is_shown,
        })
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.by_block.len()
    }

    /// The gap with all factors on; `None` in under two blocks.
    pub fn gap(&self) -> Option<TEstimate> {
        self.estimate(&self.whole)
    }

    /// Whether the interval of the gap excludes 0: only then there are shares of it.
    pub fn is_shown(&self) -> bool {
        self.is_shown
    }

    /// The gap of each cell, in the order of the design.
    pub fn cells(&self) -> impl Iterator<Item = Option<TEstimate>> {
        let gaps = |place| self.estimate(&of_cell(&self.by_block, place));
        (0..self.design.cells().len()).map(gaps)
    }

    /// What each factor adds: its Shapley value. `None` if the design does not separate it from others.
    pub fn factors(&self) -> Vec<Option<Added>> {
        let factor = |factor| {
            let part = self.weighted(&self.design.value(factor)?);
            let without = of_set(self.design, &self.by_block, self.design.all_on() & !(1 << factor));
            let saved: Vec<f64> = self
                .whole
                .iter()
                .zip(&without)
                .map(|(with, without)| with - without)
                .collect();
            self.added(&part, if saved.is_empty() { &part } else { &saved })
        };
        let factors: Vec<Option<Added>> = (0..self.design.factors()).map(factor).collect();
        let p_values: Vec<Option<f64>> = factors.iter().map(|of| of.map(|added| added.p)).collect();
        let corrected = factors.into_iter().zip(holm(&p_values));
        corrected
            .map(|(added, p)| added.zip(p).map(|(added, p)| Added { p, ..added }))
            .collect()
    }

    /// What is left with all factors off.
    pub fn rest(&self) -> Option<Added> {
        let rest = of_set(self.design, &self.by_block, 0);
        self.added(&rest, &rest)
    }

    /// What two factors add together beyond the sum of each. `None` if the design does not show it.
    pub fn interaction(&self, one: usize, other: usize) -> Option<TEstimate> {
        let weights = self.design.interaction(one, other)?;
        self.estimate(&self.weighted(&weights))
    }

    fn estimate(&self, values: &[f64]) -> Option<TEstimate> {
        t_estimate(values, LEVEL, self.widening)
    }

    fn added(&self, part: &[f64], saved: &[f64]) -> Option<Added> {
        let adds = self.estimate(part)?;
        let of = |part: &[f64], whole: &[f64]| share(part, whole, LEVEL, self.widening);
        let costs: Vec<f64> = self.whole.iter().map(|gap| 1.0 + gap).collect();
        Some(Added {
            adds,
            share: self.is_shown.then(|| of(part, &self.whole)).flatten(),
            saves: of(saved, &costs),
            p: adds.p_zero()?,
        })
    }

    /// Block by block, the sum of the gaps with these weights.
    fn weighted(&self, weights: &[f64]) -> Vec<f64> {
        let sum = |block: &Vec<f64>| block.iter().zip(weights).map(|(gap, weight)| gap * weight).sum();
        self.by_block.iter().map(sum).collect()
    }
}

/// Block by block, the gap of the cell with this set of factors on.
fn of_set(design: &Design, by_block: &[Vec<f64>], set: u32) -> Vec<f64> {
    let place = design.cells().iter().position(|cell| *cell == set);
    place.map_or(Vec::new(), |place| of_cell(by_block, place))
}

fn of_cell(by_block: &[Vec<f64>], place: usize) -> Vec<f64> {
    by_block.iter().map(|block| block[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six blocks of two factors that add 0.2 and 0.05 to a rest of 0.1, with noise of each cell.
    fn blocks() -> Vec<Vec<f64>> {
        let off = |block: u32, cell: u32| 0.01 * (f64::from((block * 5 + cell * 3) % 7) - 3.0);
        let gap = |block, cell: u32| {
            0.1 + 0.2 * f64::from(cell & 1) + 0.05 * f64::from(cell >> 1) + off(block, cell)
        };
        (0..6)
            .map(|block| (0..4).map(|cell| gap(block, cell)).collect())
            .collect()
    }

    fn added(gaps: &Gaps<'_>) -> Vec<Added> {
        let factors = gaps.factors().into_iter().chain([gaps.rest()]);
        factors.map(|added| added.unwrap()).collect()
    }

    #[test]
    fn parts_add_up_to_the_gap_and_shares_to_one() {
        let design = Design::of(2, &[0, 1, 2, 3]).unwrap();
        let gaps = Gaps::new(&design, blocks(), 1.0).unwrap();
        let parts = added(&gaps);
        let adds: f64 = parts.iter().map(|part| part.adds.mean).sum();
        let shares: f64 = parts.iter().map(|part| part.share.unwrap().share).sum();
        assert!((adds - gaps.gap().unwrap().mean).abs() < 1e-12, "{adds}");
        assert!((shares - 1.0).abs() < 1e-12, "{shares}");
        let costs: Vec<f64> = gaps.cells().map(|cost| cost.unwrap().mean).collect();
        let together = costs[3] - costs[2] - costs[1] + costs[0];
        assert!((gaps.interaction(0, 1).unwrap().mean - together).abs() < 1e-12);
    }

    #[test]
    fn without_a_gap_there_are_no_shares_but_what_cancels_out_has_part() {
        let design = Design::of(2, &[0, 1, 2, 3]).unwrap();
        let mut blocks = blocks();
        // The whole is as often below the baseline as above.
        for (block, gap) in blocks.iter_mut().zip([0.1, -0.1].into_iter().cycle()) {
            block[3] = gap;
        }
        let gaps = Gaps::new(&design, blocks, 1.0).unwrap();
        assert!(!gaps.is_shown());
        assert!(added(&gaps).iter().all(|part| part.share.is_none()));
        // The first adds 0.03 beside 0.05 of either sign; the second takes off what the rest adds.
        let has_part: Vec<bool> = added(&gaps).iter().map(Added::has_part).collect();
        assert_eq!(has_part, [false, true, true]);
    }

    #[test]
    fn a_factor_must_pass_holm_to_have_part() {
        // p in six blocks: 0.030 of t = 3.0, 0.021 of 3.3, 0.043 of 2.7. Twice the least must be under 0.05.
        let of = |t: [f64; 2]| {
            let design = Design::of(2, &[0, 1, 2, 3]).unwrap();
            // Six values of mean 0 whose standard error is 1.
            let unit = 5.0_f64.sqrt();
            let block = |sign: f64| {
                let [one, other] = t.map(|t| t + sign * unit);
                vec![1000.0, 1000.0 + one, 1000.0 + other, 1000.0 + one + other]
            };
            let gaps = Gaps::new(
                &design,
                [1.0, -1.0].repeat(3).into_iter().map(block).collect(),
                1.0,
            )
            .unwrap();
            let parts = gaps.factors().into_iter().map(|part| part.unwrap());
            parts
                .map(|part| (!part.adds.interval.contains(0.0), part.has_part()))
                .collect::<Vec<_>>()
        };
        assert_eq!(of([3.0, 3.3]), [(true, true), (true, true)]);
        assert_eq!(of([2.7, 0.0]), [(true, false), (false, false)]);
    }

    #[test]
    fn a_block_without_all_cells_is_refused() {
        let design = Design::of(2, &[0, 1, 2, 3]).unwrap();
        assert!(Gaps::new(&design, vec![vec![0.1; 3]], 1.0).is_none());
    }
}
