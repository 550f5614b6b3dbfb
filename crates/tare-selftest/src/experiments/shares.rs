//! The shares of mechanisms in a gap: how often their intervals cover the truth, and how often a
//! mechanism that adds nothing is named.

use crate::noise::{Noise, as_float};
use crate::simulate::Experiment;
use crate::sums::{Total, count};
use crate::table::{Claim, Row, Scale};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use tare_stats::{Added, Design, Gaps, Share};

const COVERAGE: &str = "Shares of mechanisms, where the gap is shown: coverage of 95 % intervals";
const NO_GAP: &str = "Mechanisms of a platform that costs what the baseline costs";
const ONLY_REST: &str = "Mechanisms that add nothing to a gap of 20 errors: any is named";
const FIRST: &str = "A mechanism that is all of the gap: it is named first";
const ANOTHER: &str = "A mechanism that is all of the gap: another is named";

/// The gap with all mechanisms on, over the baseline's cost.
const GAP: f64 = 0.1;
/// Draws over those asked for: a draw takes 60 us.
const SHARE: f64 = 0.1;

/// What sets of mechanisms add in terms of the gap, one bit per mechanism, and what that is called.
type Effects = (&'static [(u32, f64)], &'static str);
const NOTHING: Effects = (&[], "none");
const REST: Effects = (&[(0, 1.0)], "the rest is all");
const ONE: Effects = (&[(0b1, 1.0)], "one is all");
const TWO: Effects = (&[(0b1, 0.7), (0b10, 0.3)], "70 and 30 %");
const WITH_REST: Effects = (&[(0, 0.2), (0b1, 0.8)], "80 %, rest 20 %");
const TOGETHER: Effects = (
    &[(0b1, 0.4), (0b10, 0.3), (0b11, 0.3)],
    "40 and 30 %, both together 30 %",
);

/// Noise, blocks, and the gap in standard errors of a cell.
type Setting = (Noise, usize, f64);
const USUAL: Setting = (Noise::Normal, 10, 5.0);
const SETTINGS: [Setting; 4] = [
    USUAL,
    (Noise::Normal, 20, 20.0),
    (Noise::HeavyTailed(5), 10, 20.0),
    (Noise::HeavyTailed(5), 20, 5.0),
];
/// Designs that are full, half, and of both ends.
const MECHANISMS: [usize; 4] = [2, 3, 4, 5];

/// A platform with and without each of so many mechanisms.
#[derive(Clone, Copy)]
struct Platform {
    mechanisms: usize,
    effects: Effects,
    setting: Setting,
}

/// The cases.
pub fn all() -> Vec<Box<dyn Experiment>> {
    let mut cases: Vec<Box<dyn Experiment>> = Vec::new();
    // A Latin square: each two of mechanisms, effects and setting occur together once.
    for (i, effects) in [ONE, TWO, WITH_REST, TOGETHER].into_iter().enumerate() {
        for (j, mechanisms) in MECHANISMS.into_iter().enumerate() {
            cases.push(Box::new(Coverage(Platform {
                mechanisms,
                effects,
                setting: SETTINGS[(i + j) % SETTINGS.len()],
            })));
        }
    }
    let of_all = |effects, errors| {
        MECHANISMS.map(|mechanisms| Platform {
            mechanisms,
            effects,
            setting: (Noise::Normal, 10, errors),
        })
    };
    for effects in [NOTHING, REST] {
        let idle = of_all(effects, 20.0).map(Idle);
        cases.extend(idle.map(|case| Box::new(case) as Box<dyn Experiment>));
    }
    for errors in [3.0, 5.0] {
        let single = of_all(ONE, errors).map(Single);
        cases.extend(single.map(|case| Box::new(case) as Box<dyn Experiment>));
    }
    cases
}

impl Platform {
    /// What a cell costs more than the baseline in truth.
    fn gap_of(&self, cell: u32) -> f64 {
        let effects = self.effects.0.iter();
        let present = effects.filter(|(set, _)| set & cell == *set);
        GAP * present.map(|(_, share)| share).sum::<f64>()
    }

    /// The share of a mechanism: an equal part of each effect that it has part in.
    fn share_of(&self, mechanism: usize) -> f64 {
        let effects = self.effects.0.iter();
        let own = effects.filter(|(set, _)| set >> mechanism & 1 == 1);
        own.map(|(set, share)| share / f64::from(set.count_ones())).sum()
    }

    fn share_of_rest(&self) -> f64 {
        self.gap_of(0) / GAP
    }

    fn design(&self) -> Option<Design> {
        Design::of(self.mechanisms, &Design::cells_for(self.mechanisms))
    }

