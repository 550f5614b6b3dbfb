//! Where the four loops are when they go through the arrays a slice at a time.
//!
//! Would they follow one another over the same pages within a slice, caches would
//! hold them. So each loop goes round the pages on its own, a quarter of them apart,
//! and all at one pace: a page is met by all four in the order of STREAM, with a
//! quarter of the arrays' traffic between one loop and the next.

use super::loops::Loop;

/// The pages of one thread's part.
#[derive(Debug, Clone, Copy)]
pub struct Track {
    /// At least 1.
    pub pages: usize,
}

impl Track {
    /// The page at which a loop begins: the last of a pass at the front, the first of
    /// it farthest ahead.
    pub fn first(self, which: Loop) -> usize {
        (Loop::Triad as usize - which as usize) * self.pages / 4
    }

    /// The page at which a loop is after so many units.
    pub fn place(self, which: Loop, units: u64) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "less than `pages`")]
        let gone = (units % self.pages as u64) as usize;
        (self.first(which) + gone) % self.pages
    }

    /// Units that every loop can do at once without any running into the one ahead.
    pub fn stride(self) -> usize {
        (self.pages / 4).max(1)
    }

    /// Loops of a pass that must be behind a page so that whichever loop meets it first
    /// is its turn.
    pub fn loops_before(self, page: usize) -> usize {
        let met_by = |which: &Loop| page >= self.first(*which);
        Loop::ALL.iter().position(met_by).unwrap_or(0)
    }

    /// Loops that have met a page after so many units.
    pub fn loops_met(self, page: usize, units: u64) -> u64 {
        let pages = self.pages as u64;
        let met = |which: Loop| {
            let away = (page + self.pages - self.first(which)) % self.pages;
            units.saturating_sub(away as u64).div_ceil(pages)
        };
        Loop::ALL.into_iter().map(met).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goes round in stretches of odd lengths; the units in all and the loops that each
    /// page met, in their order.
    fn gone_round(track: Track, stretches: usize) -> (u64, Vec<Vec<Loop>>) {
        let mut met = vec![Vec::new(); track.pages];
        let mut units = 0;
        for stretch in 0..stretches {
            let pages = (stretch * 7 % track.stride() + 1) as u64;
            for which in Loop::ALL {
                let places = (units..units + pages).map(|unit| track.place(which, unit));
                places.for_each(|page| met[page].push(which));
            }
            units += pages;
        }
        (units, met)
    }

    #[test]
    fn every_page_meets_the_loops_in_the_order_of_a_pass() {
        for pages in 1..40 {
            let track = Track { pages };
            for (page, met) in gone_round(track, 50).1.into_iter().enumerate() {
                let right = Loop::ALL.into_iter().cycle().skip(track.loops_before(page));
                let right: Vec<_> = right.take(met.len()).collect();
                assert_eq!(met, right, "page {page} of {pages}");
            }
        }
    }

    #[test]
    fn the_loops_that_met_a_page_are_counted() {
        for pages in 1..20 {
            let track = Track { pages };
            for stretches in [0, 1, 2, 7, 30] {
                let (units, met) = gone_round(track, stretches);
                for (page, met) in met.into_iter().enumerate() {
                    assert_eq!(track.loops_met(page, units), met.len() as u64);
                }
            }
        }
    }

    #[test]
    fn the_loops_are_a_quarter_apart() {
        let track = Track { pages: 64 };
        assert_eq!(Loop::ALL.map(|which| track.first(which)), [48, 32, 16, 0]);
        assert_eq!(track.stride(), 16);
        assert_eq!([0, 16, 32, 48].map(|page| track.loops_before(page)), [3, 2, 1, 0]);
    }
}
