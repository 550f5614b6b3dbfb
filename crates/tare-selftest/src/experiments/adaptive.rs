//! Adaptive stopping: what it covers, and how often it errs.

use super::{half_width, margin, percent};
use crate::noise::normal;
use crate::simulate::Experiment;
use crate::sums::{Total, count};
use crate::table::{Claim, Row, Scale};
use rand_chacha::ChaCha8Rng;
use tare_stats::{Aim, LEVEL, LOOKS, Looks, Question, decide, infer, look, t_estimate};

const COVERAGE: &str = "Coverage of the interval reported after looks, labelled 95 %";
const ERRORS: &str = "False verdicts after looks, margin 1 %";
const NAIVE: &str = "Beside it: stopping as soon as a 95 % interval pleases";

/// Standard deviations of d.
const SPREADS: [f64; 4] = [0.003, 0.01, 0.02, 0.06];
/// True effects, as ratios less 1; 0 and the margin are among them.
const EFFECTS: [f64; 6] = [0.0, 0.01, 0.015, 0.02, 0.05, 0.2];

/// A comparison that is looked at until it is settled.
struct Adaptive {
    /// d in truth.
    truth: f64,
    effect: f64,
    spread: f64,
}

/// The cases.
pub fn all() -> Vec<Box<dyn Experiment>> {
    let mut cases: Vec<Box<dyn Experiment>> = Vec::new();
    for effect in EFFECTS {
        for spread in SPREADS {
            cases.push(Box::new(Adaptive {
                truth: f64::ln_1p(effect),
                effect,
                spread,
            }));
        }
    }
    for every_block in [false, true] {
        cases.push(Box::new(Naive {
            truth: 0.0,
            every_block,
        }));
        cases.push(Box::new(Naive {
            truth: margin(),
            every_block,
        }));
    }
    cases
}

/// d of a comparison up to the look at which it was settled, or to the last.
pub(super) fn until_settled(d: &[f64]) -> &[f64] {
    let seen = |blocks: &u32| &d[..*blocks as usize];
    let aim = Aim {
        half_width: half_width(),
        margin: Some(margin()),
    };
    let settled = |d: &&[f64]| look(d, 0.0, aim).is_some_and(|look| look.judgement.is_settled());
    LOOKS.iter().map(seen).find(settled).unwrap_or(d)
}

/// What is asked of a comparison that was looked at. The bootstrap is left out:
/// where the noise is normal it moves an end once in some hundred series.
pub(super) fn looked_at() -> Question {
    Question {
        looks: Looks::Allowed,
        margin: None,
        check: None,
    }
}

impl Experiment for Adaptive {
    fn sums(&self) -> usize {
        4
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let d: Vec<f64> = (0..60).map(|_| self.truth + self.spread * normal(rng)).collect();
        let Some(found) = infer(until_settled(&d), looked_at()) else {
            return;
        };
        let row = decide(found.interval, found.p_t.unwrap_or(1.0), margin());
        count(sums, 0, found.interval.contains(self.truth));
        count(sums, 1, (2..=4).contains(&row.number()));
        count(sums, 2, row.beyond_margin());
        count(sums, 3, row.number() == 1);
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let case = format!("effect {}, sd {}", percent(self.effect), percent(self.spread));
        let row = |group, what: &str, claim, sum| {
            let case = format!("{case}{what}");
            Row::new(group, case, Scale::Share, Some(claim), total.share(sum), total)
        };
        let worst = (self.effect, self.spread) == (0.015, 0.02);
        let coverage = if worst {
            Claim::told(0.94)
        } else {
            Claim::promise(0.94, 0.965)
        };
        let mut rows = vec![row(COVERAGE, "", coverage, 0)];
        if self.effect == 0.0 {
            // Where d spreads by six margins, a mean beyond the margin is nothing rare.
            let most = if self.spread > 0.05 { 0.003 } else { 0.001 };
            rows.push(row(ERRORS, ": differs", Claim::promise(0.0, 0.04), 1));
            rows.push(row(ERRORS, ": beyond the margin", Claim::promise(0.0, most), 2));
        }
        if self.effect == 0.01 {
            rows.push(row(ERRORS, ": beyond the margin", Claim::promise(0.0, 0.026), 2));
            rows.push(row(ERRORS, ": equal", Claim::promise(0.0, 0.024), 3));
        }
        rows
    }
}

/// What users do: look at a 95 % interval, and stop when it shows something.
struct Naive {
    truth: f64,
    /// Look after every block from 10 on, not only at the looks of the method.
    every_block: bool,
}

impl Experiment for Naive {
    fn sums(&self) -> usize {
        1
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let d: Vec<f64> = (0..60).map(|_| self.truth + 0.02 * normal(rng)).collect();
        let shows = |blocks: usize| {
            t_estimate(&d[..blocks], LEVEL, 1.0).is_some_and(|t| {
                if self.truth == 0.0 {
                    !t.interval.contains(0.0)
                } else {
                    t.interval.low >= margin()
                }
            })
        };
        let shown = if self.every_block {
            (10..=60).any(shows)
        } else {
            LOOKS.iter().any(|look| shows(*look as usize))
        };
        count(sums, 0, shown);
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let looks = if self.every_block {
            "after every block"
        } else {
            "at the 8 looks"
        };
        let (what, claim) = match (self.truth == 0.0, self.every_block) {
            (true, false) => ("false difference", Claim::told(0.17)),
            (true, true) => ("false difference", Claim::told(0.24)),
            (false, false) => ("false beyond the margin", Claim::told(0.09)),
            (false, true) => ("false beyond the margin", Claim::told(0.12)),
        };
        let case = format!("{what}, {looks}");
        vec![Row::new(
            NAIVE,
            case,
            Scale::Share,
            Some(claim),
            total.share(0),
            total,
        )]
    }
}