    /// Counts what one draw shows.
    fn draw(&self, rng: &mut ChaCha8Rng, count: impl FnOnce(&Gaps<'_>)) {
        let Some(design) = self.design() else { return };
        if let Some(gaps) = self.gaps(rng, &design) {
            count(&gaps);
        }
    }

    /// The gap of each cell in each block. A third of the variance is the cell's own; all cells share
    /// the baseline's noise, and what the block adds to each box. Noise multiplies costs and has
    /// mean 0: the true gap is the mean one.
    fn gaps<'a>(&self, rng: &mut ChaCha8Rng, design: &'a Design) -> Option<Gaps<'a>> {
        let (noise, blocks, _) = self.setting;
        let scale = self.scale();
        let mut series = || noise.series(rng, blocks);
        let (baseline, block) = (series(), series());
        let own: Vec<Vec<f64>> = design.cells().iter().map(|_| series()).collect();
        let in_block = |b: usize| {
            let gap = |(cell, own): (&u32, &Vec<f64>)| {
                let off = scale * (own[b] + block[b] - baseline[b]);
                (1.0 + self.gap_of(*cell)) * (1.0 + off) - 1.0
            };
            design.cells().iter().zip(&own).map(gap).collect()
        };
        Gaps::new(design, (0..blocks).map(in_block).collect(), 1.0)
    }

    /// By how much each of the three parts of noise is multiplied.
    fn scale(&self) -> f64 {
        let (noise, blocks, errors) = self.setting;
        let variance = match noise {
            Noise::HeavyTailed(freedom) => f64::from(freedom) / (f64::from(freedom) - 2.0),
            _ => 1.0,
        };
        GAP / errors * (as_float(blocks) / (3.0 * variance)).sqrt()
    }

    fn name(&self) -> String {
        format!("{} mechanisms", self.mechanisms)
    }
}

/// How often intervals cover, of one mechanism at random per draw.
struct Coverage(Platform);

impl Experiment for Coverage {
    fn share(&self) -> f64 {
        SHARE
    }

    fn sums(&self) -> usize {
        4
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let Self(platform) = self;
        let mechanism = rng.random_range(0..platform.mechanisms);
        platform.draw(rng, |gaps| {
            let shown = gaps
                .is_shown()
                .then(|| gaps.factors()[mechanism].zip(gaps.rest()));
            let Some((part, rest)) = shown.flatten() else {
                return;
            };
            let truth = platform.share_of(mechanism);
            let covers = |share: Option<Share>, truth| share.is_some_and(|of| of.interval.contains(truth));
            count(sums, 0, true);
            count(sums, 1, covers(part.share, truth));
            count(sums, 2, part.adds.interval.contains(GAP * truth));
            count(sums, 3, covers(rest.share, platform.share_of_rest()));
        });
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a number of draws"
        )]
        let shown = Total {
            draws: total.sums[0] as u32,
            sums: total.sums.clone(),
        };
        let promise = Some(Claim::promise(0.93, 0.97));
        let (noise, blocks, errors) = self.0.setting;
        let noise = if noise == Noise::Normal { "normal" } else { "t5" };
        let row = |(what, sum): (&str, usize)| {
            let effects = self.0.effects.1;
            let case = format!(
                "{}: {effects}, {noise}, {blocks} blocks, gap of {errors} errors: {what}",
                self.0.name()
            );
            Row::new(COVERAGE, case, Scale::Share, promise, shown.share(sum), &shown)
        };
        [("share", 1), ("adds", 2), ("share of the rest", 3)]
            .map(row)
            .into()
    }
}

/// Mechanisms that add nothing.
struct Idle(Platform);

impl Experiment for Idle {
    fn share(&self) -> f64 {
        SHARE
    }

    fn sums(&self) -> usize {
        2
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        self.0.draw(rng, |gaps| {
            count(sums, 0, gaps.is_shown());
            count(sums, 1, gaps.factors().iter().flatten().any(Added::has_part));
        });
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let promise = Some(Claim::promise(0.0, 0.05));
        let row = |group, what: &str, sum| {
            let case = format!("{}{what}", self.0.name());
            Row::new(group, case, Scale::Share, promise, total.share(sum), total)
        };
        if self.0.gap_of(0) > 0.0 {
            return vec![row(ONLY_REST, "", 1)];
        }
        vec![
            row(NO_GAP, ": shares are printed", 0),
            row(NO_GAP, ": any is named", 1),
        ]
    }
}

/// The first mechanism is all of the gap.
struct Single(Platform);

impl Experiment for Single {
    fn share(&self) -> f64 {
        SHARE
    }

    fn sums(&self) -> usize {
        2
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        self.0.draw(rng, |gaps| {
            let factors = gaps.factors().into_iter().enumerate();
            let named = |(i, added): (usize, Option<Added>)| Some((i, added.filter(Added::has_part)?));
            let named: Vec<(usize, Added)> = factors.filter_map(named).collect();
            let size = |(_, added): &&(usize, Added)| added.adds.mean.abs();
            let first = named.iter().max_by(|a, b| size(a).total_cmp(&size(b)));
            count(sums, 0, first.is_some_and(|(i, _)| *i == 0));
            count(sums, 1, named.iter().any(|(i, _)| *i != 0));
        });
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let row = |group, claim, sum| {
            let (_, _, errors) = self.0.setting;
            let case = format!("{}, gap of {errors} errors", self.0.name());
            Row::new(group, case, Scale::Share, Some(claim), total.share(sum), total)
        };
        vec![
            row(FIRST, Claim::promise(0.95, 1.0), 0),
            row(ANOTHER, Claim::promise(0.0, 0.05), 1),
        ]
    }
}
